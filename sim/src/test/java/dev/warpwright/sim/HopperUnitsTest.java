package dev.warpwright.sim;

import static dev.warpwright.sim.Checked.SEED;
import static dev.warpwright.sim.Checked.check;
import static dev.warpwright.sim.Checked.expect;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.Finding;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each unit beside the threads in a kernel of a few lines, used rightly and wrongly. */
class HopperUnitsTest {
  /** Copies a tile of X through shared memory to Y, whose rows and columns may end inside it. */
  private static final String COPY =
      """
      kernel copy(X: f32[M, 12], Y: f32[P, 8], M: i32 in 1..64, P: i32 in 1..64, row: i32, col: i32)
          grid(bx = 1) block(tid = 64) [arch = "sm_90a"] {
        alloc tile: f32[8, 8] shared layout (8:8),(8:1)^<1,2,3> align 256
        alloc full: mbarrier[1] shared
        if tid == 0 {
          mbarrier.init(&full[0], 1)
          fence.mbarrier_init()
        }
        sync_threads()
        if tid == 0 {
          mbarrier.arrive.expect_tx(&full[0], 256)
          bulk.load.2d(&tile[0, 0], &X[row, col], &full[0], 8, 8)
        }
        mbarrier.wait(&full[0], 0)
        tile[tid / 8, tid % 8] = tile[tid / 8, tid % 8] * 2.0f32
        fence.proxy.async()
        sync_threads()
        if tid == 0 {
          bulk.store.2d(&Y[2, 4], &tile[0, 0], 8, 8)
          bulk.commit()
          bulk.wait.read(0)
        }
      }
      """;

  /** A kernel of one block with barriers, made and ready, and these statements. */
  private static String withBarriers(int arrivals, String... statements) {
    return String.format(
        Locale.ROOT,
        """
        kernel k(X: f32[64, 64], out: u32[64]) grid(bx = 1) block(tid = 64) [arch = "sm_90a"] {
          alloc b: mbarrier[2] shared
          alloc s: f32[64] shared
          if tid == 0 {
            for i in 2 {
              mbarrier.init(&b[i], %d)
            }
            fence.mbarrier_init()
          }
          sync_threads()
          %s
        }
        """,
        arrivals,
        String.join("\n  ", statements));
  }

