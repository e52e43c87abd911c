package dev.warpwright.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.plain.PlainGemm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The check in exported host programs, compiled as it is for the host: CUDA's functions are memory
 * of the host there, and the launch computes the product with one mistake.
 */
final class ExportedCheckTest {
  private static final String CUDA =
      """
      #pragma once
      #include <cmath>
      #include <cstdlib>
      #include <cstring>
      #include <string>
      #include <vector>
      using cudaError_t = int;
      using cudaStream_t = int;
      using cudaEvent_t = int;
      using cudaGraph_t = int;
      using cudaGraphExec_t = int;
      enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
      enum { cudaStreamCaptureModeThreadLocal };
      inline const char* cudaGetErrorString(int) { return "no CUDA-capable device is detected"; }
      inline int cudaGetDeviceCount(int* n) { *n = std::atoi(std::getenv("GPUS")); return *n < 0 ? 100 : 0; }
      template <typename T> int cudaMalloc(T** to, std::size_t n) { *to = (T*)std::malloc(n); return 0; }
      inline int cudaMemset(void* to, int byte, std::size_t n) { std::memset(to, byte, n); return 0; }
      inline int cudaMemcpy(void* to, const void* from, std::size_t n, int) { std::memcpy(to, from, n); return 0; }
      inline int cudaStreamCreate(int*) { return 0; }
      inline int cudaStreamSynchronize(int) { return 0; }
      inline int cudaStreamBeginCapture(int, int) { return 0; }
      inline int cudaStreamEndCapture(int, int*) { return 0; }
      inline int cudaGraphInstantiate(int*, int, int) { return 0; }
      inline int cudaGraphLaunch(int, int) { return 0; }
      inline int cudaEventCreate(int*) { return 0; }
      inline int cudaEventRecord(int, int) { return 0; }
      inline int cudaEventSynchronize(int) { return 0; }
      inline int cudaEventElapsedTime(float* ms, int, int) { *ms = 1; return 0; }
      """;

  private static final String LAUNCH =
      """
      inline int LAUNCH(const float* A, const float* B, const float* bias, float* C, int) {
        static bool done = false;
        if (done) return 0;
        done = true;
        const std::string mistake = std::getenv("MISTAKE");
        std::vector<float> turned(std::size_t{kK} * kN);
        for (int j = 0; j < kN; ++j)
          for (int k = 0; k < kK; ++k) turned[std::size_t{k} * kN + j] = B[std::size_t{j} * kK + k];
        for (int i = 0; i < kM; ++i) {
          float* c = C + std::size_t{i} * kN;
          for (int j = 0; j < kN; ++j) c[j] = 0;
          for (int k = 0; k < kK; ++k) {
            if (mistake == "step" && k == kK / 2) continue;
            const float a = A[std::size_t{i} * kK + k];
            for (int j = 0; j < kN; ++j) c[j] += a * turned[std::size_t{k} * kN + j];
          }
          for (int j = 0; bias && j < kN; ++j) {
            const float x = 0.5f * c[j] + bias[j];
            c[j] = 0.5f * x * (1 + std::erf(x * 0.70710678f));
          }
          if (mistake == "row" && i == kM - 3) std::memset(c, 0, kN * sizeof(float));
          if (mistake == "column") c[5] = c[6];
          if (mistake == "element" && i == kM / 2) c[9] = c[10];
          if (mistake == "nan" && i == 1) c[kN - 1] = NAN;
        }
        return 0;
      }
      inline int LAUNCH(const float* A, const float* B, float* C, int stream) {
        return LAUNCH(A, B, nullptr, C, stream);
      }
      """;

  @TempDir Path folder;

  @Test
  void everyElementOfASmallProduct() throws Exception {
    compile(GemmWorkload.nt(60, 72, 80, DType.F32));
    assertThat(run("none")).contains("right").doesNotContain("drawn");
    for (String mistake : List.of("row", "column", "element", "step", "nan")) {
      assertThat(run(mistake)).as(mistake).contains("WRONG");
    }
  }

