package dev.warpwright.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.plain.PlainGemm;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomDecoderLayer;
import dev.warpwright.synthetic.RandomFfn;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Exported models whose weights are parameters of a PyTorch module. */
final class ModuleExportTest {
  private static final Path MODELS = Path.of("..", "models");

  /** Of the machine's Python; another one, which has PyTorch, by {@code -Dtest.python=}. */
  private static final String PYTHON = System.getProperty("test.python", "python3");

  private static Map<String, byte[]> export(String file, Precision precision, GpuTarget target) {
    return CudaExport.model("net", load(file), precision, target, 32, "A model");
  }

  private static List<OfflineGpu> gpus(GpuTarget... targets) {
    return Stream.of(targets).map(OfflineGpu::new).toList();
  }

  private static Model load(String file) {
    Path path = MODELS.resolve(file);
    return file.endsWith(".safetensors")
        ? Warpwright.load(path, Architecture.parse(path.resolveSibling("arch.json").toString()))
        : Warpwright.load(path);
  }

  private static String text(Map<String, byte[]> files, String name) {
    return new String(files.getOrDefault(name, new byte[0]), StandardCharsets.UTF_8);
  }

  @Test
  void weightsAreParametersUnderTheirNames() {
    Map<String, byte[]> files =
        export("digits-relu-128-64/model.onnx", Precision.F16, GpuTarget.SM_90A);
    assertThat(text(files, "module.py"))
        .contains("_Packed(0, lambda w: w[\"0.weight\"],")
        .contains("torch.float16, (128, 64), 8192,")
        .contains("net_with(\n            x.reshape(-1, 64).to(torch.float16).contiguous()");
    assertThat(text(files, "torch_op.py"))
        .contains("def net_with(x: torch.Tensor, constants: torch.Tensor) -> torch.Tensor:")
        .contains("    x = _aligned(x)\n")
        .contains("_check(constants, \"constants\", torch.uint8, (35840,))");
    assertThat(text(files, "__init__.py")).contains("\"Model\", \"net\", \"net_with\"");
    assertThat(text(files, "README.md")).contains("`0.weight`, `0.bias`, `2.weight`");
  }

  /** The names are those that PyTorch's state dict has, not those of the program in the file. */
  @Test
  void weightsOfPt2HaveTheNamesOfTheStateDict() {
    Map<String, byte[]> files =
        export("digits-gelu-64x4/model.pt2", Precision.F16, GpuTarget.SM_80);
    assertThat(text(files, "module.py")).contains("w[\"0.weight\"]").doesNotContain("p_0_weight");
  }

  @Test
  void theFileOfWeightsHasThemAsTheModelHasThem() {
    byte[] file =
        export("digits-relu-128-64/model.onnx", Precision.F16, GpuTarget.SM_90A)
            .getOrDefault("weights.safetensors", new byte[8]);
    ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    int header = (int) bytes.getLong(0);
    assertThat((8 + header) % 8).as("data is aligned").isZero();
    String json = new String(file, 8, header, StandardCharsets.UTF_8);
    assertThat(JsonParser.parse("header", json)).isNotNull();
    assertThat(json).contains("\"dtype\": \"F32\", \"shape\": [128, 64]");
    assertThat(file).hasSize(8 + header + 4 * (64 * 128 + 128 + 128 * 64 + 64 + 64 * 10 + 10));
  }

  @Test
  void gatesAreInterleaved() {
    Map<String, byte[]> files =
        export("ffn-swiglu-128-352/model.safetensors", Precision.F16, GpuTarget.SM_80);
    assertThat(text(files, "module.py"))
        .contains("_interleaved(w[\"gate_proj.weight\"], w[\"up_proj.weight\"]");
  }

