package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each unit beside the threads in a kernel of a few lines, used rightly and wrongly. */
class HopperUnitsTest {
  private static final long SEED = Long.getLong("seed", 80);

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

  private static List<Finding> check(Kernel kernel, Arguments arguments) {
    return new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments);
  }

  private static List<Finding> check(String text) {
    Kernel kernel = KernelTexts.parse(text);
    return check(kernel, Arguments.random(kernel.params(), SEED));
  }

  /** A kernel of one block with barriers, made and ready, and these statements. */
  private static String withBarriers(int arrivals, String... statements) {
    return """
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
    """
        .formatted(arrivals, String.join("\n  ", statements));
  }

  private static void expect(List<Finding> findings, Finding.Kind kind, String text) {
    assertThat(findings).isNotEmpty();
    assertThat(findings.getFirst().kind()).as("%s", findings).isEqualTo(kind);
    assertThat(findings.getFirst().message()).contains(text);
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
        Finding.Kind.INTRINSIC,
        "block (0, 0, 0) of the cluster has ended");
    String oneWay =
        KernelTexts.replaced(
            early,
            "mbarrier.arrive.cluster(&b[0], 1 - rank)\n    mbarrier.wait(&b[0], 0)",
            "if rank == 0 {\n mbarrier.arrive.cluster(&b[0], 1)\n }");
    expect(
        check(oneWay),
        Finding.Kind.BARRIER,
        "may end before an arrival by warp 0 of block (0, 0, 0)");
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
    expect(check(early), Finding.Kind.INTRINSIC, "of the cluster has ended");
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
