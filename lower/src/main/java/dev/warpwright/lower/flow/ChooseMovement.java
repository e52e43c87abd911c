package dev.warpwright.lower.flow;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.copy.StageCopy;
import dev.warpwright.lower.copy.TransposedCopy;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.FragmentOrder;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.MMajor;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.PanelOrder;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.item.PipelinedProgram;
import dev.warpwright.lower.item.TmaLoad;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.lower.tile.DistributeWork;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses TMA copies, {@code cp.async} or copies through registers for each pipe, and how its tiles
 * lie in shared memory.
 *
 * <pre>{@code
 * pipe ring[4] shared (As: f16[128, 64])       pipe ring[4] shared (As: f16[128, 64] layout … align 1024)
 * produce ring { tile.copy As <- A[…] }     →  produce ring { tile.copy As <- A[…] [by = "bulk"] }
 * }</pre>
 *
 * <p>Tiles of shared pipes come by TMA copies, in the swizzled panels that warpgroup products read.
 * A matrix that lies in memory in the order of such panels ({@link PanelOrder}) comes by linear
 * copies without a tensor map. A pipe to which blocks of a cluster copy what they all need is one
 * of the cluster, {@code shared.cluster}. Matrices whose rows are no multiples of 16 bytes no
 * tensor map describes: all threads of a warpgroup copy them, asynchronously where elements lie at
 * multiples of 4 bytes, and the pipe commits them some steps late ({@code lag}); otherwise one by
 * one, or by aligned vectors that are shifted if the attribute {@code copy} says so. So do those
 * threads with tiles that are MN-major where instructions ask for K-major ones: they lie as their
 * transposes. Pipes in registers are filled by guarded loads of the threads that hold the elements;
 * there is nothing to decide. Weights of products of warps lie in the order of their registers, and
 * all threads copy them ({@link OrderedWeights}). Without roles, all threads of a block copy all
 * tiles, asynchronously if the attribute {@code async} does not say that the target has no such
 * copies. Where products take operands that come through no pipe, tiles of pipes lie as those do.
 *
 * <p>Stands in front of {@code PlanShared}, for swizzles ask for alignments, and behind {@code
 * AssignRoles}: what one thread starts belongs to one role.
 */
final class ChooseMovement extends Rewriter {
  static final String BY = "by";
  static final String BULK = "bulk";

  /** Linear TMA copies of what lies in both memories in the same order. */
  static final String LINEAR = "linear";

  /** Copies by threads, asynchronous ones and those through registers. */
  static final String ASYNC = CopyLowering.ASYNC;

  static final String REGISTERS = "registers";

  /** To cover the way from DRAM, more than a microsecond, takes some steps. */
  private static final int MOST_AHEAD = 5;

  private static final int COPYING_WARPS = 4;
  private static final Scope CLUSTER = Scope.SHARED_CLUSTER;
  private static final String SHARED = DistributeWork.MULTICAST;
  private static final long MAX_BOX = 256;

  private final Map<Buffer, Buffer> laid = new HashMap<>();
  private final Map<Pipe, Pipe> chosen = new IdentityHashMap<>();

  /** By tile, for how many steps copies by threads are under way. */
  private final Map<Buffer, Integer> ahead = new HashMap<>();

  private final Set<Stmt.TileCopy> ofThreads = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Attrs attrs;

  /** Of the pipe at hand: whether blocks of a cluster fill it together. */
  private boolean shared;

  /** Of the pipe at hand: the copies that threads make. */
  private final List<Stmt.TileCopy> byThreads = new ArrayList<>();

  /** Whether some threads of a block copy and others multiply. */
  private final boolean roles;

  /** Tiles of rings beside other tiles, which lie as those do. */
  private final Set<Buffer> beside = new HashSet<>();

  /** Weights of warps' GEMMs by fma, which lie as they are. */
  private final Set<Buffer> plain = new HashSet<>();

  private final boolean hasOthers;

  private ChooseMovement(PrimFunc func) {
    this.attrs = func.attrs();
    this.roles = LowerPipes.hasRoles(func);
    this.hasOthers = !roles && !RingTiles.hasOperandsOnly(func);
  }

