package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.Finding;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lanes of one warp that access the same element: no order of theirs is promised. */
class LanesTest {
  private static final long SEED = Long.getLong("seed", 80);
  private static final int FIRST_LINE = 14;

  /** Statements of a block of one warp, which {@code ldmatrix} keeps from being plain threads. */
  private static List<Finding> check(GridOptions.Engine engine, String... statements) {
    Kernel kernel =
        KernelTexts.parse(
            String.format(
                Locale.ROOT,
                """
                kernel k(x: f32[64], y: f32[8, 32]) grid(bx = 1) block(t = 32) [arch = "sm_90a"] {
                  alloc s: f32[64] shared align 128
                  alloc b: mbarrier[1] shared
                  alloc r: u32[1] local
                  if t == 0 {
                    mbarrier.init(&b[0], 32)
                    fence.mbarrier_init()
                  }
                  s[t] = x[t]
                  s[t + 32] = 0.0f32
                  sync_threads()
                  ldmatrix.x1(&r[0], &s[t %% 8 * 4])
                  sync_threads()
                  %s
                }
                """,
                String.join("\n  ", statements)));
    return new GridInterpreter(kernel, GridOptions.DEFAULT.withEngine(engine))
        .check(Arguments.random(kernel.params(), SEED));
  }

  private static void expectRace(
      GridOptions.Engine engine, String text, int statement, String... statements) {
    List<Finding> findings = check(engine, statements);
    assertThat(findings).isNotEmpty();
    Finding first = findings.getFirst();
    assertThat(first.kind()).as("%s", first).isEqualTo(Finding.Kind.RACE);
    assertThat(first.message()).contains(text);
    assertThat(first.line()).isEqualTo(FIRST_LINE + statement);
  }

  @ParameterizedTest
  @EnumSource
  void lanesThatWriteOneElementRace(GridOptions.Engine engine) {
    expectRace(
        engine,
        "s[0]: write by lane 1 of warp 0 and write by lane 0 of it without sync_warp",
        0,
        "s[t / 2] = 1.0f32");
    expectRace(
        engine, "y[0, 0]: write by lane 1 of warp 0 and write by lane 0", 0, "y[0, t / 4] = s[t]");
    expectRace(engine, "s[1]: write by lane 0", 1, "s[t] = 1.0f32", "s[t ^ 1] = 2.0f32");
  }

