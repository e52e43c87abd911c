package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.HostText;
import dev.warpwright.export.Exported.Sample;
import dev.warpwright.export.Exported.State;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The host program: fills memory, launches, checks the results and times the launch. */
final class HostProgramText {
  /** Of random bytes whose meaning is not known: most values occur. */
  private static final double DEVIATION_OF_BYTES = 32;

  private final Exported exported;
  private final Signature signature;
  private final StringBuilder out = new StringBuilder();

  private HostProgramText(Exported exported, Signature signature) {
    this.exported = exported;
    this.signature = signature;
  }

  static String of(Exported exported, Signature signature) {
    HostProgramText text = new HostProgramText(exported, signature);
    text.write();
    return text.out.toString();
  }

  private void write() {
    String name = HostText.identifier(exported.program().name());
    out.append(
        String.format(
            Locale.ROOT,
            """
            // Runs it on %s data%s and times it:
            //   %s
            """,
            exported.sample() == null ? "random" : "the sample's",
            exported.isChecked() ? ", checks the result" : "",
            signature.isFat()
                ? "make check"
                : String.format(
                    Locale.ROOT,
                    "nvcc %s -o %s main.cu && ./%s",
                    CudaExport.flags(exported.target()),
                    name,
                    name)));
    new TreeSet<>(headers()).forEach(header -> out.append("#include <" + header + ">\n"));
    out.append("\n#include \"kernel.cuh\"\n\n");
    out.append(
        """
        static void check(cudaError_t status, const char* what) {
          if (status != cudaSuccess) {
            std::fprintf(stderr, "%s: %s\\n", what, cudaGetErrorString(status));
            std::exit(3);
          }
        }

        """);
    out.append(
        String.format(
            Locale.ROOT,
            """
            static void need_gpu() {
              int gpus = 0;
              const cudaError_t status = cudaGetDeviceCount(&gpus);
              if (status != cudaSuccess || gpus == 0) {
                std::fprintf(stderr, "no GPU here (%%s); run this where there is an NVIDIA GPU for %s\\n",
                             status == cudaSuccess ? "the driver shows none" : cudaGetErrorString(status));
                std::exit(3);
              }
            }

            """,
            signature.variants().stream()
                .map(variant -> variant.target().name())
                .collect(Collectors.joining(" or "))));
    types().forEach(type -> out.append(conversions(type)).append('\n'));
    out.append(memory());
    out.append(
        ResultsText.isDrawn(exported) ? "int main(int argc, char** argv) {\n" : "int main() {\n");
    line("need_gpu();");
    fill();
    launch();
    out.append(ResultsText.of(exported, signature));
    time();
    out.append("  return right ? 0 : 1;\n}\n");
  }

  private List<String> headers() {
    List<String> headers =
        new ArrayList<>(List.of("algorithm", "cmath", "cstddef", "cstdio", "cstdlib", "vector"));
    headers.add(exported.sample() == null ? "random" : "fstream");
    if (types().contains(DType.F16)) {
      headers.add("cuda_fp16.h");
    }
    if (types().contains(DType.BF16)) {
      headers.add("cuda_bf16.h");
    }
    if (types().contains(DType.F8E4M3) || types().contains(DType.F8E5M2)) {
      headers.add("cuda_fp8.h");
    }
    return headers;
  }

  /** Types whose elements the program makes. */
  private Set<DType> made() {
    EnumSet<DType> types = EnumSet.noneOf(DType.class);
    if (exported.sample() == null) {
      exported.buffers(Role.INPUT).forEach(b -> types.add(b.dtype()));
    }
    return types;
  }

  /** Types whose elements the program makes or reads. */
  private Set<DType> types() {
    Set<DType> types = made();
    exported.buffers(Role.OUTPUT).forEach(b -> types.add(b.dtype()));
    return types;
  }

