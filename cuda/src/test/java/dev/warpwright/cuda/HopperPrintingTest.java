package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.CacheHints;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Drives;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Unit;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every intrinsic that drives a unit of its own, in a kernel of its own. */
class HopperPrintingTest {
  /** A call of each that takes operands; the others are called without. */
  private static final Map<TargetIntrinsic, String> CALLS =
      Map.ofEntries(
          Map.entry(HopperIntrinsics.MBARRIER_INIT, "mbarrier.init(&full[tid], 1)"),
          Map.entry(HopperIntrinsics.MBARRIER_ARRIVE, "mbarrier.arrive(&full[1])"),
          Map.entry(
              HopperIntrinsics.MBARRIER_ARRIVE_EXPECT_TX, "mbarrier.arrive.expect_tx(&full[1], n)"),
          Map.entry(
              HopperIntrinsics.MBARRIER_ARRIVE_CLUSTER, "mbarrier.arrive.cluster(&full[1], n)"),
          Map.entry(HopperIntrinsics.MBARRIER_WAIT, "mbarrier.wait(&full[1], n % 2)"),
          Map.entry(HopperIntrinsics.CLUSTER_RANK, "Count[1] = u32(cluster.rank())"),
          Map.entry(
              HopperIntrinsics.CLUSTER_LOAD,
              "Count[1] = u32(cluster.load.f32(&exchanged[tid % 32], 1 - n % 2))"),
          Map.entry(
              HopperIntrinsics.CLUSTER_STORE,
              "cluster.store.f32(&exchanged[tid % 32], 1 - n % 2, 2.0f32)"),
          Map.entry(HopperIntrinsics.BAR_SYNC, "bar.sync(n, 128)"),
          Map.entry(HopperIntrinsics.SETMAXNREG_INC, "setmaxnreg.inc(240)"),
          Map.entry(HopperIntrinsics.SETMAXNREG_DEC, "setmaxnreg.dec(40)"),
          Map.entry(
              HopperIntrinsics.BULK_LOAD,
              "bulk.load.2d(&As[n, 64, 0], &A[n * 64, 128], &full[1], 64, 64)"),
          Map.entry(
              HopperIntrinsics.BULK_LOAD_MULTICAST,
              "bulk.load.2d.multicast(&As[n, 64, 0], &A[n * 64, 128], &full[1], 64, 64, 3)"),
          Map.entry(
              HopperIntrinsics.BULK_STORE, "bulk.store.2d(&A[n * 64, 128], &As[n, 64, 0], 64, 64)"),
          Map.entry(
              HopperIntrinsics.BULK_LOAD_3D,
              "bulk.load.3d(&As[n, 64, 0], &P[n, n * 64, 128], &full[1], 64, 64)"),
          Map.entry(
              HopperIntrinsics.BULK_LOAD_3D_MULTICAST,
              "bulk.load.3d.multicast(&As[n, 64, 0], &P[n, n * 64, 128], &full[1], 64, 64, 3)"),
          Map.entry(
              HopperIntrinsics.BULK_STORE_3D,
              "bulk.store.3d(&P[n, n * 64, 128], &As[n, 64, 0], 64, 64)"),
          Map.entry(
              HopperIntrinsics.BULK_LOAD_LINEAR,
              "bulk.load.linear(&As[n, 0, 0], &A[n * 64, 0], &full[1], 64, 64)"),
          Map.entry(HopperIntrinsics.BULK_WAIT, "bulk.wait(0)"),
          Map.entry(HopperIntrinsics.BULK_WAIT_READ, "bulk.wait.read(1)"),
          Map.entry(HopperIntrinsics.WGMMA_WAIT, "wgmma.wait(7)"),
          Map.entry(CacheHints.PREFETCH_L2, "prefetch.l2(&A[n * 64, 128])"),
          Map.entry(Intrinsics.GLOBAL_TIMER, "Count[1] = u32(global.timer())"),
          Map.entry(Intrinsics.SM_ID, "Count[1] = sm.id()"),
          Map.entry(
              CounterIntrinsics.ATOMIC_ADD, "Count[1] = atomic.add.acq_rel.u32(&Count[0], u32(n))"),
          Map.entry(
              CounterIntrinsics.ATOMIC_ADD_RELAXED,
              "Count[1] = atomic.add.relaxed.u32(&Count[0], u32(n))"),
          Map.entry(CounterIntrinsics.RED_RELEASE, "red.add.release.u32(&Count[0], u32(n))"),
          Map.entry(CounterIntrinsics.LOAD_ACQUIRE, "Count[1] = load.acquire.u32(&Count[0])"));