  /** Where GEMMs norm rows, a norm's factors are multiplied into weights, which may be others. */
  @Test
  void factorsOfNormsAreInWeights() {
    Graph graph = new RandomDecoderLayer(2, 1, 32, 64, 4).graph(DType.BF16, 1);
    CompiledProgram program =
        NetworkCompiler.alternative(
                graph,
                GpuTarget.SM_90A,
                Precision.BF16,
                3,
                () -> GemmKernels.uncompiled(GpuTarget.SM_90A),
                PerLayerWay.of("GEMM per layer overlap=1 norms=gemm").orElseThrow())
            .compile()
            .get()
            .orElseThrow();
    Map<String, byte[]> files =
        CudaExport.program(
            "net",
            new Model(graph),
            program,
            GpuTarget.SM_90A,
            CudaExport.Form.SOURCES,
            3,
            "A layer");
    assertThat(text(files, "module.py"))
        .contains(
            "(w[\"gate_proj.weight\"].float() * w[\"post_attention_norm.weight\"].float()"
                + ".reshape(-1)).to(w[\"gate_proj.weight\"].dtype)");
  }

  /** Tables of integers are among the constants, and no parameters. */
  @Test
  void aModelWithTablesIsExported() {
    Graph graph = new RandomFfn(256, 512, false, Activation.GELU, false).graph(DType.BF16, 1);
    CompiledProgram program =
        NetworkCompiler.merged(
            graph, GpuTarget.SM_90A, Precision.BF16, 256, WorkOrder.ROWS, WaitPolicy.ROW, 132);
    Map<String, byte[]> files =
        CudaExport.program(
            "net",
            new Model(graph),
            program,
            GpuTarget.SM_90A,
            CudaExport.Form.SOURCES,
            256,
            "A block");
    assertThat(text(files, "kernel.cuh")).contains("constexpr std::size_t table");
    assertThat(text(files, "module.py")).doesNotContain("w[\"table");
  }

