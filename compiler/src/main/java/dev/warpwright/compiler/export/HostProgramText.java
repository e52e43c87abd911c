package dev.warpwright.compiler.export;

import dev.warpwright.compiler.bench.Workload;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.families.Epilogue;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarEval;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Walk;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The host program of an exported kernel. */
final class HostProgramText {
  private HostProgramText() {}

  /** The constants of the launch, by the names that the program calls them. */
  static Map<String, Long> launch(Kernel kernel) {
    Map<String, Long> constants = new LinkedHashMap<>();
    constants.put("kGridX", extent(kernel, ThreadAxis.BLOCK_X));
    constants.put("kGridY", extent(kernel, ThreadAxis.BLOCK_Y));
    constants.put("kGridZ", extent(kernel, ThreadAxis.BLOCK_Z));
    constants.put("kBlockX", extent(kernel, ThreadAxis.THREAD_X));
    constants.put("kBlockY", extent(kernel, ThreadAxis.THREAD_Y));
    constants.put("kBlockZ", extent(kernel, ThreadAxis.THREAD_Z));
    constants.put("kDynamicSharedBytes", (long) KernelResources.of(kernel).dynamicSharedBytes());
    return constants;
  }

  private static long extent(Kernel kernel, ThreadAxis axis) {
    return ScalarEval.eval(kernel.extent(axis), Map.of());
  }

  static String of(Kernel kernel, GpuTarget target, @Nullable Workload workload) {
    String function = CudaPrinter.functionName(kernel);
    List<String> names = kernel.buffers().stream().map(b -> "d_" + b.name()).toList();
    StringBuilder out = new StringBuilder();
    out.append(
        """
        // Runs the kernel on random data%s and times it:
        //   nvcc -arch=%s -fmad=false -O3 -o %s main.cu && ./%s
        #include <algorithm>
        #include <cmath>
        #include <cstddef>
        #include <cstdio>
        #include <cstdlib>
        #include <random>
        #include <vector>

        #include "kernel.cuh"

        static void check(cudaError_t status, const char* what) {
          if (status != cudaSuccess) {
            std::fprintf(stderr, "%%s: %%s\\n", what, cudaGetErrorString(status));
            std::exit(3);
          }
        }

        static float* upload(const std::vector<float>& host) {
          float* device = nullptr;
          check(cudaMalloc(&device, host.size() * sizeof(float)), "cudaMalloc");
          check(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice),
                "cudaMemcpy");
          return device;
        }

        static std::vector<float> random_values(std::size_t count, unsigned seed) {
          std::mt19937 generator(seed);
          std::normal_distribution<float> normal;
          std::vector<float> values(count);
          for (float& value : values) {
            value = normal(generator);
          }
          return values;
        }

        int main() {
        """
            .formatted(
                isProduct(workload) ? ", checks some of the result on the CPU," : "",
                target.name(),
                function,
                function));
    Set<Buffer> written = written(kernel);
    int seed = 1;
    for (Buffer buffer : kernel.buffers()) {
      String name = buffer.name();
      out.append(
          written.contains(buffer)
              ? "  std::vector<float> %s(%d, NAN);\n".formatted(name, buffer.storageElements())
              : "  std::vector<float> %s = random_values(%d, %d);\n"
                  .formatted(name, buffer.storageElements(), seed++));
      out.append("  float* d_%s = upload(%s);\n".formatted(name, name));
    }
    out.append(
        """

          check(cudaFuncSetAttribute(%1$s, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     kDynamicSharedBytes),
                "shared memory");
          const dim3 grid(kGridX, kGridY, kGridZ);
          const dim3 block(kBlockX, kBlockY, kBlockZ);
          auto launch = [&] { %1$s<<<grid, block, kDynamicSharedBytes>>>(%2$s); };
          launch();
          check(cudaDeviceSynchronize(), "%1$s");
        """
            .formatted(function, String.join(", ", names)));
    for (Buffer buffer : written) {
      out.append(
          """
            check(cudaMemcpy(%1$s.data(), d_%1$s, %1$s.size() * sizeof(float), cudaMemcpyDeviceToHost),
                  "cudaMemcpy");
          """
              .formatted(buffer.name()));
    }
    if (workload instanceof Workload.Gemm product && product.epilogue().equals(Epilogue.NONE)) {
      out.append(
          """

            // Some rows and columns, and the corners, in double precision.
            std::mt19937 generator(7);
            double errors = 0;
            double norm = 0;
            for (int sample = 0; sample < 1000; ++sample) {
              const std::size_t i = sample == 0 ? 0 : sample == 1 ? kM - 1 : generator() %% kM;
              const std::size_t j = sample == 0 ? 0 : sample == 1 ? kN - 1 : generator() %% kN;
              double sum = 0;
              for (std::size_t k = 0; k < kK; ++k) {
                sum += double(A[%s]) * B[%s];
              }
              errors += (C[i * kN + j] - sum) * (C[i * kN + j] - sum);
              norm += sum * sum;
            }
            const double error = std::sqrt(errors / norm);
            const bool right = error <= 3e-6;
            std::printf("relative error %%.2e of 1000 elements: %%s\\n", error, right ? "right" : "WRONG");
          """
              .formatted(
                  product.layout().transposedA() ? "k * kM + i" : "i * kK + k",
                  product.layout().transposedB() ? "j * kK + k" : "k * kN + j"));
    }
    out.append(
        """

          cudaEvent_t start;
          cudaEvent_t stop;
          check(cudaEventCreate(&start), "cudaEventCreate");
          check(cudaEventCreate(&stop), "cudaEventCreate");
          std::vector<float> times;
          for (int round = 0; round < 11; ++round) {
            check(cudaEventRecord(start), "cudaEventRecord");
            launch();
            check(cudaEventRecord(stop), "cudaEventRecord");
            check(cudaEventSynchronize(stop), "%s");
            float milliseconds = 0;
            check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
            times.push_back(milliseconds);
          }
          std::sort(times.begin(), times.end());
          const double seconds = times[times.size() / 2] * 1e-3;
        """
            .formatted(function));
    out.append(
        isProduct(workload)
            ? """
              std::printf("%.1f us, %.0f GFLOP/s\\n", seconds * 1e6, 2.0 * kM * kN * kK / seconds * 1e-9);
              return right ? 0 : 1;
            }
            """
            : """
              std::printf("%.1f us\\n", seconds * 1e6);
              return 0;
            }
            """);
    return out.toString();
  }

  private static boolean isProduct(@Nullable Workload workload) {
    return workload instanceof Workload.Gemm;
  }

  private static Set<Buffer> written(Kernel kernel) {
    Set<Buffer> written = new HashSet<>();
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Store store && kernel.buffers().contains(store.buffer())) {
            written.add(store.buffer());
          }
        });
    return written;
  }
}