  /** Rows of 128 bytes: tiles of three stages, and panels of two. */
  private static String tiles(DType type, boolean panels) {
    int width = 128 / type.bytes();
    String rows =
        String.format(Locale.ROOT, "(%d:1)^<3,%d,3> align 1024", width, 4 - type.bytes() / 2);
    String tiles =
        String.format(
            Locale.ROOT,
            "alloc As: %s[3, 256, %d] shared layout (3:%d),(256:%d),%s",
            type,
            width,
            256 * width,
            width,
            rows);
    return panels
        ? tiles
            + String.format(
                Locale.ROOT,
                "; alloc Bs: %s[2, 4, 64, %d] shared layout (2:%d),(4:%d),(64:%d),%s",
                type,
                width,
                256 * width,
                64 * width,
                width,
                rows)
        : tiles;
  }

  private static final Set<Unit> ANYWHERE =
      Set.of(Unit.COUNTER, Unit.NAMED_BARRIER, Unit.CLOCK, Unit.CACHE);

  static Stream<TargetIntrinsic> intrinsics() {
    return Intrinsics.all().stream().filter(i -> i.effect() instanceof Drives);
  }

  private static boolean isAnywhere(TargetIntrinsic intrinsic) {
    return intrinsic.effect() instanceof Drives(Unit unit) && ANYWHERE.contains(unit);
  }

  private static Kernel kernel(TargetIntrinsic intrinsic) {
    WgmmaGemm product = HopperIntrinsics.wgmma(intrinsic);
    DType type = product == null ? DType.BF16 : product.input().dtype();
    String call = CALLS.getOrDefault(intrinsic, intrinsic.text() + "()");
    if (product != null) {
      int depth = product.depth();
      // A product between its fences, whose sums are used: else ptxas has remarks.
      call =
          String.format(
              Locale.ROOT,
              """
              alloc acc: %s[%d] local
              alloc held: u32[4, 4] local
                wgmma.fence()
                unroll k in 4 {
                  %s(&acc[0], %s, %s, i32(k > 0))
                }
                wgmma.commit()
                wgmma.wait(0)
                unroll i in %d {
                  F[i, tid] = %s
                }
              """,
              product.accumulators(),
              product.elements(),
              intrinsic.text(),
              product.fromRegisters()
                  ? "&held[k, 0]"
                  : product.mnMajorA()
                      ? String.format(Locale.ROOT, "&Bs[0, 0, k * %d, 0]", depth)
                      : String.format(Locale.ROOT, "&As[n, 64, k * %d]", depth),
              product.mnMajorB()
                  ? String.format(Locale.ROOT, "&Bs[0, 0, k * %d, 0]", depth)
                  : String.format(Locale.ROOT, "&As[0, 0, k * %d]", depth),
              product.elements(),
              product.accumulators() == DType.F32 ? "acc[i]" : "f32(acc[i])");
    }
    return new IrParser(Intrinsics::find)
        .kernel(
            "test",
            String.format(
                Locale.ROOT,
                """
                kernel k_%s(A: %s[M, 4096], P: %s[4, M, 4096], F: f32[128, 128], Count: u32[2], M: i32 in 1..512, n: i32 in 1..2)
                    grid(bx = 2) block(tid = 128) [%s] {
                  %s
                  alloc full: mbarrier[128] shared
                  alloc exchanged: f32[32] shared
                  %s
                }
                """,
                intrinsic.text().replace('.', '_'),
                type,
                type,
                isAnywhere(intrinsic) ? "minBlocks = 1" : "cluster = 2, minBlocks = 1",
                isAnywhere(intrinsic)
                    ? ""
                    : tiles(type, product != null && (product.mnMajorA() || product.mnMajorB())),
                call));
  }

  @ParameterizedTest
  @MethodSource("intrinsics")
  void isWellFormedAndPrintedOnlyWhereItExists(TargetIntrinsic intrinsic) {
    Kernel kernel = kernel(intrinsic);
    assertThat(Verifier.verify(kernel)).isEmpty();
    assertThat(CudaPrinter.print(kernel, GpuTarget.SM_90A))
        .contains(intrinsic.function() + (intrinsic.takesConstant() ? "<" : "("));
    if (isAnywhere(intrinsic)) {
      assertThat(CudaPrinter.print(kernel, GpuTarget.SM_80)).contains(intrinsic.function() + "(");
    } else {
      assertThatThrownBy(() -> CudaPrinter.print(kernel, GpuTarget.SM_80))
          .isInstanceOf(UserError.class)
          .hasMessageMatching("(.* needs sm_90a|.* clusters, which need sm_90 or newer).*")
          .hasMessageEndingWith(", the target is sm_80")
          .hasMessageNotContaining("\n");
    }
  }

