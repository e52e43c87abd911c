package dev.warpwright.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.examples.ladder.Rung;
import dev.warpwright.examples.ladder.TensorRung;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.plain.PlainGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.schedule.Replay;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.synthetic.RandomFfn;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.KernelSpecialization;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class CudaExportTest {
  private static final GpuTarget TARGET = GpuTarget.SM_90A;

  private static Map<String, byte[]> rung(String name, long m, long n, long k) {
    Rung rung = Ladder.require(name);
    return CudaExport.kernel(
        Ladder.kernel(rung, m, n, k),
        TARGET,
        "A rung",
        rung.schedule(Ladder.matmul(m, n, k)).trace());
  }

  private static Map<String, byte[]> what(String name) throws IOException {
    return switch (name) {
      case "a rung" -> rung("double-buffering", 1000, 2000, 3000);
      case "tensor maps" -> {
        ScheduledGemm gemm = TensorRung.WGMMA.schedule(1000, 2000, 3000, TARGET, 132);
        yield CudaExport.kernel(gemm.kernel(), TARGET, "A GEMM", gemm.trace());
      }
      case "counters" -> {
        Path file = Path.of("..", "kernels", "ffn_bf16_sm90_m16.kernel");
        Kernel kernel =
            new IrParser(Intrinsics::find).file("ffn", Files.readString(file)).kernels().getFirst();
        Map<String, Long> shape = Map.of("M", 16L, "K1", 512L, "N1", 2048L, "N2", 512L);
        yield CudaExport.kernel(
            KernelSpecialization.specialize(kernel, shape), TARGET, "A block", null);
      }
      case "a batch with an epilogue" ->
          product(
              new GemmWorkload(
                      100,
                      72,
                      136,
                      DType.F16,
                      DType.F16,
                      Layout.NN,
                      new Epilogue(0.5, 2, true, Activation.GELU_TANH, true, true, true, true))
                  .times(new Batch(3, false, true)));
      case "8-bit floats" ->
          product(
              new GemmWorkload(
                  64,
                  72,
                  80,
                  DType.F8E5M2,
                  DType.BF16,
                  Layout.NT,
                  new Epilogue(1, 0, true, Activation.SILU)));
      case "bytes" -> product(GemmWorkload.nt(64, 48, 80, DType.I8));
      case "no sums" -> {
        GemmWorkload empty = GemmWorkload.of(9, 17, 0, DType.F32, Layout.NT);
        ScheduledGemm gemm = PlainGemm.schedule(empty, 4, 16);
        yield CudaExport.kernel(gemm.kernel(), TARGET, "Nothing", gemm.trace());
      }
      case "gated block" ->
          CudaExport.model(
              "block",
              new Model(new RandomFfn(528, 528, true, Activation.SILU, true).graph(DType.BF16, 1)),
              Precision.BF16,
              TARGET,
              16,
              "Two launches that overlap");
      default -> model(name.split(" ")[0], Precision.valueOf(name.split(" ")[1]));
    };
  }

  private static Map<String, byte[]> product(GemmWorkload workload) {
    ScheduledGemm gemm =
        HopperGemm.schedule(
            workload,
            HopperConfig.pairs(64, 48, 3, 1, 2)
                .withCluster(1, 1)
                .withTileK(128 / workload.operands().bytes()));
    return CudaExport.kernel(gemm.kernel(), TARGET, "A GEMM", gemm.trace());
  }

  private static Map<String, byte[]> model(String name, Precision precision) {
    return CudaExport.model(
        name,
        Warpwright.load(Path.of("..", "models", name, "model.onnx")),
        precision,
        TARGET,
        32,
        "A model");
  }

  /** Their references are of one sum for each element. */
  @Test
  void gatedLinearUnitsAreExportedInModels() {
    GemmWorkload glu =
        new GemmWorkload(
            64, 48, 80, DType.BF16, DType.BF16, Layout.NT, Epilogue.glu(false, Activation.SILU));
    assertThatThrownBy(() -> product(glu))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("export the model that has it, or ffn");
  }

  private static String text(Map<String, byte[]> files, String name) {
    return new String(files.getOrDefault(name, new byte[0]), StandardCharsets.UTF_8);
  }

  @Test
  void theHeaderTellsTheSchedule() {
    Map<String, byte[]> files = rung("async-copies", 512, 256, 128);
    assertThat(files)
        .containsOnlyKeys(
            "kernel.cuh",
            "main.cu",
            "torch_op.cu",
            "torch_op.py",
            "__init__.py",
            "CMakeLists.txt",
            "Makefile",
            "README.md",
            "trace.json");
    assertThat(text(files, "kernel.cuh"))
        .startsWith("// A rung.\n")
        .contains("//   transformLayout(A_shared, order = 1,0)")
        .contains("constexpr int kM = 512;")
        .contains("constexpr int kDynamicSharedBytes = 49648;")
        .contains("#pragma unroll")
        .contains("cp_async_16(")
        .contains("inline cudaError_t launch_matmul_async_copies(");
    assertThat(text(files, "kernel.cuh").lines().count()).as("lines").isLessThan(450);
    var matmul = Ladder.matmul(512, 256, 128);
    var replayed = Replay.func(Trace.parse(text(files, "trace.json")), matmul);
    assertThat(
            StructuralEquality.difference(
                Ladder.require("async-copies").schedule(matmul).func(), replayed))
        .isEmpty();
  }

  /** Half of them a day, the other half the next. */
  static Stream<String> exported() {
    List<String> all =
        List.of(
            "a rung",
            "tensor maps",
            "counters",
            "a batch with an epilogue",
            "8-bit floats",
            "bytes",
            "no sums",
            "gated block",
            "digits-gelu-64x4 F16",
            "image-siren-64x4 F32");
    long day = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    return IntStream.range(0, all.size()).filter(i -> (i + day) % 2 == 0).mapToObj(all::get);
  }

  @ParameterizedTest
  @MethodSource("exported")
  void nvccAloneCompilesIt(String name, @TempDir Path folder)
      throws IOException, InterruptedException {
    assumeTrue(CudaCompilers.nvcc().isPresent(), "nvcc is not installed");
    for (Map.Entry<String, byte[]> file : what(name).entrySet()) {
      Files.write(folder.resolve(file.getKey()), file.getValue());
    }
    List<String> command = new ArrayList<>(List.of("nvcc"));
    command.addAll(List.of(CudaExport.flags(TARGET).split(" ")));
    // Nobody runs it: errors and warnings are those of the front ends, and cost no optimization.
    command.addAll(List.of("-Werror", "all-warnings", "-Xcicc", "-O0", "-Xptxas", "-O0"));
    List<String> program = new ArrayList<>(command);
    program.addAll(List.of("-o", "x", "main.cu"));
    run(program, folder);
    assertThat(folder.resolve("x")).isExecutable();
    // The machine code of the kernels is the same: the front end's opinion is enough.
    command.addAll(List.of("--ptx", "-o", "x.ptx", "torch_op.cu"));
    run(command, folder);
  }

  private static void run(List<String> command, Path folder)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  @Test
  void aModelBringsItsWeightsAndASample() {
    Map<String, byte[]> files = model("digits-relu-128-64", Precision.F16);
    assertThat(files).containsKeys("constants.bin", "x.bin", "y.expected.bin", "trace.json");
    assertThat(files.get("x.bin")).hasSize(32 * 64 * 2);
    assertThat(files.get("y.expected.bin")).hasSize(32 * 10 * 4);
    assertThat(text(files, "kernel.cuh"))
        .contains("const f16* x, f16* y, const void* constants, int M,")
        .contains("reinterpret_cast<const f16*>(base + constants_at::fc_w)");
    assertThat(text(files, "main.cu")).contains("const int M = 32;  // rows");
    assertThat(text(files, "torch_op.py")).contains("M = x.shape[0]");
  }

  @Test
  void theSameModelGivesTheSameBytes() {
    Map<String, byte[]> once = model("digits-relu-128-64", Precision.F16);
    Map<String, byte[]> again = model("digits-relu-128-64", Precision.F16);
    assertThat(again.keySet()).containsExactlyElementsOf(once.keySet());
    once.forEach((name, bytes) -> assertThat(again.get(name)).as(name).isEqualTo(bytes));
  }

  /** Python and make read what is for them; names that they reserve get a prefix. */
  @Test
  void pythonAndMakeReadTheirFiles(@TempDir Path folder) throws IOException, InterruptedException {
    assumeTrue(isThere("python3") && isThere("make"), "python3 or make is not installed");
    Map<String, byte[]> files =
        CudaExport.model(
            "lambda",
            Warpwright.load(Path.of("..", "models", "digits-relu-128-64", "model.onnx")),
            Precision.F16,
            TARGET,
            32,
            "A model");
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      Files.write(folder.resolve(file.getKey()), file.getValue());
    }
    run(List.of("python3", "-m", "py_compile", "torch_op.py", "module.py", "__init__.py"), folder);
    run(List.of("make", "-n", "all", "check", "clean"), folder);
    assertThat(text(files, "torch_op.py"))
        .contains("custom_op(\"warpwright::op_lambda\"")
        .contains("@op_lambda.register_fake");
    assertThat(text(files, "Makefile")).contains("op_lambda: main.cu kernel.cuh\n\t$(NVCC)");
    assertThat(text(files, "README.md"))
        .contains(
            "| `x` | `const f16*` | input, row-major [M, 64], from a multiple of 16 bytes on |")
        .contains("| `constants` | `const void*` | `constants.bin` in the GPU's memory |");
  }

  private static boolean isThere(String program) {
    try {
      return new ProcessBuilder(program, "--version").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** On sm_80 weights lie in the order of registers: packed like others, they are bytes. */
  @Test
  void aModelIsExportedForEveryTargetInEveryPrecision() {
    for (GpuTarget target : GpuTarget.ALL) {
      for (Precision precision : Precision.OF_NETWORKS) {
        if (precision.supportedBy(target)) {
          Map<String, byte[]> files =
              CudaExport.model(
                  "digits",
                  Warpwright.load(Path.of("..", "models", "digits-relu-128-64", "model.onnx")),
                  precision,
                  target,
                  32,
                  "A model");
          int weights = (64 * 128 + 128 * 64 + 64 * 10) * (precision.operand().bytes());
          assertThat(files.get("constants.bin").length).isGreaterThanOrEqualTo(weights);
        }
      }
    }
  }

  @Test
  void tensorMapsAndTablesAreSetUp() throws IOException {
    assertThat(text(what("tensor maps"), "kernel.cuh"))
        .contains("make_tensor_map(&A_map, A, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 1000, 3000,")
        .contains("static const int kOrder[] = {")
        .contains("A, B, C, order, A_map, B_map, C_map);");
    assertThat(text(what("counters"), "main.cu"))
        .contains("unsigned* d_counters = allocate<unsigned>(14, 0);")
        .contains("float* d_partial = allocate<float>(32768, 0xFF);");
  }

  @Test
  void theHostProgramKnowsWhatFollowsAProduct() throws IOException {
    Map<String, byte[]> files = what("a batch with an epilogue");
    assertThat(text(files, "kernel.cuh"))
        .contains("constexpr int kBatch = 3;")
        .contains("CU_TENSOR_MAP_SWIZZLE_128B, 3);");
    assertThat(text(files, "main.cu"))
        .contains("double term = value(A[z * kM * kK + i * kK + k]) * value(B[k * kN + j]);")
        .contains(
            "const double x = 0.5 * sum * value(row_scale[i]) * value(column_scale[j])"
                + " + value(bias[j]) + 2.0 * value(R[z * kM * kN + i * kN + j]);")
        .contains(" * value(G[z * kM * kN + i * kN + j]) + value(S[z * kM * kN + i * kN + j]),");
    assertThat(text(files, "torch_op.py"))
        .contains(
            "gelu(0.5 * (A.double() @ B.double()) * row_scale.double()[:, None]"
                + " * column_scale.double() + bias.double() + 2.0 * R.double(),"
                + " approximate=\"tanh\") * G.double() + S.double()");
    assertThat(text(what("no sums"), "main.cu")).contains("double sum = 0;").doesNotContain("kK;");
  }

  @Test
  void whatTheHostProgramCannotLaunchIsRefused() {
    assertThatThrownBy(
            () -> export("kernel k(x: bool[8]) grid(bx = 1) block(tx = 8) { x[tx] = x[tx] }"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("no elements of type bool");
    assertThatThrownBy(
            () ->
                export(
                    "kernel k(x: f32[n], n: i32 in 1..8) grid(bx = 1) block(tx = 1) { x[0] = 0.0f32"
                        + " }"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("no value for n");
  }

  @Test
  void aKernelWithoutWorkloadIsLaunchedAndTimed() {
    Map<String, byte[]> files =
        export("kernel k(x: f16[8], y: f16[8]) grid(bx = 1) block(tx = 8) { y[tx] = x[tx] }");
    assertThat(files).doesNotContainKey("trace.json");
    assertThat(text(files, "main.cu"))
        .contains("random_values<f16>(8, 1.000000f, 1)")
        .doesNotContain("relative error");
    assertThat(text(files, "kernel.cuh"))
        .contains("k<<<grid, block, kDynamicSharedBytes, stream>>>(");
  }

  private static Map<String, byte[]> export(String text) {
    Kernel kernel = new IrParser(Intrinsics::find).file("test", text).kernels().getFirst();
    return CudaExport.kernel(kernel, TARGET, "A kernel", null);
  }
}
