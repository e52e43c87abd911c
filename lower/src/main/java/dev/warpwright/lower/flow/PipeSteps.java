package dev.warpwright.lower.flow;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.RingCursor;
import dev.warpwright.lower.gpu.StagedStore;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.grid.FusedGemms;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.CountedLoops;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The part of {@link LowerPipes} that rewrites what one role does. */
final class PipeSteps {
  /** Of a loop over items that reads ahead: what is resident is waited for in front of it. */
  private static final String PREFETCH = "prefetch";

  private final @Nullable Role role;
  private final Stmt whole;
  private final Map<Pipe, LoweredPipe> pipes;
  private final Bounds bounds;
  private final Map<Pipe, StageNumbers> numbers = new IdentityHashMap<>();

  private final CountedLoops loops;

  private final Map<Pipe, RingCursor> cursors = new IdentityHashMap<>();

  private final HeldStages held;

  /** Resident pipes that nobody has to wait for. */
  private final Set<Pipe> arrived = Collections.newSetFromMap(new IdentityHashMap<>());

  /** Where a site is: the loops over items around it, and what must hold besides. */
  private record Site(List<Stmt.For> items, Set<Var> conditional) {
    Site in(Stmt.For f) {
      if (f.kind() != ForKind.PERSISTENT) {
        return this;
      }
      List<Stmt.For> more = new ArrayList<>(items);
      more.add(f);
      Set<Var> vars = new HashSet<>(conditional);
      vars.add(f.var());
      return new Site(more, vars);
    }

    Site in(Stmt.Let l) {
      if (!StageNumbers.mentions(l.value(), conditional)) {
        return this;
      }
      Set<Var> vars = new HashSet<>(conditional);
      vars.add(l.var());
      return new Site(items, vars);
    }

    /** Where not every item comes by. */
    Site sometimes() {
      return new Site(List.of(), conditional);
    }
  }

  PipeSteps(@Nullable Role role, Stmt whole, Map<Pipe, LoweredPipe> pipes, Bounds bounds) {
    this.role = role;
    this.pipes = pipes;
    this.loops = new CountedLoops(whole);
    this.whole = loops.counted();
    this.bounds = bounds;
    Walk.statements(
        this.whole,
        s -> {
          switch (s) {
            case Stmt.Flow.Produce p -> number(p.pipe(), true);
            case Stmt.Flow.Consume c -> number(c.pipe(), false);
            default -> {}
          }
        });
    held = HeldStages.of(this.whole, pipes, loops.before());
  }

  private void number(Pipe pipe, boolean produces) {
    LoweredPipe lowered = pipes.get(pipe);
    if (lowered == null || lowered.resident() || numbers.containsKey(pipe)) {
      return;
    }
    StageNumbers counted = StageNumbers.of(whole, pipe, produces, loops.before());
    numbers.put(pipe, counted);
    long total = counted.total(whole);
    boolean wraps = total < 0 || total > pipe.stages();
    if (produces && lowered.isByThreads()) {
      cursors.put(pipe, RingCursor.numbered(lowered.barriers()));
      return;
    }
    RingCursor cursor =
        !counted.known()
            ? RingCursor.counting(lowered.barriers())
            : RingCursor.of(lowered.barriers(), wraps && !counted.constant());
    cursors.put(pipe, cursor);
  }

  Stmt lowered() {
    return around(HeldStages.withoutDelay(stmt(whole, new Site(List.of(), Set.of()))));
  }

  /** Inside what the role allocates for all of its items. */
  private Stmt around(Stmt s) {
    if (s instanceof Stmt.Alloc(Buffer buffer, Stmt inner)) {
      return new Stmt.Alloc(buffer, around(inner));
    }
    Stmt body = s;
    for (RingCursor cursor : cursors.values()) {
      body = cursor.around(body);
    }
    return loops.around(body);
  }

