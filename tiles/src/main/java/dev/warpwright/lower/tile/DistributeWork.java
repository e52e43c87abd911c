package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.WorkList;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.gpu.WarpRoles;
import dev.warpwright.lower.grid.FusedGemms;
import dev.warpwright.lower.grid.FusedProgram;
import dev.warpwright.lower.grid.TileParts;
import dev.warpwright.lower.item.PartialSums;
import dev.warpwright.lower.item.PipelinedProgram;
import dev.warpwright.lower.item.TmaLoad;
import dev.warpwright.lower.item.WorkItems;
import dev.warpwright.lower.pass.Allocated;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Deals the tiles of a loop out to blocks.
 *
 * <pre>{@code
 * primfunc f(…)                                  primfunc f(…, order: i32[512]) [order = "hilbert", …]
 * persistent t in 512 [blocks = 132,             bind bx: blockIdx.x in 132 {
 *     columns = 32, order = "hilbert"] {           alloc acc
 *   alloc acc                                      persistent i in (512 - bx + 131) / 132 {
 *   pipeline s in 64 {                        →      let entry = order[bx + i * 132]
 *     tile.copy As <- A[t / 32 * 128 +: 128, …]      let tile_m = entry >> 16
 *     …                                              let tile_n = entry & 65535
 *   }                                                pipeline k in 64 {
 *   tile.copy C[…, t % 32 * 128 +: 128] <- acc         tile.copy As <- A[tile_m * 128 +: 128, …]
 * }                                                … } } }
 * }</pre>
 *
 * <p>The order of tiles is data: a table, made by whoever launches the kernel from the attributes.
 * Row and column are variables, never quotients. What an item allocates is allocated once for all
 * of them. {@link WorkItems} says what orders, clusters and divided tiles become.
 *
 * <p>Items that ask for no order are dealt out in turn ({@link StrideItems}).
 *
 * <p>Two dependent GEMMs in one loop become one loop over the items of both, which blocks draw
 * ({@link FusedGemms}).
 *
 * <p>Guarantees: loops bound to blocks, and persistent loops inside them over what one block does.
 * Programs that say themselves what each block does, stay as they are. Stands in front of {@code
 * PlanPipes}, for which stages flow from one item to the next depends on which items a block has.
 */
public final class DistributeWork {
  public static final String MULTICAST = "multicast";

  /** Of a loop over steps: it counts on from one of the block's items to the next. */
  public static final String NUMBERED = "numbered";

  public static final String BY = "by";
  public static final String CLUSTER = "cluster";
  public static final String SLOTS = TileParts.SLOTS;
  public static final String PAIRS = TileParts.PAIRS;
  public static final String MORE = TileParts.MORE;

  private DistributeWork() {}

  public static PrimFunc apply(PrimFunc func, PassListener listener) {
    return listener.tell("DistributeWork", apply(func));
  }

  /**
   * Distributes.
   *
   * @throws LoweringException if tiles cannot be dealt out as the attributes ask
   */
  public static PrimFunc apply(PrimFunc given) {
    if (FusedProgram.isFused(given)) {
      return given.attrs().has("consumers")
          ? FusedGemms.ofRoles(given, WarpRoles.consumers(given.attrs()))
          : FusedGemms.ofBlocks(given);
    }
    PrimFunc func = StrideItems.apply(given);
    if (!isListed(func.body()) && !func.attrs().has("producers")) {
      return func;
    }
    PipelinedProgram program = PipelinedProgram.of(func);
    WorkItems work = WorkItems.of(func, program);
    // Who has roles, counts on from item to item; the others begin anew with each.
    boolean roles = func.attrs().has("producers") || func.attrs().has("consumers");
    List<Buffer> allocated = new ArrayList<>();
    List<Stmt> stmts = new ArrayList<>();
    Allocated.apart(program.work().getLast().body(), allocated, stmts);
    if (work.division() != null || work.isPaired()) {
      PartialSums.requireOneSum(program, program.fragments().getFirst().dtype());
    }
    Stmt items = work.each(item -> at(program, work, item, roles, stmts));
    Stmt body =
        items instanceof Stmt.For f
            ? new Stmt.For(
                f.var(), f.min(), f.extent(), ForKind.PERSISTENT, null, f.attrs(), f.body())
            : items;
    body = inCluster(work, Stmts.alloc(allocated, body));
    for (ThreadBinding binding : work.bindings().reversed()) {
      ThreadAxis axis = binding.axis();
      body =
          new Stmt.For(
              binding.var(),
              Exprs.i32(0),
              binding.extent(),
              ForKind.THREAD_BOUND,
              axis,
              Attrs.NONE,
              body);
    }
    return new PrimFunc(func.name(), work.params(func), body, work.attrs(func.attrs(), program));
  }

