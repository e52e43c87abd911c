package dev.warpwright.sim;

import static dev.warpwright.sim.Checked.SEED;
import static dev.warpwright.sim.KernelTexts.replaced;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.Finding;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What threads do in other blocks of their cluster comes before those end: by what is known, in
 * whatever order warps take turns, and whichever of both happens first.
 */
class BlockEndTest {
  private static final List<GridOptions> ORDERS =
      List.of(
          GridOptions.DEFAULT,
          GridOptions.DEFAULT.withWarps(GridOptions.WarpChoice.LAST),
          GridOptions.DEFAULT.withEngine(GridOptions.Engine.INTERPRETER),
          GridOptions.random(SEED),
          GridOptions.random(SEED + 1));

  /** Two blocks of two warps, with two barriers for one arrival each, and these statements. */
  private static String blocks(String... statements) {
    return String.format(
        Locale.ROOT,
        """
        kernel k(X: f32[16, 8], counters: u32[1], out: f32[128])
            grid(bx = 2) block(tid = 64) [arch = "sm_90a", cluster = 2] {
          alloc tile: f32[8, 8] shared layout (8:8),(8:1) align 128
          alloc s: f32[64] shared
          alloc b: mbarrier[2] shared
          let rank: i32 = cluster.rank()
          s[tid] = f32(tid)
          if tid == 0 {
            for i in 2 {
              mbarrier.init(&b[i], 1)
            }
            fence.mbarrier_init()
          }
          cluster.sync()
          %s
        }
        """,
        String.join("\n  ", statements));
  }

  private static List<Finding> check(String text, GridOptions order) {
    Kernel kernel = KernelTexts.parse(text);
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    arguments.get("counters").fill(0);
    return new GridInterpreter(kernel, order).check(arguments);
  }

  private static void expectClean(String text) {
    for (GridOptions order : ORDERS) {
      assertThat(check(text, order)).as("%s", order).isEmpty();
    }
  }

  /** In each order the finding is of this statement, and says that the block may end, or has. */
  private static void expectEnded(String text, String statement, String message) {
    for (GridOptions order : ORDERS) {
      List<Finding> findings = check(text, order);
      assertThat(findings).as("%s", order).hasSize(1);
      Finding first = findings.getFirst();
      assertThat(first.kind()).as(first.message()).isEqualTo(Finding.Kind.BARRIER);
      assertThat(first.statement()).as(first.message()).startsWith(statement);
      assertThat(first.message())
          .contains(message)
          .containsPattern("block \\(\\d, 0, 0\\) (may|has)");
    }
  }

  private static final String ARRIVAL =
      "if tid == 0 {\n mbarrier.arrive.cluster(&b[0], 1 - rank)\n }";

  @ParameterizedTest
  @CsvSource({
    "cluster.sync(), true",
    "cluster.meet(), true",
    "cluster.sync.relaxed(), false",
    "sync_threads(), false",
    "'sync_threads()\n cluster.sync.relaxed()\n sync_threads()', false",
    "'cluster.sync.relaxed()\n cluster.sync()', true",
    "'mbarrier.wait(&b[0], 0)', true",
    "'if tid == 63 {\n mbarrier.wait(&b[0], 0)\n }', true",
    "'if rank == 0 {\n mbarrier.wait(&b[0], 0)\n }', false",
    "'mbarrier.wait(&b[0], 0)\n cluster.sync.relaxed()', true",
  })
  void arrivalsAreOrderedByAClusterBarrierOrTheirPhase(String end, boolean ordered) {
    String text = blocks(ARRIVAL, end);
    if (ordered) {
      expectClean(text);
    } else {
      expectEnded(text, "mbarrier.arrive.cluster", "misuse of a barrier: b[0]: block");
    }
  }

