package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.Leaves;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What one role writes, another one may touch only behind something that stands between the two: a
 * pipe that the writer fills behind the write and the other reads before it, or a counter that is
 * signalled and awaited so, or a barrier object that one arrives at and the other waits for. This
 * is a matter of the text's order alone; whether it is enough in loops, the interpreter's race
 * checks say.
 */
final class SharingRules {
  /** An access: what its role passed on behind it, and what it waited for before it. */
  private record Access(Role role, Stmt where, boolean write, Set<Object> before, int position) {}

  private final Findings findings;

  SharingRules(Findings findings) {
    this.findings = findings;
  }

  void check(Stmt s) {
    if (s instanceof Stmt.Flow.Roles(List<Role> roles)) {
      shared(roles);
    }
    Stmts.children(s).forEach(this::check);
  }

  /** The walk through one role. */
  private static final class Walked {
    final Role role;
    final Map<Buffer, List<Access>> accesses = new LinkedHashMap<>();
    final Set<Buffer> own = new HashSet<>();
    final Set<Object> waited = new LinkedHashSet<>();

    /** What lets others go on, and the position of the last time. */
    final Map<Object, Integer> released = new LinkedHashMap<>();

    int position;

    Walked(Role role) {
      this.role = role;
      visit(role.body());
    }

    private void visit(Stmt s) {
      position++;
      switch (s) {
        case Stmt.Alloc alloc -> own.add(alloc.buffer());
        case Stmt.Flow.PipeScope pipe -> own.addAll(pipe.pipe().buffers());
        case Stmt.Flow.Produce p -> {
          own.addAll(p.pipe().buffers());
          waited.add(p.pipe());
        }
        case Stmt.Flow.Consume c -> {
          own.addAll(c.pipe().buffers());
          waited.add(c.pipe());
        }
        case Stmt.Flow.Await await -> waited.add(await.counter());
        case Stmt.Flow.Signal signal -> released.put(signal.counter(), position);
        default -> {}
      }
      if (!(s instanceof Stmt.Flow)) {
        Leaves leaves = Leaves.of(s);
        leaves.reads().forEach(buffer -> add(buffer, s, false));
        leaves.writes().forEach(buffer -> add(buffer, s, true));
      }
      Stmts.children(s).forEach(this::visit);
      position++;
      if (s instanceof Stmt.Evaluate(Expr.Call call)) {
        barriers(call);
      }
      if (s instanceof Stmt.Flow.Produce(Pipe pipe, Stmt body)) {
        released.put(pipe, position);
      } else if (s instanceof Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt body) && !peek) {
        released.put(pipe, position);
      }
    }

    /** Whoever does not wait for a barrier object arrives at it, or lets bytes arrive. */
    private void barriers(Expr.Call call) {
      for (Expr arg : call.args()) {
        if (arg instanceof Expr.AddressOf address && address.buffer().dtype() == DType.MBARRIER) {
          if (call.op().text().equals("mbarrier.wait")) {
            waited.add(address.buffer());
          } else {
            released.put(address.buffer(), position);
          }
        }
      }
    }

    private void add(Buffer buffer, Stmt where, boolean write) {
      if (buffer.dtype() == DType.MBARRIER) {
        return;
      }
      accesses
          .computeIfAbsent(buffer, b -> new ArrayList<>())
          .add(new Access(role, where, write, new HashSet<>(waited), position));
    }
  }

  private void shared(List<Role> roles) {
    List<Walked> walked = roles.stream().map(Walked::new).toList();
    Set<Buffer> own = new HashSet<>();
    walked.forEach(each -> own.addAll(each.own));
    for (Walked writer : walked) {
      for (Map.Entry<Buffer, List<Access>> entry : writer.accesses.entrySet()) {
        Buffer buffer = entry.getKey();
        if (own.contains(buffer)) {
          continue;
        }
        for (Access write : entry.getValue()) {
          if (write.write) {
            among(writer, buffer, write);
            walked.stream()
                .filter(other -> other != writer)
                .forEach(other -> between(writer, other, buffer, write));
          }
        }
      }
    }
  }

  /** Instances that write the same buffer of their block write over each other. */
  private void among(Walked writer, Buffer buffer, Access write) {
    if (writer.role.instances() > 1 && buffer.scope() != Scope.GLOBAL) {
      findings.add(
          Rule.ROLES,
          write.where,
          String.format(
              Locale.ROOT,
              "'%s' is written by all %d instances of role '%s'",
              buffer.name(),
              writer.role.instances(),
              writer.role.name()));
    }
  }

  private void between(Walked writer, Walked other, Buffer buffer, Access write) {
    for (Access access : other.accesses.getOrDefault(buffer, List.of())) {
      if (!passes(writer, write, access) && !passes(other, access, write)) {
        findings.add(
            Rule.ROLES,
            access.where,
            String.format(
                Locale.ROOT,
                "'%s' is written by role '%s' and %s by role '%s' with no pipe or signal in"
                    + " between",
                buffer.name(),
                writer.role.name(),
                access.write ? "written" : "read",
                other.role.name()));
        return;
      }
    }
  }

  /** Whether the first one lets something go behind its access that the second waits for. */
  private static boolean passes(Walked first, Access from, Access to) {
    return first.released.entrySet().stream()
        .anyMatch(r -> r.getValue() > from.position && to.before.contains(r.getKey()));
  }
}
