package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.DType;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.UserError;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Mistakes planted in the kernels of the repository: each is reported, as one of the right kinds.
 */
class SeededMistakesTest {
  private static final long SEED = Long.getLong("seed", 79);

  /** What is replaced, and what the findings may be. */
  private record Mistake(String name, String what, String by, Finding.Kind... kinds) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Mistake> inTheHopperGemm() {
    return Stream.of(
        new Mistake(
            "wait for a full stage dropped",
            "mbarrier.wait(&full[stage], it / 4 % 2)",
            "",
            Finding.Kind.UNINITIALISED,
            Finding.Kind.RACE),
        new Mistake(
            "wait for an empty stage dropped",
            "mbarrier.wait(&empty[stage], it / 4 % 2 ^ 1)",
            "",
            Finding.Kind.RACE,
            Finding.Kind.BARRIER),
        new Mistake(
            "parity of full stages wrong",
            "mbarrier.wait(&full[stage], it / 4 % 2)",
            "mbarrier.wait(&full[stage], it / 4 % 2 ^ 1)",
            Finding.Kind.UNINITIALISED,
            Finding.Kind.RACE),
        new Mistake(
            "parity of empty stages wrong", "it / 4 % 2 ^ 1", "it / 4 % 2", Finding.Kind.DEADLOCK),
        new Mistake(
            "parity does not change with the round",
            "mbarrier.wait(&full[stage], it / 4 % 2)",
            "mbarrier.wait(&full[stage], 0)",
            Finding.Kind.RACE,
            Finding.Kind.BARRIER,
            Finding.Kind.DEADLOCK),
        new Mistake(
            "too few bytes expected",
            "49152",
            "32768",
            Finding.Kind.BARRIER,
            Finding.Kind.RACE,
            Finding.Kind.UNINITIALISED),
        new Mistake("too many bytes expected", "49152", "49168", Finding.Kind.DEADLOCK),
        new Mistake("proxy fence dropped", "fence.proxy.async()", "", Finding.Kind.PROXY),
        new Mistake(
            "proxy fence by one thread only",
            "        fence.proxy.async()",
            "        if thread == 0 {\n          fence.proxy.async()\n        }",
            Finding.Kind.PROXY),
        new Mistake(
            "filled stage off by one",
            "bulk.load.2d(&As[stage,",
            "bulk.load.2d(&As[(stage + 1) % 4,",
            Finding.Kind.RACE,
            Finding.Kind.UNINITIALISED),
        new Mistake(
            "multiplied stage off by one",
            "&As[stage, group",
            "&As[(stage + 1) % 4, group",
            Finding.Kind.RACE,
            Finding.Kind.UNINITIALISED),
        new Mistake(
            "released stage off by one",
            "&empty[(it + 3) % 4]",
            "&empty[it % 4]",
            Finding.Kind.RACE,
            Finding.Kind.DEADLOCK),
        new Mistake(
            "last cluster barrier dropped",
            "  // No block may leave while another still writes to its shared memory or its barriers.\n"
                + "  cluster.sync()",
            "",
            Finding.Kind.BARRIER,
            Finding.Kind.INTRINSIC),
        new Mistake(
            "first cluster barrier dropped",
            "  cluster.sync()\n  if tid < 128",
            "  if tid < 128",
            Finding.Kind.BARRIER),
        new Mistake(
            "fence of fresh barriers dropped", "fence.mbarrier_init()", "", Finding.Kind.BARRIER),
        new Mistake(
            "stage released before its products",
            "wgmma.wait(1)",
            "wgmma.wait(2)",
            Finding.Kind.RACE),
        new Mistake(
            "registers read before their products", "      wgmma.wait(0)\n", "", Finding.Kind.RACE),
        new Mistake("register fence dropped", "wgmma.fence()", "", Finding.Kind.INTRINSIC),
        new Mistake("products not committed", "wgmma.commit()", "", Finding.Kind.RACE),
        new Mistake("first product adds", "i32(k + kk > 0)", "1", Finding.Kind.UNINITIALISED),
        new Mistake(
            "slot rewritten while stored",
            "bulk.wait.read(1)",
            "bulk.wait.read(2)",
            Finding.Kind.RACE),
        new Mistake(
            "barrier after the wait for a slot dropped",
            "        bar.sync(1 + group, 128)\n        unroll s in 4",
            "        unroll s in 4",
            Finding.Kind.RACE),
        new Mistake(
            "barrier before the store dropped",
            "        bar.sync(1 + group, 128)\n        if thread == 0",
            "        if thread == 0",
            Finding.Kind.RACE,
            Finding.Kind.UNINITIALISED),
        new Mistake(
            "block ends while it stores", "bulk.wait(0)", "bulk.wait(2)", Finding.Kind.BARRIER),
        new Mistake(
            "stores not committed", "bulk.commit()", "", Finding.Kind.RACE, Finding.Kind.BARRIER),
        new Mistake(
            "too few arrivals",
            "&empty[s], 4",
            "&empty[s], 3",
            Finding.Kind.RACE,
            Finding.Kind.BARRIER),
        new Mistake("too many arrivals", "&empty[s], 4", "&empty[s], 5", Finding.Kind.DEADLOCK),
        new Mistake("more registers than there are", "inc(232)", "inc(240)", Finding.Kind.DEADLOCK),
        new Mistake("registers not given back", "setmaxnreg.dec(40)", "", Finding.Kind.DEADLOCK),
        new Mistake(
            "the other block gets nothing",
            "128, 64, 3)",
            "128, 64, 1)",
            Finding.Kind.DEADLOCK,
            Finding.Kind.INTRINSIC,
            Finding.Kind.BARRIER),
        new Mistake(
            "a block that is not there", "128, 64, 3)", "128, 64, 7)", Finding.Kind.INTRINSIC),
        new Mistake(
            "both halves to one place",
            "&Bs[stage, rank * 128, 0]",
            "&Bs[stage, 0, 0]",
            Finding.Kind.RACE,
            Finding.Kind.UNINITIALISED),
        new Mistake(
            "only the own block released",
            "mbarrier.arrive.cluster(&empty[(it + 3) % 4], thread)",
            "mbarrier.arrive(&empty[(it + 3) % 4])",
            Finding.Kind.RACE),
        new Mistake(
            "named barrier for too many",
            "bar.sync(1 + group, 128)",
            "bar.sync(1 + group, 256)",
            Finding.Kind.DEADLOCK),
        new Mistake(
            "named barriers of the groups mixed",
            "bar.sync(1 + group, 128)",
            "bar.sync(1, 128)",
            Finding.Kind.RACE,
            Finding.Kind.BARRIER,
            Finding.Kind.DEADLOCK),
        new Mistake(
            "two stores to one place",
            "&C[m, n + c * 64]",
            "&C[m, n + c / 2 * 64]",
            Finding.Kind.RACE),
        new Mistake(
            "barrier made twice",
            "      mbarrier.init(&full[s], 1)\n",
            "      mbarrier.init(&full[s], 1)\n      mbarrier.init(&full[s], 1)\n",
            Finding.Kind.BARRIER),
        new Mistake("wrong tile of A", "&A[m, k * 64]", "&A[m + 128, k * 64]"),
        new Mistake(
            "K step left out",
            "for k in steps {\n          let it",
            "for k in steps - 1 {\n          let it",
            Finding.Kind.DEADLOCK,
            Finding.Kind.BARRIER));
  }