  @Test
  void aFindingTellsWhoWhatWhereAndWhatToDo() {
    String text = blocks("if rank == 1 {\n " + ARRIVAL + "\n }", "cluster.sync.relaxed()");
    assertThat(check(text, GridOptions.DEFAULT).getFirst().message())
        .isEqualTo(
            "k: misuse of a barrier: b[0]: block (0, 0, 0) may end before this arrival from another"
                + " block of its cluster, which nothing orders before that end: wait there for the"
                + " phase that it completes, or end behind cluster.sync or cluster.meet;"
                + " cluster.sync.relaxed orders no arrivals, by block (1, 0, 0) thread (0, 0, 0), in"
                + " line 16 'mbarrier.arrive.cluster(&b[0], 1 - rank)'");
  }

  @Test
  void everyPhaseIsWaitedFor() {
    String twice =
        blocks(
            "for i in 2 {",
            ARRIVAL,
            // The other block's second arrival must not come before the wait for the first one.
            "mbarrier.wait(&b[0], i)",
            "cluster.sync.relaxed()",
            "}");
    expectClean(twice);
    expectEnded(
        replaced(twice, "mbarrier.wait(&b[0], i)", "if i == 0 {\n mbarrier.wait(&b[0], 0)\n }"),
        "mbarrier.arrive.cluster",
        "before this arrival");
  }

  /** At the other block's barriers; release is the block's only, so one says nothing of another. */
  @Test
  void anArrivalOrdersNoOtherAccess() {
    String both = replaced(ARRIVAL, " }", " mbarrier.arrive.cluster(&b[1], 1 - rank)\n }");
    expectClean(blocks(both, "mbarrier.wait(&b[0], 0)", "mbarrier.wait(&b[1], 0)"));
    expectEnded(
        blocks(both, "mbarrier.wait(&b[1], 0)"), "mbarrier.arrive.cluster(&b[0]", "b[0]: block");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cluster.store.f32(&s[63 - tid], 1 - rank, 1.0f32)",
        "out[rank * 64 + tid] = cluster.load.f32(&s[63 - tid], 1 - rank)"
      })
  void elementsAreOrderedByAClusterBarrierThatReleases(String access) {
    expectClean(blocks(access, "cluster.sync()"));
    expectClean(blocks("if tid >= 32 {", access, "}", "cluster.meet()"));
    for (String end :
        List.of(
            "",
            "cluster.sync.relaxed()",
            "sync_threads()\n " + ARRIVAL + "\n mbarrier.wait(&b[0], 0)")) {
      expectEnded(blocks(access, end), access, "s: block");
    }
    // Nobody waits for a thread to be done with its own block.
    expectClean(blocks(access.replace("1 - rank", "rank")));
  }

  /** One block copies into both. */
  private static final String COPY =
      """
      if tid == 0 {
          mbarrier.arrive.expect_tx(&b[0], 256)
        }
        cluster.sync()
        if tid == 0 && rank == 0 {
          bulk.load.2d.multicast(&tile[0, 0], &X[0, 0], &b[0], 8, 8, 3)
        }
      """;

  @Test
  void copiesAreOrderedByTheirPhaseOnly() {
    expectClean(blocks(COPY, "mbarrier.wait(&b[0], 0)"));
    for (String end : List.of("", "cluster.sync.relaxed()", "cluster.sync()")) {
      String text = blocks(COPY, "if rank == 0 {\n mbarrier.wait(&b[0], 0)\n }", end);
      expectEnded(text, "bulk.load.2d.multicast", "block (1, 0, 0)");
    }
  }

  /** What one thread of a warp releases says nothing of what its neighbours have done. */
  @Test
  void countersOrderWhatTheirThreadKnows() {
    String text =
        blocks(
            "if rank == 0 {",
            "if tid == 0 {\n mbarrier.arrive.cluster(&b[0], 1)\n }",
            "sync_threads()",
            "if tid == 1 {\n red.add.release.u32(&counters[0], 1u32)\n }",
            "} else {",
            "if tid == 0 {\n while load.acquire.u32(&counters[0]) < 1u32 {\n }\n }",
            "}");
    expectClean(text);
    expectEnded(
        replaced(text, "sync_threads()\n  if tid == 1", "if tid == 1"),
        "mbarrier.arrive.cluster",
        "block (1, 0, 0)");
    expectClean(replaced(text, "sync_threads()\n  if tid == 1", "if tid == 0"));
  }
}
