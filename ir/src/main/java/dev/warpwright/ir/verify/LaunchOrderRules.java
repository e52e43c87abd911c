package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Walk;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A tile program that has an {@code await previous} may begin before the launches before it have
 * ended. Then whatever depends on them stands behind it: all that is written in global memory,
 * counters included, and all that is read there but the parameters that the function's attribute
 * {@code constants} names, separated by spaces.
 */
final class LaunchOrderRules {
  private final PrimFunc func;
  private final Findings findings;
  private final Set<String> constants = new HashSet<>();
  private boolean behind;

  LaunchOrderRules(PrimFunc func, Findings findings) {
    this.func = func;
    this.findings = findings;
    String names = func.attrs().getString("constants");
    if (names != null) {
      constants.addAll(List.of(names.trim().split(" +", -1)));
    }
  }

  void check() {
    boolean[] early = {false};
    Walk.statements(func.body(), s -> early[0] |= s instanceof Stmt.Flow.AwaitPrevious);
    if (early[0]) {
      visit(func.body());
    }
  }

  private void visit(Stmt s) {
    switch (s) {
      case Stmt.Flow.AwaitPrevious _ -> behind = true;
      case Stmt.Flow.Roles(List<Role> roles) -> {
        boolean before = behind;
        boolean all = true;
        for (Role role : roles) {
          behind = before;
          visit(role.body());
          all &= behind;
        }
        behind = before || (all && !roles.isEmpty());
        return;
      }
      case Stmt.For _, Stmt.While _, Stmt.If _ -> {
        leaf(s);
        boolean before = behind;
        for (Stmt child : Stmts.children(s)) {
          behind = before;
          visit(child);
        }
        // Nothing says that it has happened.
        behind = before;
        return;
      }
      default -> leaf(s);
    }
    Stmts.children(s).forEach(this::visit);
  }

  private void leaf(Stmt s) {
    if (behind) {
      return;
    }
    Leaves leaves = Leaves.of(s);
    for (Buffer buffer : leaves.writes()) {
      if (buffer.scope() == Scope.GLOBAL) {
        early(s, buffer, "written");
      }
    }
    for (Buffer buffer : leaves.reads()) {
      if (buffer.scope() == Scope.GLOBAL && !constants.contains(buffer.name())) {
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
            "'%s' may depend on the launch before, but is %s before 'await previous'",
            buffer.name(),
            done));
  }
}