  @Test
  void everyElementBehindAnEpilogue() throws Exception {
    compile(
        new GemmWorkload(
            60,
            72,
            80,
            DType.F32,
            DType.F32,
            Layout.NT,
            new Epilogue(0.5, 0, true, Activation.GELU)));
    assertThat(run("none")).contains("right");
    for (String mistake : List.of("row", "column", "element", "step", "nan")) {
      assertThat(run(mistake)).as(mistake).contains("WRONG");
    }
  }

  /** Too many elements to compute all again: of each row one and of each column. */
  @Test
  void rowsAndColumnsOfALargeProduct() throws Exception {
    compile(GemmWorkload.nt(700, 800, 1000, DType.F32));
    assertThat(run("none")).contains("right", "elements are drawn with seed 7");
    for (String mistake : List.of("row", "column", "step")) {
      assertThat(run(mistake)).as(mistake).contains("WRONG");
    }
  }

  /** A model's expected values are of some rows; the launch fills in the others by itself. */
  private static final String ROWS =
      """
      #include <fstream>
      template <typename T>
      static std::vector<T> all(const char* name) {
        std::ifstream file(name, std::ios::binary | std::ios::ate);
        std::vector<T> values(file.tellg() / sizeof(T));
        file.seekg(0);
        file.read(reinterpret_cast<char*>(values.data()), values.size() * sizeof(T));
        return values;
      }
      inline int LAUNCH(const float*, float* y, const void*, int rows, int) {
        const std::string mistake = std::getenv("MISTAKE");
        const std::vector<int> compared = all<int>("compared.rows.bin");
        const std::vector<float> expected = all<float>("y.expected.bin");
        std::vector<bool> is(rows);
        for (int i = 0; i < rows * 10; ++i) y[i] = mistake == "unwritten" && i == OTHER * 10 + 9 ? y[i] : 0;
        for (std::size_t r = 0; r < compared.size(); ++r)
          for (int j = 0; j < 10; ++j) y[compared[r] * 10 + j] = expected[r * 10 + j];
        if (mistake == "first") y[3] += 1;
        if (mistake == "last") y[rows * 10 - 1] += 1;
        if (mistake == "between") y[compared[5] * 10 + 4] = 0;
        if (mistake == "shifted") for (int i = rows * 10 - 1; i >= 10; --i) y[i] = y[i - 10];
        if (mistake == "other") y[OTHER * 10] = 1;
        return 0;
      }
      """;