  /** Whether the tiles of a program are one loop, which says how they are dealt out. */
  private static boolean isListed(Stmt body) {
    return switch (body) {
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 -> isListed(stmts.getFirst());
      case Stmt.For f ->
          f.kind() == ForKind.PERSISTENT && f.attrs().has("blocks") || f.attrs().has("order");
      default -> false;
    };
  }

  /** Blocks of a cluster follow each other. */
  private static Stmt inCluster(WorkItems work, Stmt body) {
    long size = work.clusterSize();
    return size == 1
        ? body
        : new Stmt.Let(
            work.rank(),
            Exprs.mod(work.block(), size),
            new Stmt.Let(work.cluster(), Exprs.div(work.block(), size), body));
  }

  private static Stmt at(
      PipelinedProgram program,
      WorkItems work,
      WorkItems.Item item,
      boolean roles,
      List<Stmt> stmts) {
    List<Stmt> sums = new ArrayList<>();
    List<Stmt> behind = new ArrayList<>();
    boolean loop = false;
    for (Stmt s : stmts) {
      Stmt at = item.at().stmt(shared(s, work));
      boolean steps = at instanceof Stmt.For f && f.kind() == ForKind.PIPELINED;
      (loop ? behind : sums).add(steps ? steps(work, item, roles, (Stmt.For) at) : at);
      loop |= steps;
    }
    WorkItems.Part part = item.part();
    Stmt rest = Stmts.seq(behind);
    if (part != null || work.isPaired()) {
      Buffer sum = program.fragments().getFirst();
      rest =
          part == null
              ? new Stmt.Flow.Combine(
                  sum,
                  work.cluster(),
                  work.rank(),
                  Exprs.i32(work.clusterK()),
                  Attrs.NONE.with(BY, CLUSTER),
                  rest)
              : new Stmt.Flow.Combine(
                  sum, work.ofBlock(part).slot(), part.number(), part.count(), parts(work), rest);
    }
    return Stmts.seq(Stmts.seq(sums), rest);
  }

  private static Attrs parts(WorkItems work) {
    WorkList list = Objects.requireNonNull(work.division());
    Attrs attrs = Attrs.NONE.with(SLOTS, list.slots());
    attrs = PartialSums.Division.hasPairs(list) ? attrs.with(PAIRS, 1) : attrs;
    return PartialSums.Division.hasMore(list) ? attrs.with(MORE, 1) : attrs;
  }

  /** Copies say along which dimension of the cluster blocks copy the same. */
  private static Stmt shared(Stmt s, WorkItems work) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        if (!(inner instanceof Stmt.TileCopy copy) || !copy.attrs().has(MULTICAST)) {
          return super.stmt(inner);
        }
        String along = TmaLoad.shared(copy, work);
        Attrs attrs = copy.attrs().without(MULTICAST);
        return new Stmt.TileCopy(
            copy.to(), copy.from(), along == null ? attrs : attrs.with(MULTICAST, along));
      }
    }.stmt(s);
  }

  /** Those of the steps that are the item's. */
  private static Stmt steps(WorkItems work, WorkItems.Item item, boolean roles, Stmt.For f) {
    Var k = Var.index("k");
    boolean numbered = item.part() != null && roles;
    Expr min = numbered ? item.before() : Exprs.i32(0);
    Expr step = Exprs.add(item.first(), numbered ? Exprs.sub(k, min) : k);
    Attrs attrs = f.attrs();
    if (work.isPaired() || item.part() != null) {
      attrs = attrs.with(FusedGemms.LEAST, 1);
    }
    if (numbered) {
      attrs = attrs.with(NUMBERED, 1);
    }
    return new Stmt.For(
        k,
        min,
        item.steps(),
        f.kind(),
        null,
        attrs,
        Substitution.ofVars(Map.of(f.var(), step)).stmt(f.body()));
  }
}
