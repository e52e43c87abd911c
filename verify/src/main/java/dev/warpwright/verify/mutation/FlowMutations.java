package dev.warpwright.verify.mutation;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Mistakes with the pipes, roles and signals of tile programs. */
public final class FlowMutations {
  private FlowMutations() {}

  /** What is under way, and stages that are committed and released. */
  private static final List<FlowMutation> PIPES =
      List.of(
          FlowMutation.undefined(
              "stage committed early",
              options(p -> p.options().lag() > 0, o -> o.withLag(o.lag() - 1))),
          FlowMutation.undefined("copy under way for a stage more", FlowMutations::laterCopy),
          FlowMutation.undefined(
              "hold dropped", options(p -> p.options().hold() > 0, o -> o.withHold(0))),
          FlowMutation.undefined("mma under way for a stage more", FlowMutations::laterProduct),
          FlowMutation.undefined("ring too short for what is held", FlowMutations::tooShort),
          FlowMutation.undefined(
              "stage not filled",
              s ->
                  s instanceof Stmt.Flow.Produce p && !isEmpty(p.body())
                      ? List.of(new Stmt.Flow.Produce(p.pipe(), Stmt.Seq.EMPTY))
                      : List.of()),
          FlowMutation.undefined("one copy of a stage left out", FlowMutations::fewerCopies),
          FlowMutation.undefined(
              "produce left out",
              s -> s instanceof Stmt.Flow.Produce ? List.of(Stmt.Seq.EMPTY) : List.of()),
          FlowMutation.undefined(
              "produce twice",
              s -> s instanceof Stmt.Flow.Produce ? List.of(Stmts.seq(s, s)) : List.of()),
          FlowMutation.undefined(
              "consume left out",
              s ->
                  s instanceof Stmt.Flow.Consume c && !c.peek()
                      ? List.of(Stmt.Seq.EMPTY)
                      : List.of()),
          FlowMutation.undefined(
              "consume twice",
              s ->
                  s instanceof Stmt.Flow.Consume c && !c.peek()
                      ? List.of(Stmts.seq(s, s))
                      : List.of()),
          FlowMutation.undefined("stage kept that is to be given back", peek(false)),
          FlowMutation.undefined("stage given back that is to stay", peek(true)),
          FlowMutation.undefined("release ahead of the read", FlowMutations::readBehind),
          FlowMutation.undefined("read ahead of the wait", FlowMutations::readAhead),
          FlowMutation.undefined("copy ahead of the wait", FlowMutations::filledAhead),
          FlowMutation.undefined("copy behind the commit", FlowMutations::filledBehind),
          FlowMutation.undefined(
              "skip left out",
              s -> s instanceof Stmt.Flow.Skip ? List.of(Stmt.Seq.EMPTY) : List.of()),
          FlowMutation.undefined("skip of one more", skip(1)),
          FlowMutation.undefined("skip of one fewer", skip(-1)),
          // Of one instance that is the same.
          new FlowMutation(
              "stages of one instance read by all",
              false,
              func -> hasInstances(func) ? consumers(true) : s -> List.of()),
          FlowMutation.undefined("stages of all instances read by one", consumers(false)));

  /** Who does what, and how often. */
  private static final List<FlowMutation> ROLES =
      List.of(
          FlowMutation.undefined("stage filled by the wrong role", wrongRole(true)),
          FlowMutation.undefined("stage read by the wrong role", wrongRole(false)),
          FlowMutation.undefined("copies by the wrong role", FlowMutations::movedCopies),
          FlowMutation.undefined("one instance more", instances(1)),
          FlowMutation.undefined("one instance fewer", instances(-1)),
          // Where one loop fills and reads, both do as often.
          FlowMutation.wrong("one step more of a loop over stages", steps(1)),
          FlowMutation.wrong("one step fewer of a loop over stages", steps(-1)));

  /** Mistakes in programs with pipes, roles and signals. */
  public static final List<FlowMutation> ALL =
      Stream.of(PIPES, ROLES, SignalMutations.ALL).flatMap(List::stream).toList();

  /** Mistakes in programs behind the pass that makes barriers of pipes, as in kernels. */
  public static final List<FlowMutation> BARRIERS =
      Stream.of(BarrierMutations.ALL, PipelineMutations.ALL)
          .flatMap(List::stream)
          .map(FlowMutation::of)
          .toList();

  private static boolean hasInstances(PrimFunc func) {
    boolean[] found = {false};
    Walk.statements(
        func.body(),
        s ->
            found[0] |=
                s instanceof Stmt.Flow.Roles(List<Role> roles)
                    && roles.stream().anyMatch(role -> role.instances() > 1));
    return found[0];
  }

  private static boolean isEmpty(Stmt s) {
    return Stmts.seq(s) instanceof Stmt.Seq(List<Stmt> stmts) && stmts.isEmpty();
  }

  private static List<Stmt> flat(Stmt s) {
    return Stmts.seq(s) instanceof Stmt.Seq(List<Stmt> stmts) ? stmts : List.of(s);
  }

