package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.copy.StoredRows;
import dev.warpwright.lower.gpu.FragmentInference;
import dev.warpwright.lower.gpu.MapLowering;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.RowVectors;
import dev.warpwright.lower.gpu.StagedStore;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.gpu.TileSums;
import dev.warpwright.lower.gpu.WarpRoles;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.grid.WorkTickets;
import dev.warpwright.lower.item.ResultTile;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.FoldedFills;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@code LowerTiles} that turns what an instance of a role does into what each thread
 * of its warpgroup does.
 *
 * <p>Products are a group from one fence to one commit as long as nothing else stands between them;
 * they are waited for before the first statement that touches their accumulators or their operands
 * in registers, unless {@code LowerPipes} has done so.
 */
final class RoleCode {
  private final ThreadCode code;
  private final MapLowering maps;
  private final PackedFragments packed;
  private final Products products;
  private final FoldedFills fills;
  private final Team team;
  private final Set<Buffer> sums;
  private final @Nullable String store;
  private final boolean exact;
  private final ClusterBlocks cluster;
  private final CombinedSums combined;
  private final StoredRows rows;
  private final Map<Buffer, StagedStore> staged = new HashMap<>();

  /** Numbers of rows in shared memory, and sums among them. */
  private final Set<Buffer> vectors = new LinkedHashSet<>();

  private final Map<Buffer, TileSums> rowSums = new HashMap<>();

  private UnderWay underWay = new UnderWay();

  /**
   * The threads of a role.
   *
   * @param instances how many there are, each of which holds fragments of its own
   * @param groups warpgroups of an instance
   * @param group the number of the warpgroup among all of the role
   * @param member the thread in its instance
   * @param thread the thread in its warpgroup
   * @param registers of 32 bits that a thread has
   */
  record Team(int instances, int groups, Expr group, Var member, Expr thread, int registers) {
    Team {
      if (instances > 1 && groups > 1) {
        throw new LoweringException("several instances of several warpgroups each");
      }
    }

    /** The number of the warpgroup in its instance. */
    Expr part() {
      return groups == 1 ? Exprs.i32(0) : group;
    }

    /** Results that leave by rows, each by the warp that holds it. */
    StoredRows rows(ThreadCode code) {
      int warps = WarpgroupInstruction.THREADS / 32;
      Expr warp = Exprs.add(Exprs.mul(group, warps), Exprs.div(thread, 32));
      return new StoredRows(code, warp, instances * groups * warps);
    }

    /** Threads of an instance. */
    int size() {
      return groups * WarpgroupInstruction.THREADS;
    }
  }

  RoleCode(
      Stmt body, Team team, Map<Buffer, OperandRing> rings, ClusterBlocks cluster, PrimFunc func) {
    this.cluster = cluster;
    this.team = team;
    this.store = func.attrs().getString("store");
    this.exact = func.attrs().getLong("clusterM", 1) * func.attrs().getLong("clusterN", 1) == 1;
    Bounds bounds = Simplify.ofParams(func.params());
    this.code =
        new ThreadCode(team.member(), team.size(), FragmentInference.infer(body, team.size()));
    this.sums = sums(body);
    this.packed = new PackedFragments(code, body, sums);
    this.maps = packed.maps();
    this.combined = new CombinedSums(code, team, cluster);
    this.rows = team.rows(code);
    this.fills = FoldedFills.of(body, bounds);
    this.products = new Products(code, packed, rings, fills, team);
  }