  static PrimFunc apply(PrimFunc func, PassListener listener) {
    return listener.tell("ChooseMovement", apply(func));
  }

  /**
   * Decides.
   *
   * @throws LoweringException if a tile cannot be carried; it names the copy and says why
   */
  static PrimFunc apply(PrimFunc func) {
    ChooseMovement pass = new ChooseMovement(func);
    if (!pass.roles && PipelinedProgram.isForWarpgroups(func)) {
      throw new LoweringException(
          func.name()
              + " has no roles, but pipes in shared memory need one that fills them: say consumers"
              + " = 1 or more");
    }
    return func.withBody(pass.stmt(func.body()));
  }

  static boolean isByThreads(Attrs copy) {
    String by = copy.getString(BY);
    return ASYNC.equals(by)
        || REGISTERS.equals(by)
        || StageCopy.SHIFTED.equals(by)
        || TransposedCopy.TRANSPOSED.equals(by);
  }

  @Override
  protected Buffer buffer(Buffer buffer) {
    return laid.getOrDefault(buffer, buffer);
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (hasOthers && s instanceof Stmt.Flow.PipeScope(Pipe pipe, Stmt _)) {
      beside.addAll(pipe.buffers());
      return super.stmt(s);
    }
    if (hasOthers && s instanceof Stmt.TileCopy copy && beside.contains(copy.to().buffer())) {
      boolean async = attrs.getLong("async", 1) != 0 && CopyLowering.canBeAsynchronous(copy);
      return async ? new Stmt.TileCopy(copy.to(), copy.from(), copy.attrs().with(BY, ASYNC)) : copy;
    }
    if (s instanceof Stmt.Flow.PipeScope(Pipe pipe, Stmt body) && OrderedWeights.are(pipe, body)) {
      pipe.buffers().forEach(tile -> laid.put(tile, FragmentOrder.of(tile)));
      return super.stmt(s);
    }
    if (s instanceof Stmt.Flow.PipeScope(Pipe pipe, Stmt body)
        && OrderedWeights.arePlain(pipe, body)) {
      plain.addAll(pipe.buffers());
      return super.stmt(s);
    }
    if (s instanceof Stmt.TileCopy copy && plain.contains(copy.to().buffer())) {
      return new Stmt.TileCopy(
          copy.to(), copy.from(), copy.attrs().with(BY, OrderedWeights.by(copy)));
    }
    if (roles && s instanceof Stmt.Alloc(Buffer tile, Stmt body) && isMMajor(tile, body)) {
      laid.put(tile, MMajor.of(tile));
      return super.stmt(s);
    }
    if (s instanceof Stmt.Flow.PipeScope(Pipe pipe, Stmt body)
        && pipe.scope() == Scope.SHARED
        && !LoweredPipe.isOfScalars(pipe)) {
      lay(pipe, body);
      if (chosen.get(pipe) instanceof Pipe other) {
        return new Stmt.Flow.PipeScope(other, stmt(body));
      }
    }
    if (s instanceof Stmt.Flow.Roles(List<Role> roles)) {
      return super.stmt(new Stmt.Flow.Roles(roles.stream().map(this::role).toList()));
    }
    if (s instanceof Stmt.TileCopy copy
        && laid.get(copy.to().buffer()) instanceof Buffer tile
        && !MMajor.is(tile)) {
      return new Stmt.TileCopy(region(copy.to()), region(copy.from()), carried(copy));
    }
    return super.stmt(s);
  }

  /** Whether a tile of a role's own is a first operand of a warp's GEMM by fma. */
  private static boolean isMMajor(Buffer tile, Stmt body) {
    boolean[] found = {false};
    Walk.statements(
        body,
        s ->
            found[0] |=
                s instanceof Stmt.TileMma mma && MMajor.isFor(mma) && mma.a().buffer() == tile);
    return found[0] && tile.scope() == Scope.SHARED && tile.rank() == 2;
  }