  /** Functions {@code encode} and {@code value} of a type. */
  private String conversions(DType dtype) {
    String type = HostText.type(dtype);
    String encoded =
        switch (dtype) {
          case F32, F64 -> "y = x;";
          case F16 -> "y.bits = static_cast<__half_raw>(__float2half_rn(x)).x;";
          case BF16 -> "y.bits = static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(x)).x;";
          case I8 ->
              "y = static_cast<signed char>(std::lrint(std::min(std::max(x, -127.f), 127.f)));";
          case U8 -> "y = static_cast<unsigned char>(std::lrint(std::min(std::abs(x), 127.f)));";
          case I32, U32, I64, U64 ->
              "y = static_cast<" + type + ">(std::lrint(100 * std::abs(x)));";
          case F8E4M3, F8E5M2 ->
              "y.bits = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, " + bits(dtype) + ");";
          case BOOL, MBARRIER, HANDLE ->
              throw new UserError(
                  String.format(
                      Locale.ROOT,
                      "%s cannot be exported: its host program has no elements of type %s",
                      exported.program().name(),
                      dtype));
        };
    String value =
        switch (dtype) {
          case F16 ->
              """
                __half_raw raw;
                raw.x = x.bits;
                return __half2float(__half(raw));
              """;
          case BF16 ->
              """
                __nv_bfloat16_raw raw;
                raw.x = x.bits;
                return __bfloat162float(__nv_bfloat16(raw));
              """;
          case F8E4M3, F8E5M2 ->
              "  return __half2float(__half(__nv_cvt_fp8_to_halfraw(x.bits, "
                  + bits(dtype)
                  + ")));\n";
          case BOOL, I8, U8, I32, U32, I64, U64, F32, F64, MBARRIER, HANDLE ->
              "  return static_cast<double>(x);\n";
        };
    String read = "static inline double value(" + type + " x) {\n" + value.indent(0) + "}\n";
    return made().contains(dtype)
        ? "static inline void encode(float x, " + type + "& y) {\n  " + encoded + "\n}\n\n" + read
        : read;
  }

  /** What CUDA calls the format of an 8-bit float. */
  private static String bits(DType dtype) {
    return dtype == DType.F8E4M3 ? "__NV_E4M3" : "__NV_E5M2";
  }

  private String memory() {
    String source =
        exported.sample() == null
            ? """
            template <typename T>
            static std::vector<T> random_values(std::size_t count, float deviation, unsigned seed) {
              std::mt19937 generator(seed);
              std::normal_distribution<float> normal(0, deviation);
              std::vector<T> values(count);
              for (T& each : values) {
                encode(normal(generator), each);
              }
              return values;
            }

            """
            : """
            template <typename T>
            static std::vector<T> read_file(const char* name, std::size_t count) {
              std::vector<T> values(count);
              std::ifstream file(name, std::ios::binary);
              if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
                std::fprintf(stderr, "cannot read %s; run the program in its folder\\n", name);
                std::exit(2);
              }
              return values;
            }

            """;
    return source
        + """
        template <typename T>
        static T* allocate(std::size_t count, int every_byte) {
          T* device = nullptr;
          check(cudaMalloc(&device, count * sizeof(T)), "cudaMalloc");
          check(cudaMemset(device, every_byte, count * sizeof(T)), "cudaMemset");
          return device;
        }

        template <typename T>
        static T* upload(const std::vector<T>& host) {
          T* device = allocate<T>(host.size(), 0);
          check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
                "cudaMemcpy");
          return device;
        }

        template <typename T>
        static std::vector<T> download(const T* device, std::size_t count) {
          std::vector<T> host(count);
          check(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
          return host;
        }

        """;
  }

  private void fill() {
    Sample sample = exported.sample();
    if (sample != null) {
      var rows = exported.rows();
      if (rows != null) {
        line(
            String.format(
                Locale.ROOT,
                "const int %s = %d;  // rows",
                signature.text().of(rows),
                sample.rows()));
      }
    }
    int seed = 1;
    for (Buffer input : exported.buffers(Role.INPUT)) {
      String name = signature.text().of(input);
      String type = HostText.type(input.dtype());
      String elements = signature.elements(input);
      line(
          sample == null
              ? String.format(
                  Locale.ROOT,
                  "const std::vector<%s> %s = random_values<%s>(%s, %s, %d);",
                  type,
                  name,
                  type,
                  elements,
                  deviation(input),
                  seed++)
              : String.format(
                  Locale.ROOT,
                  "const std::vector<%s> %s = read_file<%s>(\"%s\", %s);",
                  type,
                  name,
                  type,
                  SampleFiles.input(name),
                  elements));
      line(String.format(Locale.ROOT, "%s* d_%s = upload(%s);", type, name, name));
    }
    for (Buffer output : exported.buffers(Role.OUTPUT)) {
      allocate(output, "0xFF");
    }
    if (signature.isFat()) {
      fat();
      return;
    }
    if (!exported.buffers(Role.CONSTANT).isEmpty() && sample != null) {
      byte[] constants = sample.files().get(SampleFiles.CONSTANTS);
      line(
          String.format(
              Locale.ROOT,
              "char* d_%s = upload(read_file<char>(\"%s\", %d));",
              Signature.CONSTANTS,
              SampleFiles.CONSTANTS,
              constants == null ? 0 : constants.length));
    }
    for (Buffer buffer : exported.program().workspace()) {
      switch (exported.state().get(buffer)) {
        case State.Table(List<Integer> _) ->
            line(
                String.format(
                    Locale.ROOT,
                    "int* d_%s = upload(std::vector<int>(std::begin(%s), std::end(%s)));",
                    signature.text().of(buffer),
                    signature.table(buffer),
                    signature.table(buffer)));
        case State.Zero() -> allocate(buffer, "0");
        case null -> allocate(buffer, "0xFF");
      }
    }
  }