  @ParameterizedTest
  @EnumSource
  void readsAndWritesOfOtherLanesRaceWithoutABarrier(GridOptions.Engine engine) {
    String write = "s[t] = 1.0f32";
    String read = "y[0, t] = s[31 - t]";
    expectRace(engine, "s[31]: read by lane 0 of warp 0 and write by lane 31", 1, write, read);
    expectRace(engine, "s[0]: write by lane 0 of warp 0 and read by lane 31", 1, read, write);
    expectRace(engine, "s[0]: write by lane 0 of warp 0 and read by lane 1 ", 0, "s[t] = s[t ^ 1]");
    for (String barrier : List.of("sync_warp()", "sync_threads()", "bar.sync(1, 32)")) {
      assertThat(check(engine, write, barrier, read)).as(barrier).isEmpty();
      assertThat(check(engine, read, barrier, write)).as(barrier).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aLaneNeedsNoBarrierForItself(GridOptions.Engine engine) {
    assertThat(
            check(
                engine,
                "s[t] = 1.0f32",
                "y[0, t] = s[t]",
                "s[t] = s[t] + 1.0f32",
                "y[0, t] = s[t]"))
        .isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void whatManyLanesReadNoLaneMayWrite(GridOptions.Engine engine) {
    String read = "y[0, t] = s[3] + s[32 + t / 4]";
    String write = "s[t] = 1.0f32";
    assertThat(check(engine, read, "y[1, t] = s[3]")).isEmpty();
    expectRace(engine, "s[3]: write by lane 3 of warp 0 and read by other lanes", 1, read, write);
    assertThat(check(engine, read, "sync_warp()", write)).isEmpty();
  }

  @Test
  void oneLaneGivesToABulkStoreWhatTheOthersWrote() {
    String text =
        """
        kernel k(y: f32[8, 32]) grid(bx = 1) block(t = 32) [arch = "sm_90a"] {
          alloc s: f32[1, 32] shared align 128
          s[0, t] = 1.0f32
          fence.proxy.async()
          sync_warp()
          if t == 0 {
            bulk.store.2d(&y[0, 0], &s[0, 0], 1, 32)
            bulk.commit()
            bulk.wait(0)
          }
        }
        """;
    assertThat(bulkStore(text)).isEmpty();
    List<Finding> findings = bulkStore(KernelTexts.replaced(text, "  sync_warp()\n", ""));
    assertThat(findings.getFirst().kind()).isEqualTo(Finding.Kind.RACE);
    assertThat(findings.getFirst().message())
        .contains("s[0, 1]: read by lane 0 of warp 0 and write by lane 1")
        .contains("bulk.store.2d");
  }

  private static List<Finding> bulkStore(String text) {
    Kernel kernel = KernelTexts.parse(text);
    return new GridInterpreter(kernel, GridOptions.DEFAULT)
        .check(Arguments.random(kernel.params(), SEED));
  }

  @ParameterizedTest
  @ValueSource(strings = {"mbarrier.arrive(&b[0])", "if t < 32 {\n  mbarrier.arrive(&b[0])\n  }"})
  void lanesThatAllArriveAndWaitNeedNoOtherBarrier(String arrival) {
    for (GridOptions.Engine engine : GridOptions.Engine.values()) {
      assertThat(
              check(
                  engine,
                  "s[t] = 1.0f32",
                  arrival,
                  "mbarrier.wait(&b[0], 0)",
                  "y[0, t] = s[31 - t]"))
          .isEmpty();
    }
  }

  /** Warp 0 fills, warp 1 reads; ARRIVALS and what stands before and behind them vary. */
  private static String handOver(int arrivals, String announce, String await) {
    return """
    kernel k(y: f32[64], x: f32[64]) grid(bx = 1) block(t = 64) [arch = "sm_90a"] {
      alloc s: f32[32] shared
      alloc free: mbarrier[1] shared
      alloc full: mbarrier[1] shared
      if t == 0 {
        mbarrier.init(&full[0], ARRIVALS)
        mbarrier.init(&free[0], ARRIVALS)
        fence.mbarrier_init()
      }
      sync_threads()
      if t < 32 {
        for i in 2 {
          if i > 0 {
            mbarrier.wait(&free[0], 0)
          }
          s[t] = x[t + i]
          ANNOUNCE(&full[0])
        }
      } else {
        for i in 2 {
          AWAIT(&full[0], i)
          y[t - 32 + i] = s[63 - t]
          ANNOUNCE(&free[0])
        }
      }
    }
    """
        .replace("ARRIVALS", Integer.toString(arrivals))
        .replace("ANNOUNCE(&full[0])", announce.replace("BARRIER", "full"))
        .replace("ANNOUNCE(&free[0])", announce.replace("BARRIER", "free"))
        .replace("AWAIT(&full[0], i)", await);
  }

  @Test
  void anArrivalSpeaksForItsLaneOnly() {
    String wait = "mbarrier.wait(&full[0], i)";
    assertThat(Checked.check(handOver(32, "mbarrier.arrive(&BARRIER[0])", wait))).isEmpty();
    String one = "if t % 32 == 0 {\n mbarrier.arrive(&BARRIER[0])\n}";
    assertThat(Checked.check(handOver(1, "sync_warp()\n" + one, wait))).isEmpty();
    Checked.expect(
        Checked.check(handOver(1, one, wait)),
        Finding.Kind.RACE,
        "s[31]: read by warp 1 and write by warp 0");
    // The last one to arrive has what he wrote himself seen, not what the others wrote later.
    String half = "if t % 32 < 16 {\n mbarrier.arrive(&BARRIER[0])\n}";
    Checked.expect(
        Checked.check(handOver(16, half, wait)),
        Finding.Kind.RACE,
        "s[31]: read by warp 1 and write by warp 0");
    // Full with a barrier of the warp, free without: lanes may still read.
    String text = handOver(1, "sync_warp()\n" + one, wait);
    int last = text.lastIndexOf("sync_warp()");
    Checked.expect(
        Checked.check(text.substring(0, last) + text.substring(last + "sync_warp()".length())),
        Finding.Kind.RACE,
        "write by warp 0 and read by warp 1");
  }

  @Test
  void aWaitLetsItsLaneKnowOnly() {
    String announce = "sync_warp()\nif t % 32 == 0 {\n mbarrier.arrive(&BARRIER[0])\n}";
    String one = "if t % 32 == 0 {\n mbarrier.wait(&full[0], i)\n}";
    assertThat(Checked.check(handOver(1, announce, one + "\nsync_warp()"))).isEmpty();
    Checked.expect(
        Checked.check(handOver(1, announce, one)),
        Finding.Kind.RACE,
        "s[30]: read by warp 1 and write by warp 0");
  }

  @Test
  void aRelaxedBarrierOfAClusterOrdersNoLanes() {
    String text =
        """
        kernel k(y: f32[64]) grid(bx = 2) block(t = 32) [arch = "sm_90a", cluster = 2] {
          alloc s: f32[32] shared
          s[t] = 1.0f32
          cluster.sync()
          y[bx * 32 + t] = s[31 - t]
        }
        """;
    assertThat(Checked.check(text)).isEmpty();
    Checked.expect(
        Checked.check(KernelTexts.replaced(text, "sync()", "sync.relaxed()")),
        Finding.Kind.RACE,
        "s[31]: read by lane 0 of warp 0 and write by lane 31");
  }

  @Test
  void aCounterSpeaksForItsLaneOnly() {
    String text =
        """
        kernel k(x: f32[32], y: f32[32], ready: u32[1]) grid(bx = 2) block(t = 32) [arch = "sm_90a"] {
          if bx == 0 {
            x[t] = 1.0f32
            sync_warp()
            if t == 0 {
              red.add.release.u32(&ready[0], 1u32)
            }
          } else {
            if t == 0 {
              while load.acquire.u32(&ready[0]) < 1u32 {
              }
            }
            sync_warp()
            y[t] = x[t]
          }
        }
        """;
    assertThat(counters(text)).isEmpty();
    for (int from = 0, at; (at = text.indexOf("sync_warp()", from)) >= 0; from = at + 1) {
      Checked.expect(
          counters(text.substring(0, at) + text.substring(at + "sync_warp()".length())),
          Finding.Kind.RACE,
          "x[1]: read by warp 0 and write by warp 0 of block (0, 0, 0)");
    }
  }

  private static List<Finding> counters(String text) {
    Kernel kernel = KernelTexts.parse(text);
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    arguments.get("ready").fill(0);
    return Checked.check(kernel, arguments);
  }
}
