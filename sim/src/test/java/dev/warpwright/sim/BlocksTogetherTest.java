package dev.warpwright.sim;

import static dev.warpwright.sim.Checked.SEED;
import static dev.warpwright.sim.Checked.check;
import static dev.warpwright.sim.Checked.expect;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.Finding;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Blocks that work together, in a cluster or by counters in global memory, rightly and wrongly. */
class BlocksTogetherTest {
  private static final String CLUSTER =
      """
      kernel k(out: i32[4]) grid(bx = 4) block(tid = 32) [arch = "sm_90a", cluster = 2] {
        alloc b: mbarrier[1] shared
        let rank: i32 = cluster.rank()
        if tid == 0 {
          mbarrier.init(&b[0], 1)
          fence.mbarrier_init()
        }
        cluster.sync()
        if tid == 0 {
          mbarrier.arrive.cluster(&b[0], 1 - rank)
          mbarrier.wait(&b[0], 0)
          out[bx] = rank
        }
        cluster.sync()
      }
      """;

  @Test
  void blocksOfAClusterArriveAtEachOthersBarriers() {
    Kernel kernel = KernelTexts.parse(CLUSTER);
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    assertThat(check(kernel, arguments)).isEmpty();
    assertThat(arguments.get("out").toDoubles()).containsExactly(0, 1, 0, 1);
    // The other block's arrival has been waited for: the barrier at the end is not needed.
    String early =
        KernelTexts.replaced(
            CLUSTER, "    out[bx] = rank\n  }\n  cluster.sync()", "    out[bx] = rank\n  }");
    assertThat(check(early)).isEmpty();
    expect(
        check(KernelTexts.replaced(early, "mbarrier.wait(&b[0], 0)", "")),
        Finding.Kind.BARRIER,
        "block (0, 0, 0) has ended before this arrival");
    String oneWay =
        KernelTexts.replaced(
            early,
            "mbarrier.arrive.cluster(&b[0], 1 - rank)\n    mbarrier.wait(&b[0], 0)",
            "if rank == 0 {\n mbarrier.arrive.cluster(&b[0], 1)\n }");
    expect(check(oneWay), Finding.Kind.BARRIER, "block (1, 0, 0) may end before this arrival");
    expect(
        check(KernelTexts.replaced(CLUSTER, "1 - rank)", "2)")),
        Finding.Kind.INTRINSIC,
        "no block 2");
    expect(
        check(
            KernelTexts.replaced(
                CLUSTER, "  cluster.sync()\n  if tid", "  sync_threads()\n  if tid")),
        Finding.Kind.BARRIER,
        "mbarrier.init");
    expect(
        check(
            KernelTexts.replaced(
                CLUSTER,
                "    out[bx] = rank\n  }\n  cluster.sync()",
                "    out[bx] = rank\n  }\n  if rank == 0 {\n    cluster.sync()\n  }")),
        Finding.Kind.BARRIER,
        "not all warps of the cluster arrive");
  }

  /** Each block writes into the other one's memory, and reads from it. */
  private static final String EXCHANGE =
      """
      kernel k(out: f32[128]) grid(bx = 4) block(tid = 32) [arch = "sm_90a", cluster = 2] {
        alloc mine: f32[32] shared
        alloc given: f32[32] shared
        let rank: i32 = cluster.rank()
        mine[tid] = f32(bx * 32 + tid)
        cluster.sync()
        cluster.store.f32(&given[31 - tid], 1 - rank, f32(bx))
        out[bx * 32 + tid] = cluster.load.f32(&mine[tid], 1 - rank)
        cluster.sync()
        out[bx * 32 + tid] = out[bx * 32 + tid] + given[tid]
      }
      """;

  @Test
  void relaxedBarriersOfAClusterPublishBarriersOnly() {
    String relaxed = CLUSTER.replace("cluster.sync()", "cluster.sync.relaxed()");
    assertThat(check(relaxed)).isEmpty();
    expect(
        check(KernelTexts.replaced(relaxed, "fence.mbarrier_init()", "")),
        Finding.Kind.BARRIER,
        "mbarrier.init");
    // The second barrier of EXCHANGE is the one behind which a block reads what another has
    // written.
    String late =
        KernelTexts.replaced(
            EXCHANGE,
            "cluster.sync()\n  out[bx * 32 + tid] = out",
            "cluster.sync.relaxed()\n  out[bx * 32 + tid] = out");
    expect(check(late), Finding.Kind.RACE, "given[");
    String early =
        KernelTexts.replaced(
            EXCHANGE, "cluster.sync()\n  cluster.store", "cluster.sync.relaxed()\n  cluster.store");
    expect(check(early), Finding.Kind.RACE, "mine[");
  }