  @Test
  void theHeadSaysHowToMakeTheMaps() {
    String text = CudaPrinter.print(kernel(HopperIntrinsics.BULK_STORE), GpuTarget.SM_90A);
    assertThat(text)
        .contains(
            """
            // Grid 2 in clusters of 2, block 128, 99456 bytes of dynamic shared memory.
            // a_map cuts A into boxes of 64 rows of 64, swizzled over 128 bytes.
            """)
        .contains("const __grid_constant__ TensorMap a_map)")
        .as("a bulk store writes to its matrix")
        .contains("    bf16* A,\n");
    assertThat(CudaPrinter.print(kernel(HopperIntrinsics.BULK_LOAD), GpuTarget.SM_90A))
        .contains("const bf16* __restrict__ A,\n");
    assertThat(CudaPrinter.print(kernel(HopperIntrinsics.BULK_LOAD_LINEAR), GpuTarget.SM_90A))
        .contains(", 8192, &full[1]);")
        .doesNotContain("a_map");
  }

  @Test
  void operandsOfProductsArePlainWhereTheSwizzleChangesNothing() {
    TargetIntrinsic product =
        intrinsics()
            .filter(
                i ->
                    HopperIntrinsics.wgmma(i) instanceof WgmmaGemm g
                        && g.columns() == 64
                        && g.rows() == 64)
            .findFirst()
            .orElseThrow();
    assertThat(CudaPrinter.print(kernel(product), GpuTarget.SM_90A))
        .contains("matrix_descriptor<128>(as, n * 2048 + k * 2 + 512)")
        .doesNotContain("swizzle<");
  }

  @Test
  void matricesKeepTheirNamesAndCommentsAreWrapped() {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                "kernel k(W1: f32[8]) grid(bx = 1) block(tid = 8) {\n// "
                    + "many words ".repeat(20).strip()
                    + "\nW1[tid] = 1.0f32 }");
    String text = CudaPrinter.print(kernel, GpuTarget.SM_80);
    assertThat(text).contains("W1[tid] = 1.0f;").contains("  // many words many");
    assertThat(text.lines()).allMatch(line -> line.length() <= 100);
    assertThat(text.lines().filter(line -> line.startsWith("  // "))).hasSize(3);
  }

  @Test
  void onlyTheFirstExtentVaries() {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                "kernel k(C: f32[M, N], M: i32 in 1..9, N: i32 in 1..9) grid(bx = M) block(tid = 8)"
                    + " { if tid < N { C[bx, tid] = 1.0f32 } }");
    assertThatThrownBy(() -> CudaPrinter.print(kernel, GpuTarget.SM_80))
        .isInstanceOf(UserError.class)
        .hasMessage(
            "extent 1 of C is N; only the first may vary, give the scalars in the others a value,"
                + " as N=4096");
  }

  @Test
  void clustersNeedHopper() {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel("test", "kernel k() grid(bx = 2) block(tid = 32) [cluster = 2] { }");
    assertThat(CudaPrinter.print(kernel, GpuTarget.SM_90A)).contains("__cluster_dims__(2, 1, 1)");
    assertThatThrownBy(() -> CudaPrinter.print(kernel, GpuTarget.SM_89))
        .isInstanceOf(UserError.class)
        .hasMessage("kernel k runs in clusters, which need sm_90 or newer, the target is sm_89");
  }

  @Test
  void allCompile() {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: intrinsics are not compiled");
    List<Kernel> kernels = new ArrayList<>();
    intrinsics()
        .filter(HopperPrintingTest::isCompiled)
        .forEach(intrinsic -> kernels.add(kernel(intrinsic)));
    String text = CudaPrinter.print(kernels, GpuTarget.SM_90A);
    Cubin cubin = compiler.get().compile(new CompileRequest(text, "sm_90a"));
    assertThat(cubin.usage()).hasSize(kernels.size());
    assertThat(cubin.usage()).allSatisfy(usage -> assertThat(usage.isClean()).isTrue());
  }

  /** A third of the widths of two types, others tomorrow; of the other types and layouts some. */
  private static boolean isCompiled(TargetIntrinsic intrinsic) {
    WgmmaGemm product = HopperIntrinsics.wgmma(intrinsic);
    return product == null
        || (product.text().endsWith(".bf16") || product.accumulators() == DType.I32)
            && (product.columns() / 8
                        + Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()))
                    % 3
                == 0
        || Set.of(8, 16, 24, 112, 256).contains(product.columns());
  }

  @Test
  void whatExistsAnywhereCompilesForTheOldestTarget() {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: intrinsics are not compiled");
    List<Kernel> kernels = new ArrayList<>();
    intrinsics()
        .filter(HopperPrintingTest::isAnywhere)
        .forEach(intrinsic -> kernels.add(kernel(intrinsic)));
    String text = CudaPrinter.print(kernels, GpuTarget.SM_75);
    assertThat(compiler.get().compile(new CompileRequest(text, "sm_75")).usage()).hasSize(8);
  }
}