  @ParameterizedTest
  @CsvSource({"8, 0, 0", "5, -2, -3", "9, 6, 8"})
  void copiesFillWithZerosAndWriteWhatIsInside(int m, int row, int col) {
    Kernel kernel = KernelTexts.parse(COPY);
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", m, "P", 6, "row", row, "col", col));
    NdArray x = arguments.get("X");
    NdArray y = arguments.get("Y");
    y.fill(7);
    assertThat(check(kernel, arguments)).isEmpty();
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 8; j++) {
        int r = row + i - 2;
        int c = col + j - 4;
        double source = r < 0 || r >= m || c < 0 || c >= 12 ? 0 : x.get(r, c);
        assertThat(y.get(i, j)).as("%d, %d", i, j).isEqualTo(i < 2 || j < 4 ? 7 : source * 2);
      }
    }
  }

  /** Rows of 12 elements one behind the other: as the memory has them, whatever the tile's rows. */
  @Test
  void linearCopiesMoveWhatFollowsInMemory() {
    String text = KernelTexts.replaced(COPY, "bulk.load.2d(&tile", "bulk.load.linear(&tile");
    text = KernelTexts.replaced(text, " layout (8:8),(8:1)^<1,2,3> align 256", " align 128");
    Kernel kernel = KernelTexts.parse(text);
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", 9, "P", 6, "row", 2, "col", 4));
    assertThat(check(kernel, arguments)).isEmpty();
    for (int i = 2; i < 6; i++) {
      for (int j = 4; j < 8; j++) {
        int at = 2 * 12 + 4 + (i - 2) * 8 + j - 4;
        assertThat(arguments.get("Y").get(i, j))
            .as("%d, %d", i, j)
            .isEqualTo(arguments.get("X").element(at) * 2);
      }
    }
    Map<String, Integer> far = Map.of("M", 9, "P", 6, "row", 5, "col", 0);
    expect(
        check(kernel, Arguments.random(kernel.params(), SEED, far)),
        Finding.Kind.OUT_OF_BOUNDS,
        "a copy of 64 elements from there on");
    Map<String, Integer> odd = Map.of("M", 9, "P", 6, "row", 0, "col", 2);
    expect(
        check(kernel, Arguments.random(kernel.params(), SEED, odd)),
        Finding.Kind.MISALIGNED,
        "linear TMA copies need a multiple of 16 bytes");
  }

  @Test
  void tilesOfCopiesMustLieAt128Bytes() {
    String text =
        KernelTexts.replaced(
            COPY, "tile: f32[8, 8] shared layout (8:8)", "tile: f32[16, 8] shared layout (16:8)");
    text = KernelTexts.replaced(text, "load.2d(&tile[0, 0]", "load.2d(&tile[2, 0]");
    Kernel kernel = KernelTexts.parse(text);
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", 9, "P", 6, "row", 0, "col", 0));
    expect(check(kernel, arguments), Finding.Kind.MISALIGNED, "multiple of 128 bytes");
  }

  @Test
  void tilesMustFitTheBuffer() {
    Kernel kernel =
        KernelTexts.parse(KernelTexts.replaced(COPY, "load.2d(&tile[0, 0]", "load.2d(&tile[8, 0]"));
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", 9, "P", 6, "row", 0, "col", 0));
    expect(check(kernel, arguments), Finding.Kind.OUT_OF_BOUNDS, "tile[8, 0]");
  }

  @Test
  void aStoreMustNotBeginBeforeTheMatrix() {
    Kernel kernel =
        KernelTexts.parse(KernelTexts.replaced(COPY, "store.2d(&Y[2, 4]", "store.2d(&Y[row, 4]"));
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", 9, "P", 6, "row", -1, "col", 0));
    expect(check(kernel, arguments), Finding.Kind.OUT_OF_BOUNDS, "must not begin before");
  }

  @Test
  void rowsOfAMatrixNeedAPitchOf16Bytes() {
    Kernel kernel = KernelTexts.parse(KernelTexts.replaced(COPY, "X: f32[M, 12]", "X: f32[M, 10]"));
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", 9, "P", 6, "row", 0, "col", 0));
    expect(check(kernel, arguments), Finding.Kind.MISALIGNED, "multiple of 16 bytes");
  }

  @Test
  void aBulkStoreWritesPastRowsThatAreNoWhole16Bytes() {
    Kernel kernel =
        KernelTexts.parse(
            KernelTexts.replaced(COPY, "Y: f32[P, 8]", "Y: f32[6, 7] layout (6:8),(7:1)"));
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", 9, "P", 6, "row", 0, "col", 0));
    expect(check(kernel, arguments), Finding.Kind.OUT_OF_BOUNDS, "whole 16 bytes, rows hold 28");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bulk.wait.read(0)", "bulk.commit()"})
  void aBlockMustNotEndWhileItsTileIsRead(String dropped) {
    Kernel kernel = KernelTexts.parse(KernelTexts.replaced(COPY, dropped, ""));
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", 9, "P", 6, "row", 0, "col", 0));
    expect(check(kernel, arguments), Finding.Kind.BARRIER, "a bulk store by thread 0 is over");
  }

  @Test
  void barriersOrderWhatWasWrittenBefore() {
    String ordered =
        withBarriers(
            32,
            "if tid < 32 {\n s[tid] = 1.0f32\n mbarrier.arrive(&b[0])\n } else {",
            "mbarrier.wait(&b[0], 0)\n out[tid] = u32(s[tid - 32])\n }");
    assertThat(check(ordered)).isEmpty();
    String late =
        KernelTexts.replaced(
            ordered,
            "s[tid] = 1.0f32\n mbarrier.arrive(&b[0])",
            "mbarrier.arrive(&b[0])\n s[tid] = 1.0f32");
    expect(check(late), Finding.Kind.RACE, "s[0]");
  }

  @Test
  void anArrivalOfAPhaseThatIsFullIsAnError() {
    expect(
        check(withBarriers(2, "if tid < 3 {\n mbarrier.arrive(&b[0])\n }")),
        Finding.Kind.BARRIER,
        "b[0]: arrives again though no one has waited for the end of phase 0");
    expect(
        check(
            withBarriers(
                1,
                "if tid == 0 {\n"
                    + " mbarrier.arrive.expect_tx(&b[0], 16)\n"
                    + " mbarrier.arrive(&b[0])\n"
                    + " }")),
        Finding.Kind.BARRIER,
        "more than 1 arrivals in phase 0");
  }

  @Test
  void aWaitTwoPhasesLateIsAnError() {
    String text =
        withBarriers(
            1,
            "if tid < 32 {",
            "for i in 2 {\n if tid == 0 {\n mbarrier.arrive(&b[0])\n }",
            "mbarrier.wait(&b[0], i % 2)\n }\n }",
            "bar.sync(1, 64)",
            "if tid >= 32 {\n mbarrier.wait(&b[0], 0)\n }");
    // The barrier in between lets the second warp know of both phases: it waits for the third.
    expect(
        check(text),
        Finding.Kind.DEADLOCK,
        "parity 0 of b[0], whose phase 2 lacks 1 of 1 arrivals");
    String alone = KernelTexts.replaced(text, "bar.sync(1, 64)", "");
    Kernel kernel = KernelTexts.parse(alone);
    expect(
        check(kernel, Arguments.random(kernel.params(), SEED)),
        Finding.Kind.BARRIER,
        "waits for phase 0, but phase 2 is under way");
  }

  @Test
  void barriersMustBeMadeBeforeTheyAreUsed() {
    String text = withBarriers(1, "if tid == 32 {\n mbarrier.arrive(&b[0])\n }");
    assertThat(check(text)).isEmpty();
    expect(
        check(KernelTexts.replaced(text, "  sync_threads()\n", "")),
        Finding.Kind.BARRIER,
        "no barrier between its mbarrier.init and this");
    expect(
        check(KernelTexts.replaced(text, "mbarrier.init(&b[i], 1)", "")),
        Finding.Kind.BARRIER,
        "never made");
    expect(
        check(KernelTexts.replaced(text, "for i in 2", "for i in 3")),
        Finding.Kind.OUT_OF_BOUNDS,
        "b[2]");
  }

  @Test
  void parityIsZeroOrOne() {
    expect(check(withBarriers(1, "mbarrier.wait(&b[0], 2)")), Finding.Kind.BARRIER, "parity is 2");
  }

  @Test
  void aDeadlockTellsWhoWaitsForWhat() {
    expect(
        check(
            withBarriers(
                3, "if tid == 0 {\n mbarrier.arrive(&b[1])\n }\n mbarrier.wait(&b[1], 0)")),
        Finding.Kind.DEADLOCK,
        "warps [0, 1] of block (0, 0, 0) wait in line");
  }

  @Test
  void namedBarriersOrderTheirWarps() {
    String text =
        withBarriers(1, "s[tid] = 1.0f32\n bar.sync(1, 64)\n out[tid] = u32(s[63 - tid])");
    assertThat(check(text)).isEmpty();
    expect(
        check(KernelTexts.replaced(text, "bar.sync(1, 64)", "bar.sync(1, 32)")),
        Finding.Kind.UNINITIALISED,
        "s[63]");
    expect(
        check(KernelTexts.replaced(text, "bar.sync(1, 64)", "bar.sync(0, 64)")),
        Finding.Kind.BARRIER,
        "there is no barrier 0");
    expect(
        check(KernelTexts.replaced(text, "bar.sync(1, 64)", "bar.sync(1, 33)")),
        Finding.Kind.BARRIER,
        "no whole warps");
    expect(
        check(KernelTexts.replaced(text, "bar.sync(1, 64)", "bar.sync(1, 96)")),
        Finding.Kind.DEADLOCK,
        "where 64 of 96 threads are");
    expect(
        check(KernelTexts.replaced(text, "bar.sync(1, 64)", "bar.sync(1, 64 + tid / 32 * 32)")),
        Finding.Kind.BARRIER,
        "where warp 0 waits");
  }

  private static final String REGISTERS =
      """
      kernel k(out: u32[8]) grid(bx = 1) block(tid = 384) [arch = "sm_90a", minBlocks = 1] {
        if tid < 128 {
          setmaxnreg.dec(40)
        } else {
          setmaxnreg.inc(232)
        }
      }
      """;

  @Test
  void registersAreShared() {
    assertThat(check(REGISTERS)).isEmpty();
    expect(
        check(KernelTexts.replaced(REGISTERS, "inc(232)", "inc(240)")),
        Finding.Kind.DEADLOCK,
        "240 registers for each thread, which has 168 (at entry 168)");
    expect(
        check(KernelTexts.replaced(REGISTERS, "dec(40)", "dec(176)")),
        Finding.Kind.INTRINSIC,
        "have 168 registers already");
    expect(
        check(KernelTexts.replaced(REGISTERS, "dec(40)", "dec(44)")),
        Finding.Kind.INTRINSIC,
        "multiples of 8");
    expect(
        check(KernelTexts.replaced(REGISTERS, ", minBlocks = 1", "")),
        Finding.Kind.INTRINSIC,
        "ignored unless");
  }
}