  /** Who carries a copy, and for how long. */
  private Attrs carried(Stmt.TileCopy copy) {
    Buffer tile = laid.get(copy.to().buffer());
    if (tile != null && FragmentOrder.is(tile)) {
      return copy.attrs().with(BY, OrderedWeights.by(copy));
    }
    String by = byThreads(copy);
    if (by != null) {
      int steps = ahead.getOrDefault(copy.to().buffer(), 0);
      Attrs own = copy.attrs().without(SHARED).with(BY, by);
      return by.equals(ASYNC) && steps > 0 ? own.with("inflight", steps) : own;
    }
    if (tile != null && PanelOrder.isCopied(copy, SwizzledTile.width(tile))) {
      return copy.attrs().without(SHARED).with(BY, LINEAR);
    }
    Attrs own = copy.attrs().with(BY, BULK);
    return isShared(copy.to().buffer(), copy.attrs()) ? own : own.without(SHARED);
  }

  /** The kind of copies that threads make of rows that no tensor map describes; else null. */
  private @Nullable String byThreads(Stmt.TileCopy copy) {
    if (laid.get(copy.to().buffer()) instanceof Buffer tile && SwizzledTile.isTransposed(tile)) {
      return TransposedCopy.TRANSPOSED;
    }
    if (roles && !TmaLoad.isUnaligned(copy.from().buffer())) {
      return null;
    }
    OperandRing ring = OperandRing.of(copy.to().buffer(), 1);
    long threads = roles ? COPYING_WARPS * 32 : attrs.getLong("threads", 128);
    boolean can = attrs.getLong("async", 1) != 0;
    if (StageCopy.of(copy, ring, (int) threads, can).isAsynchronous()) {
      return ASYNC;
    }
    boolean shifted = StageCopy.SHIFTED.equals(attrs.getString("copy"));
    return shifted && StageCopy.canBeShifted(copy) ? StageCopy.SHIFTED : REGISTERS;
  }

  /** All threads of a warpgroup copy, where one that starts TMA copies is not enough. */
  private Role role(Role role) {
    boolean[] copies = {false};
    Walk.statements(
        role.body(), s -> copies[0] |= s instanceof Stmt.TileCopy c && ofThreads.contains(c));
    return copies[0]
        ? new Role(
            role.name(),
            role.instance(),
            role.instances(),
            COPYING_WARPS,
            role.attrs(),
            role.body())
        : role;
  }

  @Override
  protected Pipe pipe(Pipe pipe) {
    return chosen.getOrDefault(pipe, super.pipe(pipe));
  }

  /** The pipe as the blocks of a cluster fill it together. */
  private void ofCluster(Pipe pipe) {
    pipe.buffers().forEach(tile -> laid.computeIfPresent(tile, (t, l) -> l.withScope(CLUSTER)));
    List<Buffer> tiles = pipe.buffers().stream().map(this::buffer).toList();
    chosen.put(pipe, new Pipe(pipe.name(), pipe.stages(), CLUSTER, tiles, pipe.options()));
  }

  /**
   * The pipe as threads fill it: copies are under way for some steps, at most {@code stages - 2},
   * for consumers give a stage back only when they have begun with the next.
   */
  private void ofThreads(Pipe pipe, List<Stmt.TileCopy> copies) {
    boolean async = copies.stream().anyMatch(copy -> ASYNC.equals(byThreads(copy)));
    int steps = async ? Math.max(0, Math.min(MOST_AHEAD, pipe.stages() - 2)) : 0;
    copies.forEach(copy -> ahead.put(copy.to().buffer(), steps));
    ofThreads.addAll(copies);
    List<Buffer> tiles = pipe.buffers().stream().map(this::buffer).toList();
    chosen.put(pipe, pipe.withBuffers(tiles).withOptions(pipe.options().withLag(steps)));
  }

  /** Whether the blocks of a cluster fill a tile together. */
  private boolean isShared(Buffer tile, Attrs copy) {
    String along = copy.getString(SHARED);
    Buffer swizzled = laid.get(tile);
    return along != null
        && swizzled != null
        && ClusterBlocks.refusal(
                swizzled,
                SwizzledTile.width(swizzled),
                attrs.getLong(along.equals("m") ? "clusterM" : "clusterN", 1))
            == null;
  }

