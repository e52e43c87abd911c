package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.FlowSites;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.RingBarriers;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a pipe in shared memory.
 *
 * @param rings by tile of the pipe, all stages of it; of a resident pipe, all slices
 * @param barriers of the stages; of a resident pipe, {@code full} ones of the slices
 * @param resident whether it is filled once and never given back
 * @param mixed whether one of the threads that fill it starts TMA copies, too, and says so itself
 */
record LoweredPipe(
    Pipe pipe, Map<Buffer, Buffer> rings, RingBarriers barriers, boolean resident, boolean mixed) {
  /**
   * Of a pipe.
   *
   * @throws LoweringException if barriers cannot stand for it
   */
  static LoweredPipe of(Pipe pipe, FlowSites sites) {
    int produces = 0;
    int peeks = 0;
    int consumes = 0;
    for (FlowSites.Site site : sites.of(pipe)) {
      switch (site.kind()) {
        case PRODUCE -> produces++;
        case PEEK -> peeks++;
        case CONSUME -> {
          boolean empty = Stmts.children(site.stmt()).equals(List.of(Stmt.Seq.EMPTY));
          consumes += empty && peekedOnly(pipe) ? 0 : 1;
        }
        case SKIP -> throw refusal(pipe, "stages are skipped: a waiter might be two phases late");
      }
    }
    Pipe.Options options = pipe.options();
    if (options.initial() > 0 || options.lead() > 0 || pipe.buffers().isEmpty()) {
      throw refusal(pipe, "tokens and leads have no barriers yet");
    }
    if (peeks > 0 && (pipe.stages() > 1 || produces != 1 || consumes > 0)) {
      throw refusal(pipe, "only a stage that is filled once is looked at");
    }
    boolean resident = peeks > 0;
    Map<Buffer, Buffer> rings = new IdentityHashMap<>();
    long count = pipe.stages();
    for (Buffer tile : pipe.buffers()) {
      if (isOfScalars(pipe) && !resident) {
        rings.put(tile, Buffer.of(tile.name(), tile.dtype(), Scope.SHARED, pipe.stages()));
        continue;
      }
      if (tile.rank() != (resident ? 3 : 2)) {
        throw refusal(pipe, "tile " + tile.name() + " has rank " + tile.rank());
      }
      if (resident) {
        if (pipe.buffers().size() > 1) {
          throw refusal(pipe, "several kinds of resident tiles");
        }
        count = tile.extent(0);
      }
      Buffer ring =
          resident
              ? SwizzledTile.ring(first(tile), tile.extent(0))
              : SwizzledTile.ring(tile, pipe.stages());
      rings.put(tile, ring);
    }
    RingBarriers barriers =
        RingBarriers.of(count, sites.releases(pipe) * groups(pipe, sites), producers(pipe, sites));
    if (pipe.scope() == Scope.SHARED_CLUSTER) {
      barriers = barriers.ofCluster();
    }
    boolean mixed =
        barriers.producers() > 1
            && sites.of(pipe).stream()
                .filter(site -> site.kind() == FlowSites.Kind.PRODUCE)
                .anyMatch(site -> CopiedStages.bulk(site.stmt()));
    return new LoweredPipe(pipe, rings, barriers, resident, mixed);
  }

  /** Whether it holds no tiles, but values that one thread writes. */
  static boolean isOfScalars(Pipe pipe) {
    return pipe.buffers().stream().allMatch(each -> each.rank() == 0);
  }

  /** Threads that fill a stage. */
  private static int producers(Pipe pipe, FlowSites sites) {
    int producers = 1;
    for (FlowSites.Site site : sites.of(pipe)) {
      Role role = site.role();
      if (site.kind() == FlowSites.Kind.PRODUCE && role != null && CopyingThreads.are(role)) {
        producers = role.warps() * 32;
      }
    }
    return producers;
  }

  /** Whether all threads of a role fill it, not one that starts TMA copies. */
  boolean isByThreads() {
    return barriers.producers() > 1;
  }

  /** Warpgroups of an instance that reads the pipe. */
  private static int groups(Pipe pipe, FlowSites sites) {
    int groups = 1;
    for (FlowSites.Site site : sites.of(pipe)) {
      groups =
          site.kind() == FlowSites.Kind.CONSUME ? Math.max(groups, groups(site.role())) : groups;
    }
    return groups;
  }

  /** Warpgroups of an instance of a role. */
  static int groups(@Nullable Role role) {
    return role == null ? 1 : Math.max(1, role.warps() * 32 / WarpgroupInstruction.THREADS);
  }

  /** Whether an empty consume may only say that the pipe ends. */
  private static boolean peekedOnly(Pipe pipe) {
    return pipe.stages() == 1 && pipe.buffers().stream().allMatch(tile -> tile.rank() == 3);
  }

  private static Buffer first(Buffer tile) {
    return Buffer.of(tile.name(), tile.dtype(), Scope.SHARED, tile.extent(1), tile.extent(2));
  }

  private static LoweringException refusal(Pipe pipe, String why) {
    return new LoweringException("pipe " + pipe.name() + ": " + why);
  }

  /** The ring of a tile; null if that is not the pipe's. */
  @Nullable Buffer ring(Buffer tile) {
    return rings.get(tile);
  }

  /** All that it takes of shared memory. */
  List<Buffer> buffers() {
    List<Buffer> all = new ArrayList<>();
    pipe.buffers().forEach(tile -> all.add(Objects.requireNonNull(rings.get(tile))));
    all.add(barriers.full());
    if (!resident) {
      all.add(barriers.empty());
    }
    return all;
  }

  /** Makes the barriers; one thread's code. */
  Stmt init() {
    return Stmts.loop(
        ForKind.UNROLLED,
        "s",
        barriers.stages(),
        s ->
            resident
                ? init(barriers.full(), s, 1)
                : Stmts.seq(
                    init(barriers.full(), s, barriers.producers() + (mixed ? 1 : 0)),
                    init(barriers.empty(), s, barriers.consumers())));
  }

  private static Stmt init(Buffer barrier, Expr at, long arrivals) {
    return Exprs.evaluate(
        HopperIntrinsics.MBARRIER_INIT,
        new Expr.AddressOf(barrier, List.of(at)),
        Exprs.i32(arrivals));
  }

  /** An instance of so many warpgroups gives a stage back. */
  Stmt release(Expr stage, long groups) {
    return LowerPipes.one(
        groups,
        Exprs.evaluate(
            HopperIntrinsics.MBARRIER_ARRIVE,
            new Expr.AddressOf(barriers.empty(), List.of(stage))));
  }

  /** Bytes that a copy brings. */
  static long bytes(Stmt.TileCopy copy) {
    DType dtype = copy.to().buffer().dtype();
    long elements = 1;
    for (var range : copy.to().tile()) {
      elements *= Guards.extent(range);
    }
    return elements * dtype.bytes();
  }
}
