package dev.warpwright.ir.verify;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Leaves;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Whoever waits for the launches before it, by {@code await previous} in a tile program or {@code
 * griddepcontrol.wait} in a kernel, may begin before they have ended. Then whatever depends on them
 * stands behind the wait: all that is written in global memory, counters included, and all that is
 * read there but the parameters that the attribute {@code constants} names, separated by spaces.
 * Each branch and each role waits for itself; a wait in a loop holds up to the loop's end, for the
 * loop may go round never.
 */
final class LaunchOrderRules {
  private final Stmt body;
  private final String wait;
  private final List<? extends Param> params;
  private final Set<String> constants;
  private final Object whole;
  private final Findings findings;
  private boolean behind;

  private LaunchOrderRules(
      Stmt body,
      String wait,
      List<? extends Param> params,
      Attrs attrs,
      Object whole,
      Findings findings) {
    this.body = body;
    this.wait = wait;
    this.params = params;
    this.constants = LaunchOrder.constants(attrs);
    this.whole = whole;
    this.findings = findings;
  }

  static void check(PrimFunc f, Findings findings) {
    new LaunchOrderRules(f.body(), "await previous", f.params(), f.attrs(), f, findings).check();
  }

  static void check(Kernel k, Findings findings) {
    new LaunchOrderRules(k.body(), "griddepcontrol.wait", k.params(), k.attrs(), k, findings)
        .check();
  }

  private void check() {
    if (!LaunchOrder.overlaps(body)) {
      return;
    }
    visit(body);
    Set<Buffer> written = new HashSet<>();
    Uses.of(body, new HashSet<>(), written);
    for (String name : constants) {
      Param param = params.stream().filter(p -> p.name().equals(name)).findFirst().orElse(null);
      if (!(param instanceof Buffer buffer)) {
        findings.add(
            Rule.SIGNALS, whole, "'constants' names '" + name + "', which is no buffer it takes");
      } else if (written.contains(buffer)) {
        findings.add(Rule.SIGNALS, whole, "'constants' names '" + name + "', which it writes");
      }
    }
  }

  private void visit(Stmt s) {
    switch (s) {
      case Stmt.Flow.Roles(List<Role> roles) ->
          behind = each(roles.stream().map(Role::body).toList());
      case Stmt.If(var condition, Stmt then, Stmt otherwise) when otherwise != null -> {
        leaf(s);
        behind = each(List.of(then, otherwise));
      }
      case Stmt.For _, Stmt.While _, Stmt.If _ -> {
        leaf(s);
        boolean before = behind;
        Stmts.children(s).forEach(this::visit);
        // Nothing says that it has happened.
        behind = before;
      }
      default -> {
        leaf(s);
        behind |= LaunchOrder.awaitsPrevious(s);
        Stmts.children(s).forEach(this::visit);
      }
    }
  }

  /** Goes through alternatives; tells whether all of them have waited behind themselves. */
  private boolean each(List<Stmt> alternatives) {
    boolean before = behind;
    boolean all = !alternatives.isEmpty();
    for (Stmt alternative : alternatives) {
      behind = before;
      visit(alternative);
      all &= behind;
    }
    return before || all;
  }

  private void leaf(Stmt s) {
    if (behind) {
      return;
    }
    Set<Buffer> reads = new LinkedHashSet<>();
    Set<Buffer> writes = new LinkedHashSet<>();
    Uses.ofIntrinsics(s, reads, writes);
    if (!(s instanceof Stmt.Evaluate)) {
      Leaves leaves = Leaves.of(s);
      reads.addAll(leaves.reads());
      writes.addAll(leaves.writes());
    }
    for (Buffer buffer : writes) {
      if (buffer.scope() == Scope.GLOBAL) {
        early(s, buffer, "written");
      }
    }
    for (Buffer buffer : reads) {
      if (buffer.scope() == Scope.GLOBAL
          && !writes.contains(buffer)
          && !constants.contains(buffer.name())) {
        early(s, buffer, "read");
      }
    }
  }

  private void early(Stmt s, Buffer buffer, String done) {
    findings.add(
        Rule.SIGNALS,
        s,
        String.format(
            Locale.ROOT,
            "'%s' may depend on the launch before, but is %s before '%s'",
            buffer.name(),
            done,
            wait));
  }
}
