package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Stmt;
import dev.warpwright.lower.gpu.ClusterSums;
import dev.warpwright.lower.gpu.StagedStore;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.item.PartialSums;
import dev.warpwright.lower.item.WorkItems;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.DistributeWork;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@code LowerTiles} that adds up parts of tiles: of blocks of a cluster through
 * distributed shared memory ({@link ClusterSums}), else through a workspace ({@link PartialSums}).
 * Each warpgroup does so with its rows.
 */
final class CombinedSums {
  private final ThreadCode code;
  private final RoleCode.Team team;
  private final ClusterBlocks cluster;
  private @Nullable ClusterSums exchange;
  private @Nullable PartialSums parts;

  /** What a thread remembers of its part. */
  private final List<Buffer> registers = new ArrayList<>();

  CombinedSums(ThreadCode code, RoleCode.Team team, ClusterBlocks cluster) {
    this.code = code;
    this.team = team;
    this.cluster = cluster;
  }

  /** What lies in shared memory. */
  List<Buffer> shared() {
    List<Buffer> shared = new ArrayList<>();
    if (exchange != null) {
      shared.add(exchange.exchange());
    }
    if (parts != null) {
      shared.add(parts.turn());
    }
    return shared;
  }

  /** Parameters of the kernel. */
  List<Param> params() {
    return parts == null ? List.of() : parts.params();
  }

  /** What lies in registers beside these sums, once what is inside of their scope is lowered. */
  List<Buffer> registers(Buffer sums) {
    List<Buffer> result =
        parts != null && code.registers(sums) == parts.sums() ? registers : List.of();
    return List.copyOf(result);
  }

  /**
   * The code of a part.
   *
   * @param product what computes its sums
   * @param epilogue what follows the sums of all parts
   */
  Stmt around(Stmt.Flow.Combine combine, Stmt product, Stmt epilogue) {
    if (exchange != null || parts != null || team.instances() > 1) {
      throw new LoweringException(
          "parts of "
              + combine.sums().name()
              + " are added at one place, by one instance of a role");
    }
    Buffer sums = code.registers(combine.sums());
    if (DistributeWork.CLUSTER.equals(combine.attrs().getString(DistributeWork.BY))) {
      Expr rank = cluster.rank();
      if (rank == null) {
        throw new LoweringException("blocks of no cluster have no parts of a tile");
      }
      ClusterSums halves = ClusterSums.of(rank, sums, team.groups());
      exchange = halves;
      return halves.around(team.group(), team.thread(), product, epilogue);
    }
    PartialSums all =
        PartialSums.of(
            division(combine, cluster.size()),
            sums,
            team.groups(),
            WarpgroupInstruction.THREADS,
            team.registers(),
            PartialSums.COUNTERS,
            StagedStore::barrier);
    parts = all;
    registers.addAll(all.registers());
    WorkItems.Part part = new WorkItems.Part(combine.slot(), combine.part(), combine.parts());
    return all.around(part, team.group(), team.thread(), product, epilogue);
  }

  /** How many parts there are, which blocks of clusters of this size have. */
  static PartialSums.Division division(Stmt.Flow.Combine combine, long blocks) {
    return new PartialSums.Division(
        combine.attrs().getLong(DistributeWork.SLOTS, 0),
        combine.attrs().has(DistributeWork.PAIRS),
        combine.attrs().has(DistributeWork.MORE),
        blocks);
  }
}