  /** The scope of a pipe that differs, wherever it is mentioned. */
  private static Stmt with(Stmt.Flow.PipeScope scope, Pipe other) {
    Stmt body =
        new Rewriter() {
          @Override
          protected Pipe pipe(Pipe pipe) {
            return pipe == scope.pipe() ? other : super.pipe(pipe);
          }
        }.stmt(scope.body());
    return new Stmt.Flow.PipeScope(other, body);
  }

  private static Function<Stmt, List<Stmt>> options(
      Predicate<Pipe> which, UnaryOperator<Pipe.Options> change) {
    return s ->
        s instanceof Stmt.Flow.PipeScope scope && which.test(scope.pipe())
            ? List.of(with(scope, scope.pipe().withOptions(change.apply(scope.pipe().options()))))
            : List.of();
  }

  private static Function<Stmt, List<Stmt>> consumers(boolean broadcast) {
    return options(
        p -> p.isBroadcast() != broadcast,
        o -> o.withConsumers(broadcast ? Pipe.Consumers.BROADCAST : Pipe.Consumers.EACH_ITS_OWN));
  }

  private static List<Stmt> tooShort(Stmt s) {
    if (!(s instanceof Stmt.Flow.PipeScope scope)) {
      return List.of();
    }
    Pipe p = scope.pipe();
    int held = p.options().hold() + p.options().lag();
    return held == 0
        ? List.of()
        : List.of(with(scope, new Pipe(p.name(), held, p.scope(), p.buffers(), p.options())));
  }

  private static @Nullable Attrs later(Attrs attrs) {
    return attrs.has("inflight") ? attrs.with("inflight", attrs.getLong("inflight", 0) + 1) : null;
  }

  private static List<Stmt> laterCopy(Stmt s) {
    Attrs attrs = s instanceof Stmt.TileCopy copy ? later(copy.attrs()) : null;
    return s instanceof Stmt.TileCopy copy && attrs != null
        ? List.of(new Stmt.TileCopy(copy.to(), copy.from(), attrs))
        : List.of();
  }

  private static List<Stmt> laterProduct(Stmt s) {
    Attrs attrs = s instanceof Stmt.TileMma mma ? later(mma.attrs()) : null;
    return s instanceof Stmt.TileMma m && attrs != null
        ? List.of(new Stmt.TileMma(m.c(), m.a(), m.b(), m.transposeA(), m.transposeB(), attrs))
        : List.of();
  }

  private static List<Stmt> fewerCopies(Stmt s) {
    if (!(s instanceof Stmt.Flow.Produce p) || flat(p.body()).size() < 2) {
      return List.of();
    }
    List<Stmt> variants = new ArrayList<>();
    for (int i = 0; i < flat(p.body()).size(); i++) {
      List<Stmt> fewer = new ArrayList<>(flat(p.body()));
      fewer.remove(i);
      variants.add(new Stmt.Flow.Produce(p.pipe(), Stmts.seq(fewer)));
    }
    return variants;
  }

  private static Function<Stmt, List<Stmt>> peek(boolean peeked) {
    return s ->
        s instanceof Stmt.Flow.Consume c && c.peek() == peeked && !isEmpty(c.body())
            ? List.of(new Stmt.Flow.Consume(c.pipe(), !peeked, c.body()))
            : List.of();
  }

  private static List<Stmt> readBehind(Stmt s) {
    if (!(s instanceof Stmt.Flow.Consume c) || isEmpty(c.body())) {
      return List.of();
    }
    List<Stmt> stmts = flat(c.body());
    int last = stmts.size() - 1;
    Stmt before = Stmts.seq(stmts.subList(0, last));
    return List.of(Stmts.seq(new Stmt.Flow.Consume(c.pipe(), c.peek(), before), stmts.get(last)));
  }

  private static List<Stmt> readAhead(Stmt s) {
    if (!(s instanceof Stmt.Flow.Consume c) || isEmpty(c.body())) {
      return List.of();
    }
    List<Stmt> stmts = flat(c.body());
    Stmt behind = Stmts.seq(stmts.subList(1, stmts.size()));
    return List.of(Stmts.seq(stmts.getFirst(), new Stmt.Flow.Consume(c.pipe(), c.peek(), behind)));
  }

  private static List<Stmt> filledAhead(Stmt s) {
    if (!(s instanceof Stmt.Flow.Produce p) || isEmpty(p.body())) {
      return List.of();
    }
    List<Stmt> stmts = flat(p.body());
    return List.of(
        Stmts.seq(
            stmts.getFirst(),
            new Stmt.Flow.Produce(p.pipe(), Stmts.seq(stmts.subList(1, stmts.size())))));
  }

  private static List<Stmt> filledBehind(Stmt s) {
    if (!(s instanceof Stmt.Flow.Produce p) || isEmpty(p.body())) {
      return List.of();
    }
    List<Stmt> stmts = flat(p.body());
    int last = stmts.size() - 1;
    return List.of(
        Stmts.seq(
            new Stmt.Flow.Produce(p.pipe(), Stmts.seq(stmts.subList(0, last))), stmts.get(last)));
  }

