package dev.warpwright.sim.interpret;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.FlowSites;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.FlowClock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compiles pipes, roles and signals, and what is under way in them.
 *
 * <p>Alone a pipe is a queue. Roles are processes that take turns at pipes and signals (see {@link
 * RoleScheduler}). Where {@link Manner#late()} says so, a stage is committed as late as its pipe's
 * {@code lag} allows, and products and copies that are {@code inflight} for some stages happen only
 * when these have ended; behind the pass that makes barriers of pipes, products happen only when a
 * wait says so, or when somebody touches what they do.
 */
public final class FlowCompiler {
  /** The attribute of products and copies that are under way for so many more stages. */
  private static final String IN_FLIGHT = "inflight";

  private final StmtCompiler stmts;
  private final Manner manner;
  private final FlowSites sites;
  private final boolean defers;

  /** Products that are over when waits say so, and whether each ends its group. */
  private final Map<Stmt, Boolean> groups;

  private final Set<Buffer> stages = new HashSet<>();
  private final boolean roles;

  FlowCompiler(StmtCompiler stmts, Manner manner, Stmt body) {
    this.stmts = stmts;
    this.manner = manner;
    this.sites = FlowSites.of(body);
    boolean[] found = {false, false};
    Walk.statements(
        body,
        s -> {
          found[0] |= inFlight(s) > 0;
          found[1] |= s instanceof Stmt.Flow.Roles;
          if (s instanceof Stmt.Flow.PipeScope scope) {
            stages.addAll(scope.pipe().buffers());
          }
        });
    this.groups = manner.late() ? ProductGroups.of(body) : Map.of();
    this.defers = found[0] && manner.late() || !groups.isEmpty();
    this.roles = found[1];
  }

  /** Whether anything runs at once. */
  boolean hasRoles() {
    return roles;
  }

  /** The buffers that are counters: they start at 0. */
  public static Set<Buffer> counters(Stmt body) {
    Set<Buffer> found = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Flow.Signal signal) {
            found.add(signal.counter());
          } else if (s instanceof Stmt.Flow.Await await) {
            found.add(await.counter());
          }
        });
    return found;
  }

  private Context context() {
    return stmts.context();
  }

  private static int inFlight(Stmt s) {
    Attrs attrs =
        s instanceof Stmt.TileMma mma
            ? mma.attrs()
            : s instanceof Stmt.TileCopy copy ? copy.attrs() : Attrs.NONE;
    return (int) attrs.getLong(IN_FLIGHT, 0);
  }

  private static RoleProcess process(Frame f) {
    return (RoleProcess) Objects.requireNonNull(f.process);
  }

  /** A statement that may be under way, or may have to wait for what is. */
  Exec issued(Stmt s, Exec work) {
    if (!defers) {
      return work;
    }
    Leaves all = Leaves.of(s);
    Leaves touches = new Leaves(outside(all.reads()), outside(all.writes()));
    Boolean last = groups.get(s);
    if (last != null) {
      return f -> process(f).issueGroup(f, work, last, touches);
    }
    int more = inFlight(s);
    if (more > 0) {
      boolean product = s instanceof Stmt.TileMma;
      return f -> process(f).issue(f, work, product, more, touches);
    }
    return f -> {
      process(f).completeFor(f, touches);
      work.run(f);
    };
  }

  private Set<Buffer> outside(Set<Buffer> buffers) {
    Set<Buffer> result = new HashSet<>(buffers);
    result.removeAll(stages);
    return result;
  }

  Exec compile(Stmt.Flow s) {
    return switch (s) {
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) -> scope(s, pipe, stmts.compile(body));
      case Stmt.Flow.Produce(Pipe pipe, Stmt body) -> {
        Exec inside = stmts.compile(body);
        yield f -> process(f).pipe(pipe).produce(f, process(f), s, inside);
      }
      case Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt body) -> {
        Exec inside = stmts.compile(body);
        yield f -> process(f).pipe(pipe).consume(f, process(f), s, peek, inside);
      }
      case Stmt.Flow.Skip skip -> {
        LongExpr count = stmts.exprs(s).index(skip.count());
        boolean produces =
            sites.of(skip.pipe()).stream()
                .anyMatch(
                    site -> site.kind() == FlowSites.Kind.PRODUCE && site.role() == roleOf(skip));
        yield f -> {
          // Before it is another one's turn, what is under way is over, and its stages are free.
          PipeRun run = process(f).pipe(skip.pipe());
          process(f).drain(f, run);
          run.skip(process(f), produces, count.eval(f));
        };
      }
      case Stmt.Flow.Roles(List<Role> roles) -> roles(roles);
      case Stmt.Flow.Signal signal -> signal(signal);
      case Stmt.Flow.Await await -> await(await);
      case Stmt.Flow.Combine combine -> combine(combine);
      // Launches are executed one after the other.
      case Stmt.Flow.AwaitPrevious _, Stmt.Flow.SignalNext _ -> f -> {};
    };
  }

  /** Keeps the sums of a part until all have come, whichever block or instance they are of. */
  private Exec combine(Stmt.Flow.Combine s) {
    ExprCompiler exprs = stmts.exprs(s);
    LongExpr at = exprs.index(s.slot());
    LongExpr number = exprs.index(s.part());
    LongExpr parts = exprs.index(s.parts());
    int slot = context().symbols().slot(s.sums());
    DType dtype = context().stored(s.sums().dtype());
    Exec body = stmts.compile(s.body());
    return f -> {
      RoleProcess process = process(f);
      process.completeAll(f);
      int count = (int) parts.eval(f);
      if (count > 1) {
        long tile = at.eval(f);
        int part = (int) number.eval(f);
        List<byte[]> sums =
            process.shared.parts.computeIfAbsent(
                key(slot, tile), k -> new ArrayList<>(Collections.nCopies(count, null)));
        if (part < 0 || part >= sums.size() || sums.set(part, f.memory[slot].clone()) != null) {
          String what =
              "part " + part + " of tile " + tile + ", of " + count + " parts, came before";
          throw context().fault(Finding.Kind.PIPE, s, f, s.sums().name(), what);
        }
        if (sums.contains(null)) {
          return;
        }
        process.shared.parts.remove(key(slot, tile));
        add(dtype, sums, f.memory[slot]);
      }
      body.run(f);
    };
  }

  private static void add(DType dtype, List<byte[]> parts, byte[] to) {
    for (int i = 0; i < to.length; i += dtype.bytes()) {
      if (dtype.isFloat()) {
        double sum = 0;
        for (byte[] part : parts) {
          double all = sum + Bytes.real(dtype, part, i);
          Bytes.putReal(dtype, to, i, all);
          sum = Bytes.real(dtype, to, i);
        }
      } else {
        long sum = 0;
        for (byte[] part : parts) {
          sum += Bytes.integer(dtype, part, i);
        }
        Bytes.putInteger(dtype, to, i, sum);
      }
    }
  }

  private @Nullable Role roleOf(Stmt.Flow.Skip skip) {
    for (FlowSites.Site site : sites.of(skip.pipe())) {
      if (site.stmt() == skip) {
        return site.role();
      }
    }
    return null;
  }

  private Exec scope(Stmt where, Pipe pipe, Exec body) {
    pipe.buffers().forEach(buffer -> context().symbols().slot(buffer));
    int readers = sites.releases(pipe);
    return f -> {
      RoleProcess process = process(f);
      PipeRun run = new PipeRun(context(), pipe, readers, manner.late());
      process.pipes.put(pipe, run);
      body.run(f);
      process.drain(f, run);
      run.checkEmpty(f, where);
      process.pipes.remove(pipe);
    };
  }

  /** A role's body, and the slot of its instance's number. */
  private record Compiled(Role role, Exec body, int instance) {}

  private Exec roles(List<Role> roles) {
    List<Compiled> compiled =
        roles.stream()
            .map(
                role -> {
                  Var instance = role.instance();
                  int slot = instance == null ? -1 : context().symbols().slot(instance);
                  return new Compiled(role, stmts.compile(role.body()), slot);
                })
            .toList();
    int processes = roles.stream().mapToInt(Role::instances).sum();
    return f -> {
      RoleProcess outside = process(f);
      outside.drain(f, null);
      RoleScheduler scheduler = new RoleScheduler(context(), manner);
      int together = outside.shared.nextTogether();
      int number = 0;
      String[] names = new String[processes];
      for (Compiled each : compiled) {
        for (int i = 0; i < each.role.instances(); i++) {
          String name = each.role.name() + (each.role.instances() > 1 ? "[" + i + "]" : "");
          names[number] = name;
          FlowClock clock = new FlowClock(together, processes, number++);
          RoleProcess process = new RoleProcess(name, scheduler, clock, outside);
          Frame own = f.copyFor(process, context().symbols(), names);
          if (each.instance >= 0) {
            own.ints[each.instance] = i;
          }
          scheduler.add(
              process,
              () -> {
                each.body.run(own);
                process.drain(own, null);
              });
        }
      }
      scheduler.run(f);
      outside.pipes.values().forEach(PipeRun::settle);
    };
  }

  private static long key(int slot, long element) {
    return (long) slot << 40 | element;
  }

  private Exec signal(Stmt.Flow.Signal s) {
    ExprCompiler exprs = stmts.exprs(s);
    MemoryAccess access = new MemoryAccess(exprs, s.counter(), s.indices());
    LongExpr at = access.writeOffset();
    LongExpr by = exprs.integer(s.by());
    DType dtype = s.counter().dtype();
    int slot = access.slot();
    return f -> {
      RoleProcess process = process(f);
      process.completeAll(f);
      long element = at.eval(f);
      long added = by.eval(f);
      int offset = (int) element * dtype.bytes();
      if (added < 1) {
        throw context()
            .fault(
                Finding.Kind.PIPE,
                s,
                f,
                Source.element(s.counter(), new long[] {element}),
                "a counter grows, by " + added + " it does not");
      }
      long value = Bytes.integer(dtype, f.memory[slot], offset) + added;
      Bytes.putInteger(dtype, f.memory[slot], offset, value);
      process.shared.counters.merge(
          key(slot, element),
          process.clock.released(process.clock),
          (before, now) -> {
            now.join(before);
            return now;
          });
      process.pause(s);
    };
  }

  private Exec await(Stmt.Flow.Await s) {
    ExprCompiler exprs = stmts.exprs(s);
    MemoryAccess access = new MemoryAccess(exprs, s.counter(), s.indices());
    LongExpr at = access.writeOffset();
    LongExpr atLeast = exprs.integer(s.atLeast());
    DType dtype = s.counter().dtype();
    int slot = access.slot();
    return f -> {
      long element = at.eval(f);
      long value = atLeast.eval(f);
      byte[] memory = f.memory[slot];
      int offset = (int) element * dtype.bytes();
      process(f)
          .await(
              new RoleProcess.Wait(
                  s,
                  () -> Bytes.integer(dtype, memory, offset) >= value,
                  () ->
                      String.format(
                          Locale.ROOT,
                          "counter '%s' at %d to come to %d (it is %d)",
                          s.counter().name(),
                          element,
                          value,
                          Bytes.integer(dtype, memory, offset))),
              context(),
              f);
      FlowClock known = process(f).shared.counters.get(key(slot, element));
      if (known != null) {
        process(f).clock.join(known);
      }
    };
  }
}