  @Test
  void blocksOfAClusterAccessEachOthersMemory() {
    Kernel kernel = KernelTexts.parse(EXCHANGE);
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    assertThat(check(kernel, arguments)).isEmpty();
    for (int i = 0; i < 128; i++) {
      int other = (i / 32) ^ 1;
      assertThat(arguments.get("out").toDoubles()[i]).isEqualTo(other * 32 + i % 32 + other);
    }
    String sync = "  cluster.sync()\n";
    expect(
        check(KernelTexts.replaced(EXCHANGE, sync + "  cluster.store", "  cluster.store")),
        Finding.Kind.INTRINSIC,
        "no cluster barrier between the start of block");
    expect(
        check(
            KernelTexts.replaced(
                EXCHANGE, sync + "  out[bx * 32 + tid] = out", "  out[bx * 32 + tid] = out")),
        Finding.Kind.UNINITIALISED,
        "given[");
    // Whoever ends first takes its memory along.
    String early =
        KernelTexts.replaced(
            EXCHANGE, sync + "  out[bx * 32 + tid] = out[bx * 32 + tid] + given[tid]\n", "");
    expect(check(early), Finding.Kind.BARRIER, "block (0, 0, 0) has ended before this access");
    expect(
        check(KernelTexts.replaced(EXCHANGE, "&mine[tid], 1 - rank)", "&mine[tid], 2)")),
        Finding.Kind.INTRINSIC,
        "no block 2");
    expect(
        check(KernelTexts.replaced(EXCHANGE, "&mine[tid], 1", "&mine[tid + 1], 1")),
        Finding.Kind.OUT_OF_BOUNDS,
        "mine of");
    // Written by the neighbour while its owner reads.
    expect(
        check(
            EXCHANGE
                .replace("given[", "mine[")
                .replace("&mine[tid], 1 - rank)", "&mine[tid], rank)")),
        Finding.Kind.RACE,
        "mine[");
  }

  private static final String MESSAGE =
      """
      kernel k(data: f32[64], flag: u32[1], out: f32[64]) grid(bx = 2) block(tid = 64) [arch = "sm_90a"] {
        if bx == 0 {
          data[tid] = 3.0f32
          sync_threads()
          if tid == 0 {
            red.add.release.u32(&flag[0], 1u32)
          }
        } else {
          if tid == 0 {
            while load.acquire.u32(&flag[0]) < 1u32 {
            }
          }
          sync_threads()
          out[tid] = data[63 - tid]
        }
      }
      """;

  private static List<Finding> message(String text, GridOptions options) {
    Kernel kernel = KernelTexts.parse(text);
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    arguments.get("flag").fill(0);
    List<Finding> findings = new GridInterpreter(kernel, options).check(arguments);
    if (findings.isEmpty()) {
      assertThat(arguments.get("out").toDoubles()).containsOnly(3);
    }
    return findings;
  }

  @Test
  void countersOrderBlocks() {
    GridOptions both = GridOptions.DEFAULT.withBlocks(Options.Order.REVERSE, 2);
    assertThat(message(MESSAGE, GridOptions.DEFAULT)).isEmpty();
    assertThat(message(MESSAGE, both)).isEmpty();
    // The reader alone in residence waits for a block that cannot start.
    expect(
        message(MESSAGE, GridOptions.DEFAULT.withBlocks(Options.Order.REVERSE, 1)),
        Finding.Kind.DEADLOCK,
        "go round, without any change, in line 10");
    expect(
        message(
            KernelTexts.replaced(
                MESSAGE,
                "    sync_threads()\n    if tid == 0 {\n      red",
                "    if tid == 0 {\n      red"),
            both),
        Finding.Kind.RACE,
        "data[");
    expect(
        message(
            KernelTexts.replaced(MESSAGE, "    }\n    sync_threads()\n    out", "    }\n    out"),
            GridOptions.DEFAULT),
        Finding.Kind.RACE,
        "write by warp");
    expect(
        message(
            KernelTexts.replaced(MESSAGE, "while load.acquire.u32(&flag[0]) < 1u32 {\n      }", ""),
            GridOptions.DEFAULT),
        Finding.Kind.RACE,
        "of block (0, 0, 0)");
  }
}