  private static Function<Stmt, List<Stmt>> skip(long more) {
    return s ->
        s instanceof Stmt.Flow.Skip skip
            ? List.of(new Stmt.Flow.Skip(skip.pipe(), Exprs.add(skip.count(), more)))
            : List.of();
  }

  /**
   * The first role of those that do so, and another one that begins with the same, doing nothing.
   */
  private static Function<Stmt, List<Stmt>> wrongRole(boolean produces) {
    return roles(
        (from, to) -> {
          Pipe pipe = pipe(from.body(), produces);
          if (pipe == null || pipe(to.body(), produces) == pipe) {
            return null;
          }
          Stmt own =
              produces
                  ? new Stmt.Flow.Produce(pipe, Stmt.Seq.EMPTY)
                  : new Stmt.Flow.Consume(pipe, false, Stmt.Seq.EMPTY);
          return List.of(from, to.withBody(Stmts.seq(own, to.body())));
        });
  }

  /** The copies of one role's stages are the other one's, ahead of its own work. */
  private static List<Stmt> movedCopies(Stmt s) {
    return roles(
            (from, to) -> {
              Stmt.Flow.Produce[] found = {null};
              Walk.statements(
                  from.body(),
                  each -> {
                    if (found[0] == null
                        && each instanceof Stmt.Flow.Produce p
                        && !isEmpty(p.body())) {
                      found[0] = p;
                    }
                  });
              if (found[0] == null || pipe(to.body(), false) != found[0].pipe()) {
                return null;
              }
              Stmt body = found[0].body();
              Pipe pipe = found[0].pipe();
              Stmt without =
                  new Rewriter() {
                    @Override
                    public Stmt stmt(Stmt inner) {
                      return inner == found[0]
                          ? new Stmt.Flow.Produce(pipe, Stmt.Seq.EMPTY)
                          : super.stmt(inner);
                    }
                  }.stmt(from.body());
              Stmt own =
                  new Rewriter() {
                    @Override
                    public Stmt stmt(Stmt inner) {
                      return inner instanceof Stmt.Flow.Consume c && c.pipe() == pipe
                          ? new Stmt.Flow.Consume(pipe, c.peek(), Stmts.seq(body, c.body()))
                          : super.stmt(inner);
                    }
                  }.stmt(to.body());
              return List.of(from.withBody(without), to.withBody(own));
            })
        .apply(s);
  }

  /** Two roles, one of which changes with the other; nothing where they do not fit. */
  private static Function<Stmt, List<Stmt>> roles(
      BiFunction<Role, Role, @Nullable List<Role>> change) {
    return s -> {
      List<Stmt> variants = new ArrayList<>();
      if (s instanceof Stmt.Flow.Roles(List<Role> roles)) {
        for (int i = 0; i < roles.size(); i++) {
          for (int j = 0; j < roles.size(); j++) {
            List<Role> two = i == j ? null : change.apply(roles.get(i), roles.get(j));
            if (two != null) {
              List<Role> changed = new ArrayList<>(roles);
              changed.set(i, two.get(0));
              changed.set(j, two.get(1));
              variants.add(new Stmt.Flow.Roles(changed));
            }
          }
        }
      }
      return variants;
    };
  }

  private static @Nullable Pipe pipe(Stmt body, boolean produces) {
    Pipe[] found = {null};
    Walk.statements(
        body,
        s -> {
          if (found[0] == null && produces && s instanceof Stmt.Flow.Produce p) {
            found[0] = p.pipe();
          }
          if (found[0] == null && !produces && s instanceof Stmt.Flow.Consume c) {
            found[0] = c.pipe();
          }
        });
    return found[0];
  }

  private static Function<Stmt, List<Stmt>> instances(int more) {
    return s -> {
      List<Stmt> variants = new ArrayList<>();
      if (s instanceof Stmt.Flow.Roles(List<Role> roles)) {
        for (int i = 0; i < roles.size(); i++) {
          Role r = roles.get(i);
          if (r.instances() + more > 0 && r.instances() > 1) {
            List<Role> changed = new ArrayList<>(roles);
            changed.set(
                i,
                new Role(
                    r.name(), r.instance(), r.instances() + more, r.warps(), r.attrs(), r.body()));
            variants.add(new Stmt.Flow.Roles(changed));
          }
        }
      }
      return variants;
    };
  }

  /** Loops in which stages are filled or read. */
  private static Function<Stmt, List<Stmt>> steps(long more) {
    return s -> {
      if (!(s instanceof Stmt.For f)) {
        return List.of();
      }
      boolean[] flows = {false};
      Walk.statements(
          f.body(),
          inner ->
              flows[0] |=
                  inner instanceof Stmt.Flow.Produce
                      || inner instanceof Stmt.Flow.Consume c && !c.peek());
      return flows[0] && f.axis() == null
          ? List.of(
              new Stmt.For(
                  f.var(),
                  f.min(),
                  Exprs.add(f.extent(), more),
                  f.kind(),
                  null,
                  f.attrs(),
                  f.body()))
          : List.of();
    };
  }
}