  @ParameterizedTest
  @MethodSource
  void inTheHopperGemm(Mistake mistake) {
    Kernel kernel =
        KernelTexts.parse(KernelTexts.replaced(HopperGemmTest.text(1), mistake.what, mistake.by));
    int found = 0;
    for (GridOptions options : KernelFilesTest.ORDERS) {
      Arguments arguments = HopperGemmTest.arguments(kernel, 512, 256, 320);
      List<Finding> findings = new GridInterpreter(kernel, options).check(arguments);
      if (mistake.kinds.length == 0) {
        NdArray reference = KernelTexts.product(arguments.get("A"), arguments.get("B"));
        assertThat(findings).isEmpty();
        assertThat(Verification.compare(arguments.get("C").to(DType.F64), reference).within(4e-3))
            .isFalse();
      } else {
        found += check(mistake, options, findings);
      }
    }
    // Whose warps meet at a barrier of two groups depends on the order.
    int least = mistake.kinds.length == 0 ? 0 : mistake.name.contains("mixed") ? 1 : 3;
    assertThat(found).as("orders of 3 that find '%s'", mistake).isGreaterThanOrEqualTo(least);
  }

  /** One if something was found, which must be of the right kind. */
  private static int check(Mistake mistake, GridOptions options, List<Finding> findings) {
    if (findings.isEmpty()) {
      return 0;
    }
    assertThat(findings.getFirst().kind())
        .as("%s, %s: %s", mistake, options, findings)
        .isIn((Object[]) mistake.kinds);
    assertThat(findings.getFirst().line()).as("line of %s", mistake).isPositive();
    return 1;
  }