  /** What products add to. */
  private static Set<Buffer> sums(Stmt body) {
    Set<Buffer> sums = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileMma mma) {
            sums.add(mma.c().buffer());
          }
        });
    return sums;
  }

  /** Registers in which a thread of so many holds fragments. */
  static int registers(Stmt body, int threads) {
    Map<Buffer, FragmentLayout> layouts = FragmentInference.infer(body, threads);
    int[] sum = {0};
    Set<Buffer> sums = sums(body);
    layouts.forEach(
        (fragment, layout) ->
            sum[0] +=
                sums.contains(fragment)
                    ? layout.registers()
                    : WarpRoles.registers(fragment, layout));
    return sum[0];
  }

  /** What is in shared memory: results, and what parts of tiles need. */
  List<Buffer> shared() {
    List<Buffer> shared = new ArrayList<>();
    staged.values().forEach(store -> shared.add(store.panels()));
    shared.addAll(combined.shared());
    shared.addAll(rows.shared());
    shared.addAll(vectors);
    return shared;
  }

  /** Parameters of the kernel that the role needs. */
  List<Param> params() {
    return combined.params();
  }

  /** The code of the role. */
  Stmt lowered(Stmt body) {
    Stmt result = stmt(body);
    Stmt end = underWay.waitFor(buffer -> true);
    boolean bulk = staged.values().stream().anyMatch(panels -> !panels.byThreads());
    Stmt finish = bulk ? StagedStore.finish(team.thread()) : Stmt.Seq.EMPTY;
    return behind(result, Stmts.seq(end, finish));
  }

  /** Inside of what is allocated for all of it. */
  private static Stmt behind(Stmt s, Stmt end) {
    return s instanceof Stmt.Alloc(Buffer buffer, Stmt inner)
        ? new Stmt.Alloc(buffer, behind(inner, end))
        : Stmts.seq(s, end);
  }

  private Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> sequence(stmts);
      case Stmt.For f -> loop(f);
      case Stmt.If branch -> branch(branch);
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), stmt(l.body()));
      case Stmt.Alloc(Buffer buffer, Stmt body) -> alloc(buffer, body);
      case Stmt.TileMma mma -> group(List.of(mma));
      case Stmt.TileFill fill when rowSums.get(fill.to().buffer()) instanceof TileSums all ->
          all.zero();
      case Stmt.TileFill fill -> fills.isFolded(fill) ? Stmt.Seq.EMPTY : after(s, fill(fill));
      case Stmt.TileMap map when vectors.contains(map.stores().getFirst().buffer()) ->
          Stmts.seq(told(s), after(s, maps.map(map)), StagedStore.barrier(team.group()));
      case Stmt.TileMap map ->
          packed.concerns(map) ? packed.map(map, waitFor(s)) : Stmts.seq(waitFor(s), maps.map(map));
      case Stmt.TileCopy copy when StoredRows.are(copy) ->
          after(s, rows.store(copy, packed.registers(copy.from().buffer())));
      case Stmt.TileCopy copy ->
          after(s, packed.concerns(copy) ? packed.copy(copy) : maps.copy(copy));
      case Stmt.While(Expr more, Stmt body) -> new Stmt.While(more, repeated(body));
      case Stmt.Flow.Signal signal -> signal(signal);
      case Stmt.Evaluate(Expr.Call call) when call.op() == HopperIntrinsics.BAR_SYNC ->
          StagedStore.barrier(team.group());
      case Stmt.Evaluate(Expr.Call call) -> {
        if (call.op() == HopperIntrinsics.WGMMA_WAIT && Exprs.isConst(call.args().getFirst(), 0)) {
          if (underWay.isEmpty()) {
            yield Stmt.Seq.EMPTY;
          }
        }
        if (call.op() == HopperIntrinsics.WGMMA_WAIT
            && call.args().getFirst() instanceof Expr.IntImm unfinished) {
          underWay.keep((int) unfinished.value());
        }
        yield s;
      }
      case Stmt.Store _, Stmt.Comment _ -> s;
      case Stmt.TileReduce reduce when rowSums.get(reduce.to()) instanceof TileSums all ->
          after(s, all.add(reduce));
      case Stmt.TileReduce reduce -> after(s, new RowVectors(code, maps).reduce(reduce));
      case Stmt.Block _, Stmt.Flow _ ->
          throw new LoweringException(s.getClass().getSimpleName() + " is left in a role");
    };
  }

  /** Sums of rows that a statement reads, where all threads see them. */
  private Stmt told(Stmt s) {
    List<Stmt> told = new ArrayList<>();
    for (Buffer read : Leaves.of(s).reads()) {
      if (rowSums.get(read) instanceof TileSums all) {
        told.add(all.tell(StagedStore.barrier(team.group())));
      }
    }
    return Stmts.seq(told);
  }

  /** Numbers of rows are in shared memory, what a thread adds to them in its registers. */
  private Stmt vector(Buffer buffer, Stmt body) {
    if (team.instances() * team.groups() > 1) {
      throw new LoweringException(buffer.name() + " is added up by several warpgroups");
    }
    vectors.add(buffer);
    TileSums all =
        rowSums.computeIfAbsent(buffer, b -> TileSums.of(b, body, team.size(), team.member()));
    return all == null ? stmt(body) : new Stmt.Alloc(all.registers(), stmt(body));
  }

  /** What one thread of each warpgroup does, under a condition that all threads share. */
  private @Nullable Stmt electedIf(Stmt.If s) {
    if (s.otherwise() != null
        || !(s.then() instanceof Stmt.For f)
        || !f.attrs().has(LowerPipes.ELECT)) {
      return null;
    }
    Stmt.If elected = elected(f);
    return Stmts.when(Exprs.and(s.condition(), elected.condition()), elected.then());
  }

  private Stmt.If elected(Stmt.For f) {
    Stmt body = Substitution.ofVars(Map.of(f.var(), f.min())).stmt(f.body());
    Stmt.If arrival = cluster.arrival(body, team.thread());
    return arrival != null
        ? arrival
        : new Stmt.If(Exprs.eq(team.thread(), Exprs.i32(0)), body, null);
  }

  /** Where one way would wait, both have waited: the other one must, sooner or later. */
  private Stmt branch(Stmt.If s) {
    Stmt elected = electedIf(s);
    if (elected != null) {
      return elected;
    }
    Stmt wait = underWay.waitFor(buffer -> FoldedFills.touches(s, buffer));
    UnderWay before = underWay.copy();
    Stmt then = stmt(s.then());
    UnderWay behind = underWay;
    underWay = before;
    Stmt otherwise = s.otherwise() == null ? null : stmt(s.otherwise());
    underWay = underWay.or(behind);
    return Stmts.seq(wait, new Stmt.If(s.condition(), then, otherwise));
  }

  /** Behind what it touches. */
  private Stmt after(Stmt s, Stmt lowered) {
    return Stmts.seq(waitFor(s), lowered);
  }

  /** The wait for what a statement touches; nothing if nothing of it is under way. */
  private Stmt waitFor(Stmt s) {
    Leaves leaves = Leaves.of(s);
    return underWay.waitFor(b -> leaves.reads().contains(b) || leaves.writes().contains(b));
  }

  private Stmt sequence(List<Stmt> stmts) {
    List<Stmt> result = new ArrayList<>();
    for (int i = 0; i < stmts.size(); i++) {
      List<Stmt.TileMma> together = new ArrayList<>();
      while (i < stmts.size()
          && stmts.get(i) instanceof Stmt.TileMma mma
          && (together.isEmpty() || !meets(together, mma))) {
        together.add(mma);
        i++;
      }
      if (!together.isEmpty()) {
        result.add(group(together));
        i--;
        continue;
      }
      if (stmts.get(i) instanceof Stmt.Flow.Combine combine) {
        // Whoever begins a part says so before it sums.
        Stmt product = Stmts.seq(Stmts.seq(result), after(combine, Stmt.Seq.EMPTY));
        result = new ArrayList<>();
        result.add(combined.around(combine, product, stmt(combine.body())));
        continue;
      }
      ResultTile tile = i + 1 < stmts.size() ? tile(stmts.get(i), stmts.get(i + 1)) : null;
      if (tile != null) {
        result.add(after(tile.map(), store(tile)));
        i++;
      } else {
        result.add(stmt(stmts.get(i)));
      }
    }
    return Stmts.seq(result);
  }

  /** Whether a product takes what one before it makes. */
  private static boolean meets(List<Stmt.TileMma> before, Stmt.TileMma mma) {
    return before.stream()
        .anyMatch(
            each -> each.c().buffer() == mma.a().buffer() || each.a().buffer() == mma.c().buffer());
  }

  private Stmt group(List<Stmt.TileMma> together) {
    List<Stmt> stmts = new ArrayList<>();
    for (Stmt.TileMma mma : together) {
      // Its operand may be another product's accumulators.
      stmts.add(underWay.waitFor(b -> b == mma.a().buffer() && sums.contains(b)));
    }
    stmts.add(Exprs.evaluate(HopperIntrinsics.WGMMA_FENCE));
    Set<Buffer> fragments = new HashSet<>();
    for (Stmt.TileMma mma : together) {
      stmts.add(products.product(mma));
      fragments.add(mma.c().buffer());
      if (mma.a().buffer().scope() == Scope.FRAGMENT) {
        fragments.add(mma.a().buffer());
      }
    }
    underWay.add(fragments);
    stmts.add(Exprs.evaluate(HopperIntrinsics.WGMMA_COMMIT));
    return Stmts.seq(stmts);
  }

  private Stmt loop(Stmt.For f) {
    if (f.attrs().has(LowerPipes.ELECT)) {
      return elected(f);
    }
    Stmt body = Exprs.isConst(f.extent(), 1) ? stmt(f.body()) : repeated(f.body());
    boolean registers = indexesRegisters(f);
    ForKind kind = registers ? ForKind.UNROLLED : f.kind();
    if (registers && !(f.extent() instanceof Expr.IntImm)) {
      throw new LoweringException(
          "loop " + f.var() + " picks registers, but how often it runs is not constant");
    }
    return new Stmt.For(f.var(), f.min(), f.extent(), kind, null, f.attrs(), body).ofThreads(body);
  }

  private Stmt repeated(Stmt body) {
    UnderWay before = underWay.copy();
    Stmt result = stmt(body);
    if (!before.covers(underWay)) {
      // The second iteration begins with what the first one left under way.
      before = before.or(underWay);
      underWay = before.copy();
      result = stmt(body);
    }
    underWay = underWay.or(before);
    return result;
  }

  /** Each warpgroup tells of its part, as soon as all of that is in global memory. */
  private Stmt signal(Stmt.Flow.Signal s) {
    if (!(s.by() instanceof Expr.IntImm by) || by.value() % team.groups() != 0) {
      throw new LoweringException(
          s.counter().name() + " is added to by no multiple of " + team.groups() + " warpgroups");
    }
    if (staged.isEmpty() || staged.values().stream().anyMatch(StagedStore::byThreads)) {
      throw new LoweringException(
          "who waits for results reads them by TMA copies, and so they have to be stored; those"
              + " before a signal to "
              + s.counter().name()
              + " leave otherwise");
    }
    Stmt tell = WorkTickets.publish(s.counter(), s.indices(), by.value() / team.groups());
    return new Stmt.If(
        Exprs.eq(team.thread(), Exprs.i32(0)),
        Stmts.seq(
            Exprs.evaluate(HopperIntrinsics.BULK_WAIT, Exprs.i32(0)),
            Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL),
            tell),
        null);
  }

  /** Whether a loop's variable says which part of a fragment is an operand. */
  private static boolean indexesRegisters(Stmt.For f) {
    boolean[] found = {false};
    Walk.statements(
        f.body(),
        s -> {
          if (s instanceof Stmt.TileMma mma && mma.a().buffer().scope() == Scope.FRAGMENT) {
            mma.a()
                .ranges()
                .forEach(r -> found[0] |= StageNumbers.mentions(r.min(), Set.of(f.var())));
          }
        });
    return found[0];
  }

  private Stmt alloc(Buffer buffer, Stmt body) {
    return switch (buffer.scope()) {
      case FRAGMENT -> {
        Stmt inner = stmt(body);
        // What products hold stays theirs until they are done.
        Stmt end = underWay.waitFor(b -> b == buffer);
        Buffer registers =
            packed.isPacked(buffer) ? packed.registers(buffer) : code.registers(buffer);
        List<Buffer> more = combined.registers(buffer);
        yield new Stmt.Alloc(registers, Stmts.alloc(more, Stmts.seq(inner, end)));
      }
      case LOCAL -> new Stmt.Alloc(buffer, stmt(body));
      case SHARED -> TileSums.isVector(buffer) ? vector(buffer, body) : stmt(body);
      case GLOBAL, SHARED_CLUSTER ->
          throw new LoweringException(buffer.name() + " is allocated in a role");
    };
  }

  private Stmt fill(Stmt.TileFill fill) {
    Buffer buffer = fill.to().buffer();
    if (buffer.scope() != Scope.FRAGMENT
        || packed.isPacked(buffer)
        || !fill.to().equals(Region.whole(buffer))) {
      throw new LoweringException("the fill of " + buffer.name() + " in a role is not lowered yet");
    }
    return code.fill(buffer, fill.value());
  }

  /** A tile that is computed in shared memory, all of which the next statement copies away. */
  static @Nullable ResultTile tile(Stmt first, Stmt second) {
    if (!(first instanceof Stmt.TileMap || first instanceof Stmt.TileCopy)
        || !(second instanceof Stmt.TileCopy copy)
        || !ResultTile.isStoredBy(copy)) {
      return null;
    }
    // Rows that pass through shared memory are no result of fragments.
    if (first instanceof Stmt.TileMap map && FragmentInference.fragments(map).isEmpty()
        || first instanceof Stmt.TileCopy fill && fill.from().buffer().scope() == Scope.GLOBAL) {
      return null;
    }
    return ResultTile.of(first, copy);
  }

  private Stmt store(ResultTile tile) {
    if (packed.concerns(tile.map())) {
      throw new LoweringException(
          "result tile " + tile.tile().name() + " is computed from operands in registers");
    }
    ResultTile.Way way = tile.way(store);
    if (way == ResultTile.Way.REGISTERS) {
      return tile.direct(maps, exact);
    }
    boolean byThreads = way == ResultTile.Way.ROWS;
    StagedStore panels =
        staged.computeIfAbsent(
            tile.tile(),
            t -> {
              FragmentLayout layout = maps.layout(tile.map());
              StagedStore one =
                  way == ResultTile.Way.TRANSPOSED
                      ? StagedStore.transposed(t, layout, team.groups())
                      : StagedStore.of(t, layout, team.groups(), byThreads);
              return team.instances() == 1 ? one : one.forGroups(team.instances());
            });
    return tile.staged(
        panels, maps, team.member(), team.part(), team.group(), team.thread(), exact);
  }
}