  /** Constants and workspace of whichever target the GPU runs. */
  private void fat() {
    String name = ProjectText.name(exported);
    if (!exported.buffers(Role.CONSTANT).isEmpty()) {
      line(
          String.format(
              Locale.ROOT,
              "char* d_%1$s = upload(read_file<char>(constants_file_%2$s(),"
                  + " constants_bytes_%2$s()));",
              Signature.CONSTANTS,
              name));
    }
    var rows = exported.rows();
    String given = rows == null ? "" : signature.text().of(rows);
    line(
        String.format(
            Locale.ROOT,
            "char* d_%s = allocate<char>(workspace_%s(%s), 0xFF);",
            Signature.WORKSPACE,
            name,
            given));
    line(
        String.format(
            Locale.ROOT,
            "check(prepare_%s(d_%s%s), \"prepare_%1$s\");",
            name,
            Signature.WORKSPACE,
            given.isEmpty() ? "" : ", " + given));
  }

  private void allocate(Buffer buffer, String everyByte) {
    line(
        String.format(
            Locale.ROOT,
            "%s* d_%s = allocate<%s>(%s, %s);",
            HostText.type(buffer.dtype()),
            signature.text().of(buffer),
            HostText.type(buffer.dtype()),
            signature.elements(buffer),
            everyByte));
  }

  private String deviation(Buffer input) {
    BoundWorkload workload = exported.workload();
    boolean bytes = input.dtype() == DType.I8 || input.dtype() == DType.U8;
    double deviation =
        workload != null ? workload.deviation(input) : bytes ? DEVIATION_OF_BYTES : 1;
    return String.format(Locale.ROOT, "%.6ff", deviation);
  }

  private void launch() {
    List<String> arguments =
        new ArrayList<>(
            signature.arguments().stream()
                .map(a -> a.isPointer() ? "d_" + a.name() : a.name())
                .toList());
    arguments.add("stream");
    out.append(
        String.format(
            Locale.ROOT,
            """

              cudaStream_t stream;
              check(cudaStreamCreate(&stream), "cudaStreamCreate");
              const auto launch = [&] {
                check(%1$s(
                          %2$s),
                      "%1$s");
              };
              launch();
              check(cudaStreamSynchronize(stream), "%1$s");

            """,
            signature.function(),
            LaunchText.wrapped(arguments, 11)));
  }

  private void time() {
    String rate = "";
    String values = "";
    if (exported.workload() instanceof BoundWorkload.Gemm product) {
      rate = ", %.0f GFLOP/s";
      values =
          (product.batch().isMany() ? ", 2.0 * kBatch" : ", 2.0")
              + " * kM * kN * kK / seconds * 1e-9";
    }
    out.append(
        String.format(
            Locale.ROOT,
            """

              cudaEvent_t start;
              cudaEvent_t stop;
              check(cudaEventCreate(&start), "cudaEventCreate");
              check(cudaEventCreate(&stop), "cudaEventCreate");
              const auto time = [&](auto work) {
                check(cudaEventRecord(start, stream), "cudaEventRecord");
                work();
                check(cudaEventRecord(stop, stream), "cudaEventRecord");
                check(cudaEventSynchronize(stop), "cudaEventSynchronize");
                float milliseconds = 0;
                check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
                return milliseconds;
              };

              // Twenty launches in a graph, so that the time of the host does not count; one of a slow
              // kernel.
              const int launches = time(launch) < 10 ? 20 : 1;
              cudaGraph_t graph;
              cudaGraphExec_t replay;
              check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
              for (int i = 0; i < launches; ++i) {
                launch();
              }
              check(cudaStreamEndCapture(stream, &graph), "capture");
              check(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
              std::vector<float> times;
              for (int round = 0; round < 11; ++round) {
                times.push_back(time([&] { check(cudaGraphLaunch(replay, stream), "cudaGraphLaunch"); }));
              }
              std::sort(times.begin(), times.end());
              const double seconds = times[times.size() / 2] * 1e-3 / launches;
              std::printf("%%.2f us%s\\n", seconds * 1e6%s);
            """,
            rate.replace("%", "%"),
            values));
  }

  private void line(@Nullable String text) {
    out.append("  ").append(text).append('\n');
  }
}