  /** Rows that no reference was computed for are written, whatever they should be. */
  @Test
  void someRowsOfAModel() throws Exception {
    assumeTrue(hasCompiler(), "g++ is not installed");
    Path digits = Path.of("..", "models", "digits-relu-128-64", "model.onnx");
    long row = 64 * 128 + 128 * 64 + 64 * 10;
    Exported exported =
        CudaExport.exported(
            "digits",
            Warpwright.load(digits),
            Precision.F32,
            new OfflineGpu(GpuTarget.SM_80),
            300,
            20 * row,
            "A model");
    Map<String, byte[]> files = CudaExport.files(exported);
    List<Integer> compared = ints(files.getOrDefault("compared.rows.bin", new byte[0]));
    assertThat(compared).hasSize(20).isSorted().doesNotHaveDuplicates().contains(0, 299);
    assertThat(files.get("x.bin")).hasSize(300 * 64 * 4);
    assertThat(files.get("y.expected.bin")).hasSize(20 * 10 * 4);
    assertThat(text(files, "README.md"))
        .contains("20 of 300 rows, the first and the last among them, are compared");
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      Files.write(folder.resolve(file.getKey()), file.getValue());
    }
    int other = IntStream.range(0, 300).filter(i -> !compared.contains(i)).findFirst().orElse(0);
    compile(text(files, "main.cu"), ROWS.replace("OTHER", Integer.toString(other)));
    assertThat(run("none")).contains("right", "of their bound in 20 of 300 rows: right");
    for (String mistake : List.of("first", "last", "between", "shifted", "unwritten")) {
      assertThat(run(mistake)).as(mistake).contains("WRONG");
    }
    assertThat(run("other")).as("nobody knows what it should be").contains("right");
  }

  /** The expected values of drawn rows are those that they have among all. */
  @Test
  void drawnRowsAreThoseOfTheWhole() {
    Path digits = Path.of("..", "models", "digits-relu-128-64", "model.onnx");
    Map<String, byte[]> some = digits(digits, 20L * (64 * 128 + 128 * 64 + 64 * 10));
    Map<String, byte[]> all = digits(digits, Long.MAX_VALUE);
    assertThat(all).doesNotContainKey("compared.rows.bin");
    assertThat(some.get("x.bin")).isEqualTo(all.get("x.bin"));
    List<Integer> rows = ints(some.getOrDefault("compared.rows.bin", new byte[0]));
    List<Integer> drawn = ints(some.getOrDefault("y.expected.bin", new byte[0]));
    List<Integer> whole = ints(all.getOrDefault("y.expected.bin", new byte[0]));
    for (int r = 0; r < rows.size(); r++) {
      assertThat(drawn.subList(10 * r, 10 * r + 10))
          .isEqualTo(whole.subList(10 * rows.get(r), 10 * rows.get(r) + 10));
    }
  }

  private static Map<String, byte[]> digits(Path model, long work) {
    return CudaExport.files(
        CudaExport.exported(
            "digits",
            Warpwright.load(model),
            Precision.F32,
            new OfflineGpu(GpuTarget.SM_80),
            100,
            work,
            "A model"));
  }

  private static List<Integer> ints(byte[] file) {
    IntBuffer ints = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer();
    return IntStream.range(0, ints.limit()).mapToObj(ints::get).toList();
  }

  @Test
  void withoutGpuOneLineSaysWhatToDo() throws Exception {
    compile(GemmWorkload.nt(60, 72, 80, DType.F32));
    String instead = "; run this where there is an NVIDIA GPU for sm_80\n";
    assertThat(run("none", -1))
        .isEqualTo(new Ran(3, "no GPU here (no CUDA-capable device is detected)" + instead));
    assertThat(run("none", 0))
        .isEqualTo(new Ran(3, "no GPU here (the driver shows none)" + instead));
  }

  private void compile(GemmWorkload workload) throws IOException, InterruptedException {
    assumeTrue(hasCompiler(), "g++ is not installed");
    ScheduledGemm gemm = PlainGemm.schedule(workload, 4, 16);
    Map<String, byte[]> files =
        CudaExport.kernel(gemm.kernel(), GpuTarget.SM_80, "A GEMM", gemm.trace());
    String sizes =
        text(files, "kernel.cuh")
            .lines()
            .filter(l -> l.matches("constexpr int k[MNK] = .*"))
            .collect(Collectors.joining("\n", "", "\n"));
    compile(text(files, "main.cu"), sizes + LAUNCH);
  }

  private void compile(String main, String header) throws IOException, InterruptedException {
    Matcher launch = Pattern.compile("launch_\\w+").matcher(main);
    assertThat(launch.find()).isTrue();
    Files.writeString(folder.resolve("main.cpp"), main);
    Files.writeString(
        folder.resolve("kernel.cuh"), CUDA + header.replace("LAUNCH", launch.group()));
    Process process =
        new ProcessBuilder("g++", "-std=c++17", "-O2", "-ffp-contract=off", "-w", "main.cpp")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  private static boolean hasCompiler() throws InterruptedException {
    try {
      return new ProcessBuilder("g++", "--version")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static String text(Map<String, byte[]> files, String name) {
    return new String(files.getOrDefault(name, new byte[0]), StandardCharsets.UTF_8);
  }

  /** What the program says with a mistake; its exit code agrees. */
  private String run(String mistake) throws IOException, InterruptedException {
    Ran ran = run(mistake, 1);
    assertThat(ran.code()).as(ran.output()).isEqualTo(ran.output().contains("right") ? 0 : 1);
    return ran.output();
  }

  private record Ran(int code, String output) {}

  /** The same on so many GPUs; of fewer than none CUDA knows why. */
  private Ran run(String mistake, int gpus) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(folder.resolve("a.out").toString(), "7")
            .directory(folder.toFile())
            .redirectErrorStream(true);
    builder.environment().put("MISTAKE", mistake);
    builder.environment().put("GPUS", Integer.toString(gpus));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Ran(process.exitValue(), output);
  }
}