  /** What PyTorch makes of the state dict is, bit by bit, what the exporter wrote. */
  @Test
  void pyTorchPacksAsTheExporterDoes(@TempDir Path folder)
      throws IOException, InterruptedException {
    assumeTrue(hasTorch(), "PyTorch is not installed");
    Path script = folder.resolve("check.py");
    try (var in = ModuleExportTest.class.getResourceAsStream("check_module.py")) {
      Files.write(script, Objects.requireNonNull(in).readAllBytes());
    }
    List<String> command = new ArrayList<>(List.of(PYTHON, script.toString()));
    for (Map.Entry<String, Precision> model :
        Map.of(
                "digits-gelu-64x4/model.pt2", Precision.BF16,
                "image-siren-64x4/model.onnx", Precision.TF32,
                "ffn-gelu-residual-128/model.onnx", Precision.F32,
                "ffn-swiglu-128-352/model.safetensors", Precision.F16)
            .entrySet()) {
      Path to = Files.createDirectories(folder.resolve(model.getKey().replace('/', '-')));
      List<OfflineGpu> both = gpus(GpuTarget.SM_80, GpuTarget.SM_90A);
      for (var file :
          CudaExport.model(
                  "net",
                  load(model.getKey()),
                  model.getValue(),
                  both,
                  CudaExport.Form.SOURCES,
                  32,
                  "A model")
              .entrySet()) {
        Files.write(to.resolve(file.getKey()), file.getValue());
      }
      command.add(to.toString());
      command.add(MODELS.resolve(model.getKey()).resolveSibling("state_dict.pth").toString());
    }
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output.lines().filter(line -> line.startsWith("packed"))).hasSize(8);
  }

  /** One folder for several GPUs: each source is compiled for its GPU, and all are linked. */
  @Test
  void severalTargetsAreBuiltTogether(@TempDir Path folder)
      throws IOException, InterruptedException {
    assumeTrue(CudaCompilers.nvcc().isPresent(), "nvcc is not installed");
    ScheduledGemm gemm =
        PlainGemm.schedule(GemmWorkload.of(9, 17, 12, DType.F32, Layout.NT), 4, 16);
    Map<String, byte[]> files =
        CudaExport.kernels(
            "net",
            Stream.of(GpuTarget.SM_80, GpuTarget.SM_90A)
                .map(target -> new CudaExport.Variant(gemm.kernel(), target, gemm.trace()))
                .toList(),
            "A GEMM");
    for (var file : files.entrySet()) {
      Files.write(folder.resolve(file.getKey()), file.getValue());
    }
    run(folder, "make", "-j2", "NVCC=nvcc -Xptxas -O0 -Werror all-warnings", "all");
    assertThat(folder.resolve("net")).isExecutable();
    assertThat(Files.readString(folder.resolve("op.so"), StandardCharsets.ISO_8859_1))
        .contains("workspace_bytes", "net_sm_80_launch", "net_sm_90a_launch");
    assertThat(text(files, "torch_op.py"))
        .contains("_TARGETS = {\"sm_80\": (8, 0), \"sm_90a\": (9, 0)}");
  }

  /** Each target has a workspace, tables and an order of the weights of its own. */
  @Test
  void eachTargetPreparesItsOwnWorkspace() {
    Map<String, byte[]> files = CudaExport.kernels("net", gemms(), "A GEMM");
    assertThat(text(files, "target_sm_90a.cu"))
        .contains("status = cudaMemcpyAsync(at, kOrder, sizeof(kOrder), cudaMemcpyHostToDevice")
        .contains("extern \"C\" cudaError_t net_sm_90a_launch(\n");
    assertThat(text(files, "kernel.cuh"))
        .contains("for (const int target : {80, 90}) {")
        .contains(
            "inline cudaError_t launch_net(\n    const bf16* A, const bf16* B, bf16* C, void*")
        .contains("constexpr int kK = 4096;");
    assertThat(text(files, "main.cu"))
        .contains("char* d_workspace = allocate<char>(workspace_net(), 0xFF);")
        .contains("check(prepare_net(d_workspace), \"prepare_net\");");
    assertThat(text(files, "torch_op.py"))
        .contains("workspace = _keep(\"workspace\", device, lambda: _workspace(device))");
    assertThat(text(files, "Makefile"))
        .contains("target_sm_80.o: target_sm_80.cu kernel_sm_80.cuh\n\t$(NVCC) -gencode=");
    Map<String, byte[]> model =
        CudaExport.model(
            "net",
            Warpwright.load(MODELS.resolve("ffn-swiglu-128-352/model.onnx")),
            Precision.F16,
            gpus(GpuTarget.SM_80, GpuTarget.SM_90A),
            CudaExport.Form.SOURCES,
            32,
            "A model");
    assertThat(model).containsKeys("constants_sm_80.bin", "constants_sm_90a.bin", "x.bin");
    assertThat(model).doesNotContainKey("constants.bin");
    assertThat(text(model, "kernel.cuh"))
        .contains("case 90:\n      return \"constants_sm_90a.bin\";");
  }

  private static List<CudaExport.Variant> gemms() {
    GemmWorkload workload = GemmWorkload.nt(4096, 4096, 4096, DType.BF16);
    try (GemmKernels ampere = GemmKernels.of(GpuTarget.SM_80);
        GemmKernels hopper = GemmKernels.of(GpuTarget.SM_90A)) {
      List<CudaExport.Variant> variants = new ArrayList<>();
      for (var each : List.of(ampere, hopper)) {
        var gemm = each.require(workload).gemm();
        variants.add(
            new CudaExport.Variant(
                gemm.kernel(), each == ampere ? GpuTarget.SM_80 : GpuTarget.SM_90A, gemm.trace()));
      }
      return variants;
    }
  }

  private static String run(Path folder, String... command)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  @Test
  void targetsThatCannotStandBesideEachOtherAreRefused() {
    assertThatThrownBy(
            () ->
                CudaExport.model(
                    "net",
                    Warpwright.load(MODELS.resolve("digits-relu-128-64/model.onnx")),
                    Precision.F16,
                    gpus(GpuTarget.SM_80, GpuTarget.SM_80),
                    CudaExport.Form.SOURCES,
                    8,
                    "A model"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("sm_80 is there twice");
  }

  private static boolean hasTorch() throws InterruptedException {
    try {
      return new ProcessBuilder(PYTHON, "-c", "import torch").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
