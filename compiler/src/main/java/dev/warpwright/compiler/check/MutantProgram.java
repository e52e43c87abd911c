package dev.warpwright.compiler.check;

import dev.warpwright.compiler.bench.KernelSpecialization;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarEval;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.sim.mutation.Mutant;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Mutants as one CUDA program that launches each once, on random numbers, to be run under
 * compute-sanitizer. Kernels are called {@code mutant_0, mutant_1 …}.
 */
public final class MutantProgram {
  private MutantProgram() {}

  /** The name of a mutant's kernel. */
  public static String name(int number) {
    return "mutant_" + number;
  }

  /** Whether a kernel can be launched like this: without tensor maps or clusters. */
  public static boolean isPossible(Kernel kernel) {
    return !kernel.attrs().has("cluster")
        && !CudaPrinter.print(kernel, GpuTarget.SM_90A).contains("TensorMap");
  }

  /**
   * The program's text.
   *
   * @param scalars values of the kernels' scalar parameters
   */
  public static String text(List<Mutant> mutants, Map<String, Long> scalars, GpuTarget target) {
    List<Kernel> kernels = new ArrayList<>();
    for (int i = 0; i < mutants.size(); i++) {
      Kernel kernel = KernelSpecialization.specialize(mutants.get(i).kernel(), scalars);
      kernels.add(
          new Kernel(
              name(i),
              kernel.kind(),
              kernel.params(),
              kernel.bindings(),
              kernel.body(),
              kernel.attrs()));
    }
    StringBuilder text = new StringBuilder(CudaPrinter.print(kernels, target));
    text.append(
        """

        #include <chrono>
        #include <cstdio>
        #include <cstdlib>
        #include <string>
        #include <unistd.h>
        #include <vector>
        #include <cuda_runtime.h>

        // Random bytes that are small floats in every type, or zeros for integers.
        static void* filled(size_t bytes, int width, bool real) {
          std::vector<unsigned char> host(bytes, 0);
          for (size_t i = 0; real && i + width <= bytes; i += width) {
            float x = (std::rand() % 2001 - 1000) / 1000.0f;
            unsigned bits;
            static_assert(sizeof(bits) == sizeof(x));
            __builtin_memcpy(&bits, &x, 4);
            if (width == 4) __builtin_memcpy(&host[i], &bits, 4);
            if (width == 2) { host[i] = bits >> 16 & 255; host[i + 1] = 0x38 | (bits >> 24 & 0x80); }
          }
          void* device = nullptr;
          cudaMalloc(&device, bytes + 256);
          cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice);
          return device;
        }

        // Waits for a kernel, which may never end.
        static bool finished() {
          auto start = std::chrono::steady_clock::now();
          cudaError_t e;
          while ((e = cudaStreamQuery(0)) == cudaErrorNotReady) {
            if (std::chrono::steady_clock::now() - start > std::chrono::seconds(30)) {
              std::printf("  does not end\\n");
              return false;
            }
            usleep(1000);
          }
          std::printf("  %s\\n", cudaGetErrorString(e));
          return e == cudaSuccess;
        }

        """);
    kernels.forEach(kernel -> launch(kernel, text));
    text.append("static bool (*const launches[])() = {")
        .append(kernels.stream().map(k -> "launch_" + k.name()).collect(Collectors.joining(", ")))
        .append("};\n");
    return text.append(
            """

            // Arguments: the first mutant and how many. After one that failed or hangs, a new process goes on.
            int main(int count, char** args) {
              int first = count > 1 ? std::atoi(args[1]) : 0;
              int end = count > 2 ? first + std::atoi(args[2]) : %d;
              for (int i = first; i < end; i++) {
                std::printf("mutant_%%d\\n", i);
                bool good = launches[i]();
                std::fflush(stdout);
                if (!good && i + 1 < end) {
                  execl(args[0], args[0], std::to_string(i + 1).c_str(), std::to_string(end - i - 1).c_str(),
                        (char*)nullptr);
                }
              }
              return 0;
            }
            """
                .formatted(kernels.size()))
        .toString();
  }

  private static void launch(Kernel kernel, StringBuilder text) {
    List<String> arguments = new ArrayList<>();
    text.append("static bool launch_%s() {%n".formatted(kernel.name()));
    for (Param param : kernel.params()) {
      Buffer buffer = (Buffer) param;
      String name = "p" + arguments.size();
      text.append(
          "    void* %s = filled(%dull, %d, %b);%n"
              .formatted(
                  name,
                  buffer.storageElements() * buffer.dtype().bytes(),
                  buffer.dtype().bytes(),
                  buffer.dtype().isFloat()));
      arguments.add(name);
    }
    String function = CudaPrinter.functionName(kernel);
    int shared = KernelResources.of(kernel).dynamicSharedBytes();
    text.append("    void* args[] = {")
        .append(arguments.stream().map(a -> "&" + a).collect(Collectors.joining(", ")))
        .append("};\n");
    if (shared > 0) {
      text.append(
          "    cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %d);%n"
              .formatted(function, shared));
    }
    text.append(
        "    cudaLaunchKernel((const void*)%s, dim3(%s), dim3(%s), args, %d, 0);%n"
            .formatted(function, extents(kernel, true), extents(kernel, false), shared));
    text.append("    bool good = finished();\n");
    arguments.forEach(a -> text.append("    if (good) cudaFree(").append(a).append(");\n"));
    text.append("    return good;\n}\n\n");
  }

  private static String extents(Kernel kernel, boolean blocks) {
    List<String> extents = new ArrayList<>();
    for (ThreadAxis axis : ThreadAxis.values()) {
      if (axis.isBlock() == blocks) {
        extents.add(Long.toString(ScalarEval.eval(kernel.extent(axis), Map.of())));
      }
    }
    return String.join(", ", extents);
  }
}