  private void lay(Pipe pipe, Stmt body) {
    for (Buffer tile : pipe.buffers()) {
      Buffer swizzled = tile.layout() == null ? swizzled(tile, body) : null;
      if (swizzled == null) {
        throw new LoweringException(
            String.format(
                Locale.ROOT,
                "tile %s of pipe %s: TMA copies and wgmma need dense rows of a multiple of 32"
                    + " bytes",
                tile.name(),
                pipe.name()));
      }
      laid.put(tile, swizzled);
    }
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Flow.Produce produce && produce.pipe() == pipe) {
            copies(produce.body(), pipe);
          }
        });
    if (!byThreads.isEmpty() && roles) {
      ofThreads(pipe, byThreads);
    } else if (shared) {
      ofCluster(pipe);
    }
    byThreads.clear();
    shared = false;
  }

  /** As its readers need it: by panels, by those of its transpose, or by single elements. */
  private static @Nullable Buffer swizzled(Buffer tile, Stmt body) {
    boolean[] read = {false, false};
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileMma mma && reads(mma, tile)) {
            boolean warpgroups = WarpgroupInstruction.isNamedBy(mma);
            read[0] |= !warpgroups && OperandRing.isGathered(mma, tile);
            read[1] |= warpgroups && WarpgroupInstruction.isTransposed(mma, tile);
          }
        });
    return read[0]
        ? SwizzledTile.gathered(tile)
        : read[1] ? SwizzledTile.transposed(tile) : SwizzledTile.of(tile);
  }

  private static boolean reads(Stmt.TileMma mma, Buffer tile) {
    return mma.a().buffer() == tile || mma.b().buffer() == tile;
  }

  private void copies(Stmt s, Pipe pipe) {
    switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(each -> copies(each, pipe));
      case Stmt.For f -> copies(f.body(), pipe);
      case Stmt.Comment _ -> {}
      case Stmt.TileCopy copy -> {
        if (byThreads(copy) != null) {
          byThreads.add(copy);
          return;
        }
        Buffer swizzled = laid.get(copy.to().buffer());
        if (swizzled != null && PanelOrder.isCopied(copy, SwizzledTile.width(swizzled))) {
          return;
        }
        shared |= isShared(copy.to().buffer(), copy.attrs());
        String why = refusal(copy);
        if (why != null) {
          throw new LoweringException(
              String.format(
                  Locale.ROOT,
                  "no TMA copy from %s to %s of pipe %s: %s",
                  copy.from().buffer().name(),
                  copy.to().buffer().name(),
                  pipe.name(),
                  why));
        }
      }
      default ->
          throw new LoweringException(
              "pipe " + pipe.name() + " in shared memory is filled by other than copies");
    }
  }

  private @Nullable String refusal(Stmt.TileCopy copy) {
    Buffer from = copy.from().buffer();
    Buffer to = copy.to().buffer();
    String why = TmaLoad.refusal(from);
    if (why != null) {
      return why;
    }
    if (to.dtype() != from.dtype()) {
      return "TMA copies convert nothing";
    }
    List<Range> tile = copy.to().tile();
    if (copy.from().tile().size() != 2 || tile.size() != 2 || from.rank() > 3) {
      return "it is no tile of one matrix";
    }
    int rank = to.rank();
    Range rows = copy.to().ranges().get(rank - 2);
    Range columns = copy.to().ranges().get(rank - 1);
    if (rows != tile.get(0)
        || !Exprs.isConst(rows.min(), 0)
        || !Exprs.isConst(columns.min(), 0)
        || Guards.extent(columns) % SwizzledTile.width(Objects.requireNonNull(laid.get(to))) != 0) {
      return "it fills a part of the tile that is not its first rows and panels";
    }
    List<Range> source = copy.from().ranges();
    if (source.get(from.rank() - 2) != copy.from().tile().get(0)) {
      return "it goes across matrices";
    }
    return Guards.extent(rows) > MAX_BOX ? "a box has at most " + MAX_BOX + " rows" : null;
  }
}