  private Stmt stmt(Stmt s, Site site) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) ->
          Stmts.seq(stmts.stream().map(each -> stmt(each, site)).toList());
      case Stmt.For f -> loop(f, site);
      case Stmt.If(Expr condition, Stmt then, @Nullable Stmt otherwise) ->
          new Stmt.If(
              condition,
              stmt(then, site.sometimes()),
              otherwise == null ? null : stmt(otherwise, site.sometimes()));
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), stmt(l.body(), site.in(l)));
      case Stmt.Alloc a -> new Stmt.Alloc(a.buffer(), stmt(a.body(), site));
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) -> inRegisters(pipe, stmt(body, site));
      case Stmt.Flow.Produce produce -> produce(produce);
      case Stmt.Flow.Consume consume -> consume(consume, site);
      case Stmt.Flow.Combine c ->
          new Stmt.Flow.Combine(
              c.sums(), c.slot(), c.part(), c.parts(), c.attrs(), stmt(c.body(), site.sometimes()));
      case Stmt.While(Expr more, Stmt body) -> new Stmt.While(more, stmt(body, site.sometimes()));
      case Stmt.Flow.Signal _, Stmt.Flow.Await _ -> s;
      case Stmt.Flow.Skip _, Stmt.Flow.Roles _, Stmt.Block _ -> throw unknown(s);
      case Stmt.Flow.AwaitPrevious _, Stmt.Flow.SignalNext _ -> throw unknown(s);
      case Stmt.Store _, Stmt.Evaluate _, Stmt.Comment _ -> s;
      case Stmt.TileCopy _, Stmt.TileFill _, Stmt.TileMma _ -> s;
      case Stmt.TileMap _, Stmt.TileReduce _ -> s;
    };
  }

  private static LoweringException unknown(Stmt s) {
    return new LoweringException(
        s.getClass().getSimpleName() + " stands in a role; it is not lowered yet");
  }

  /** A pipe of one stage in registers is what it holds. */
  private static Stmt inRegisters(Pipe pipe, Stmt body) {
    if (pipe.scope() != Scope.LOCAL || pipe.stages() != 1) {
      throw new LoweringException(
          "pipe " + pipe.name() + " in a role is not one stage in registers");
    }
    Map<Buffer, Buffer> fragments = new IdentityHashMap<>();
    List<Buffer> held = new ArrayList<>();
    for (Buffer tile : pipe.buffers()) {
      Buffer fragment = tile.withScope(Scope.FRAGMENT);
      fragments.put(tile, fragment);
      held.add(fragment);
    }
    return Stmts.alloc(held, Substitution.ofBuffers(fragments).stmt(body));
  }

  private Stmt produce(Stmt.Flow.Produce produce) {
    Pipe pipe = produce.pipe();
    LoweredPipe lowered = pipes.get(pipe);
    if (lowered == null) {
      return produce.body();
    }
    if (lowered.resident()) {
      Stmt slices = TmaStages.slices(produce.body(), lowered);
      return role != null && CopyingThreads.are(role) ? LowerPipes.one(slices) : slices;
    }
    if (lowered.isByThreads()) {
      throw new LoweringException(
          "pipe " + pipe.name() + " is filled by threads, but not in a loop of its own");
    }
    return cursor(pipe)
        .step(
            at(produce),
            (parity, stage, last) -> {
              if (LoweredPipe.isOfScalars(pipe)) {
                return Stmts.seq(
                    lowered.barriers().waitEmpty(parity, stage),
                    LowerPipes.inRing(lowered, stage).stmt(produce.body()),
                    lowered.barriers().filled(stage));
              }
              List<Stmt.TileCopy> copies = new ArrayList<>();
              for (Stmt s : StageNumbers.flat(produce.body())) {
                if (!(s instanceof Stmt.TileCopy copy)) {
                  throw new LoweringException(
                      "pipe " + pipe.name() + " is filled by other than copies, one by one");
                }
                copies.add(copy);
              }
              return Stmts.seq(
                  lowered.barriers().waitEmpty(parity, stage),
                  TmaStages.fill(copies, lowered, stage));
            });
  }

  private RingCursor cursor(Pipe pipe) {
    RingCursor cursor = cursors.get(pipe);
    if (cursor == null) {
      throw new IllegalStateException("pipe " + pipe.name() + " has no cursor");
    }
    return cursor;
  }

  private Expr at(Stmt.Flow site) {
    Pipe pipe = site instanceof Stmt.Flow.Produce p ? p.pipe() : ((Stmt.Flow.Consume) site).pipe();
    return Objects.requireNonNull(numbers.get(pipe)).at(site);
  }

  private Stmt consume(Stmt.Flow.Consume consume, Site site) {
    LoweredPipe lowered = pipes.get(consume.pipe());
    if (lowered == null) {
      return stmt(consume.body(), site);
    }
    if (lowered.resident()) {
      return consume.peek() ? peek(consume, lowered, site) : end(lowered);
    }
    return step(consume, lowered, site, null);
  }

  /** All slices have come, whoever looked at them. */
  private static Stmt end(LoweredPipe lowered) {
    return LowerPipes.one(whole(lowered));
  }

  private static Stmt whole(LoweredPipe lowered) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "s",
        lowered.barriers().stages(),
        s -> lowered.barriers().waitFull(Exprs.i32(0), s));
  }

  /** All has come that a loop's items look at. */
  private Stmt arrived(Stmt.For items) {
    List<Stmt> waits = new ArrayList<>();
    Walk.statements(
        items.body(),
        s -> {
          if (s instanceof Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt _)
              && peek
              && pipes.get(pipe) instanceof LoweredPipe lowered
              && lowered.resident()
              && arrived.add(pipe)) {
            waits.add(whole(lowered));
          }
        });
    return Stmts.seq(waits);
  }

  /** Looks at slices, which are waited for in the first item. */
  private Stmt peek(Stmt.Flow.Consume consume, LoweredPipe lowered, Site site) {
    Set<Expr> slices = new LinkedHashSet<>();
    new Rewriter() {
      @Override
      public Region region(Region region) {
        if (lowered.ring(region.buffer()) != null) {
          if (!region.ranges().getFirst().isPoint()) {
            throw new LoweringException(
                "several slices of pipe " + lowered.pipe().name() + " are read at once");
          }
          slices.add(region.ranges().getFirst().min());
        }
        return super.region(region);
      }

      @Override
      public Expr expr(Expr e) {
        if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
            && lowered.ring(buffer) != null) {
          slices.add(indices.getFirst());
        }
        return super.expr(e);
      }
    }.stmt(consume.body());
    List<Stmt> waits = new ArrayList<>();
    Expr first = site.items().isEmpty() ? Exprs.bool(true) : firstItem(site);
    for (Expr slice : slices) {
      Stmt wait = lowered.barriers().waitFull(Exprs.i32(0), slice);
      if (arrived.contains(consume.pipe())) {
        break;
      }
      boolean same = !StageNumbers.mentions(slice, site.conditional());
      waits.add(same ? Stmts.when(first, wait) : wait);
    }
    Stmt body = stmt(consume.body(), site);
    return Stmts.seq(Stmts.seq(waits), LowerPipes.inRing(lowered, Exprs.i32(0)).stmt(body));
  }

  private static Expr firstItem(Site site) {
    Expr first = Exprs.bool(true);
    for (Stmt.For f : site.items()) {
      first = Exprs.and(first, Exprs.eq(f.var(), f.min()));
    }
    return first;
  }

  private static Expr laterItem(Site site) {
    Expr later = Exprs.bool(false);
    for (Stmt.For f : site.items()) {
      later = Exprs.fold(BinaryOp.OR, later, Exprs.lt(f.min(), f.var()));
    }
    return later;
  }

  /** The loop in whose steps products are under way beyond their own one. */
  private record Overlap(Stmt.For loop, int steps) {}

  private Stmt step(
      Stmt.Flow.Consume consume, LoweredPipe lowered, Site site, @Nullable Overlap overlap) {
    Stmt inner = consume.body();
    boolean nothing = StageNumbers.flat(inner).isEmpty();
    boolean products = products(inner);
    boolean others = reads(inner, lowered);
    boolean trails = held.isTrailing(consume.pipe());
    return cursor(consume.pipe())
        .step(
            at(consume),
            (parity, stage, last) -> {
              Stmt wait = lowered.barriers().waitFull(parity, stage);
              Expr later = trails ? held.isLater(consume, laterItem(site)) : Exprs.bool(true);
              if (nothing) {
                // What goes by is free at once, but where each site gives back the stage before,
                // this one gives back what is held, whose products end first.
                Expr free = trails ? last : stage;
                Expr empty = new Expr.AddressOf(lowered.barriers().empty(), List.of(free));
                Stmt arrive = Exprs.evaluate(HopperIntrinsics.MBARRIER_ARRIVE, empty);
                return Stmts.seq(
                    trails ? done(0) : Stmt.Seq.EMPTY,
                    LowerPipes.one(LoweredPipe.groups(role), wait, Stmts.when(later, arrive)));
              }
              Stmt body = LowerPipes.inRing(lowered, stage).stmt(stmt(inner, site));
              if (trails) {
                // Its products end behind the next stage's, and so does its stage.
                return Stmts.seq(
                    wait,
                    body,
                    done(HeldStages.isUnderWay(inner) ? 1 : 0),
                    others ? together() : Stmt.Seq.EMPTY,
                    Stmts.when(later, release(lowered, last)));
              }
              if (overlap != null) {
                Stmt.For f = overlap.loop();
                Expr next = Exprs.fold(BinaryOp.GT, f.var(), f.min());
                if (HeldStages.isGathered(inner)) {
                  return Stmts.seq(
                      wait,
                      halves(body, Stmts.when(next, release(lowered, last)), overlap.steps()));
                }
                return Stmts.seq(
                    wait,
                    body,
                    done(overlap.steps()),
                    others ? together() : Stmt.Seq.EMPTY,
                    Stmts.when(next, release(lowered, last)));
              }
              return Stmts.seq(
                  wait,
                  body,
                  products ? done(0) : Stmt.Seq.EMPTY,
                  others ? together() : Stmt.Seq.EMPTY,
                  release(lowered, stage));
            });
  }

  /**
   * Two products whose operands are gathered: while one is under way, the other's words come. The
   * stage before is free once its second product has ended, for which all warps had their words.
   */
  private static Stmt halves(Stmt body, Stmt release, int steps) {
    List<Stmt> stmts = StageNumbers.flat(body);
    return Stmts.seq(
        Stmts.seq(stmts.subList(0, 2)),
        done(steps),
        release,
        Stmts.seq(stmts.subList(2, 4)),
        done(steps));
  }

  private Stmt release(LoweredPipe lowered, Expr stage) {
    return lowered.release(stage, LoweredPipe.groups(role));
  }

  private static Stmt done(int unfinished) {
    return Exprs.evaluate(HopperIntrinsics.WGMMA_WAIT, Exprs.i32(unfinished));
  }

  /** The instance's threads have all come here. */
  private Stmt together() {
    Var instance = role == null ? null : role.instance();
    return StagedStore.barrier(instance == null ? Exprs.i32(0) : instance);
  }

  private static boolean products(Stmt s) {
    boolean[] found = {false};
    Walk.statements(
        s,
        each ->
            found[0] |= each instanceof Stmt.TileMma mma && WarpgroupInstruction.isNamedBy(mma));
    return found[0];
  }

  /** Whether threads read the stage themselves. */
  private static boolean reads(Stmt s, LoweredPipe lowered) {
    boolean[] found = {false};
    Walk.statements(
        s,
        each -> {
          boolean product = each instanceof Stmt.TileMma mma && WarpgroupInstruction.isNamedBy(mma);
          found[0] |=
              !product && Leaves.of(each).reads().stream().anyMatch(b -> lowered.ring(b) != null);
        });
    return found[0];
  }

  private Stmt loop(Stmt.For f, Site site) {
    if (StageNumbers.flat(f.body()) instanceof List<Stmt> inside
        && inside.size() == 1
        && inside.getFirst() instanceof Stmt.Flow.Produce produce
        && pipes.get(produce.pipe()) instanceof LoweredPipe filled
        && filled.isByThreads()) {
      return CopiedStages.loop(
          f, produce, filled, Objects.requireNonNull(numbers.get(produce.pipe())));
    }
    if (f.attrs().has(PREFETCH)) {
      return Stmts.seq(arrived(f), serial(f, stmt(f.body(), site.in(f))));
    }
    Stmt.Flow.Consume consume = held.overlapping(f);
    LoweredPipe lowered = consume == null ? null : pipes.get(consume.pipe());
    if (consume == null || lowered == null) {
      return serial(f, stmt(f.body(), site.in(f)));
    }
    Overlap overlap = new Overlap(f, consume.pipe().options().hold());
    Stmt loop = serial(f, step(consume, lowered, site.in(f), overlap));
    StageNumbers counted = Objects.requireNonNull(numbers.get(consume.pipe()));
    Stmt release = release(lowered, cursor(consume.pipe()).last(counted.behind(f)));
    boolean any = bounds.of(f.extent()).min() > 0 || f.attrs().has(FusedGemms.LEAST);
    return Stmts.seq(
        loop,
        done(0),
        any ? release : new Stmt.If(Exprs.lt(Exprs.i32(0), f.extent()), release, null));
  }

  /** From here on the order of items counts: waits for what is resident belong to the first one. */
  private static Stmt serial(Stmt.For f, Stmt body) {
    return f.ofThreads(body);
  }
}