  @Test
  void aSwizzleThatTheUnitsDoNotKnowIsRefused() {
    String text =
        KernelTexts.replaced(
            HopperGemmTest.text(1),
            "alloc Cs: bf16[4, 64, 64] shared layout (4:4096),(64:64),(64:1)^<3,3,3>",
            "alloc Cs: bf16[4, 64, 64] shared layout (4:4096),(64:64),(64:1)^<2,3,3>");
    Kernel kernel = KernelTexts.parse(text);
    assertThatThrownBy(() -> new GridInterpreter(kernel, GridOptions.DEFAULT))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("Cs has the swizzle <2,3,3>");
  }

  static Stream<Mistake> inTheTwoProducts() {
    return Stream.of(
        new Mistake(
            "H read before it is there",
            "while i32(load.acquire.u32(&counters[1 + part]) - target) < 0 {\n          }",
            "",
            Finding.Kind.RACE),
        new Mistake(
            "proxy fences of H dropped", "fence.proxy.async.global()", "", Finding.Kind.PROXY),
        new Mistake(
            "H published before all have written",
            "        fence.proxy.async.global()\n        bar.sync(1, 128)",
            "        fence.proxy.async.global()",
            Finding.Kind.RACE,
            Finding.Kind.PROXY),
        new Mistake(
            "H never published",
            "red.add.release.u32(&counters[1 +",
            "red.add.release.u32(&counters[6 + 0 *",
            Finding.Kind.DEADLOCK,
            Finding.Kind.OUT_OF_BOUNDS,
            Finding.Kind.RACE),
        new Mistake(
            "stage released without its products",
            "mbarrier.arrive(&empty[(it[0] + k + 4) % 5])",
            "mbarrier.arrive(&empty[(it[0] + k) % 5])",
            Finding.Kind.RACE,
            Finding.Kind.BARRIER));
  }

  @ParameterizedTest
  @MethodSource
  void inTheTwoProducts(Mistake mistake) {
    Kernel kernel =
        KernelTexts.parse(KernelTexts.replaced(KernelFilesTest.ffn(4), mistake.what, mistake.by));
    int found = 0;
    for (GridOptions options : KernelFilesTest.ORDERS) {
      Arguments arguments =
          Arguments.random(
              kernel.params(), SEED, Map.of("M", 16, "K1", 520, "N1", 1024, "N2", 136));
      arguments.get("counters").fill(0);
      List<Finding> findings =
          new GridInterpreter(kernel, options.withBlocks(options.blocks(), 4)).check(arguments);
      found += check(mistake, options, findings);
    }
    assertThat(found).as("orders of 3 that find '%s'", mistake).isPositive();
  }

  static Stream<Mistake> inTheAmpereGemm() {
    return Stream.of(
        new Mistake(
            "copies not waited for",
            "cp.async.wait(1)",
            "cp.async.wait(2)",
            Finding.Kind.RACE,
            Finding.Kind.UNINITIALISED),
        new Mistake(
            "barrier dropped",
            "    sync_threads()\n",
            "",
            Finding.Kind.RACE,
            Finding.Kind.UNINITIALISED),
        new Mistake(
            "filled stage off by one",
            "let filled: i32 = (step + 2) % 3",
            "let filled: i32 = (step + 3) % 3",
            Finding.Kind.RACE));
  }

  @ParameterizedTest
  @MethodSource
  void inTheAmpereGemm(Mistake mistake) {
    Kernel kernel =
        KernelTexts.parse(
            KernelTexts.replaced(KernelTexts.file("gemm_bf16_sm80"), mistake.what, mistake.by));
    for (GridOptions options : KernelFilesTest.ORDERS) {
      Arguments arguments =
          Arguments.random(kernel.params(), SEED, Map.of("M", 128, "N", 128, "K", 320, "T", 1));
      arguments.get("order").fill(0);
      List<Finding> findings = new GridInterpreter(kernel, options).check(arguments);
      assertThat(check(mistake, options, findings)).as("%s, %s", mistake, options).isOne();
    }
  }
}
