package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.verify.mutation.Mutant;
import dev.warpwright.workload.kernel.KernelSpecialization;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A mutant as a CUDA program of its own that launches it once, on random numbers, to be run under
 * compute-sanitizer.
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
   * @param number of the mutant, for its name
   * @param scalars values of the kernel's scalar parameters
   * @throws UserError if the mutant cannot be printed for the target, for example because it needs
   *     more shared memory than that has
   */
  public static String text(
      Mutant mutant, int number, Map<String, Long> scalars, GpuTarget target) {
    Kernel shaped = KernelSpecialization.specialize(mutant.kernel(), scalars);
    Kernel kernel = shaped.withName(name(number));
    StringBuilder text = new StringBuilder(CudaPrinter.print(kernel, target));
    text.append(
        """

        #include <chrono>
        #include <cstdio>
        #include <cstdlib>
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
              std::printf("does not end\\n");
              return false;
            }
            usleep(1000);
          }
          std::printf("%s\\n", cudaGetErrorString(e));
          return true;
        }

        int main() {
        """);
    launch(kernel, text);
    return text.toString();
  }

  private static void launch(Kernel kernel, StringBuilder text) {
    List<String> arguments = new ArrayList<>();
    for (Param param : kernel.params()) {
      Buffer buffer = (Buffer) param;
      String name = "p" + arguments.size();
      text.append(
          String.format(
              Locale.ROOT,
              "    void* %s = filled(%dull, %d, %b);%n",
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
          String.format(
              Locale.ROOT,
              "    cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %d);%n",
              function,
              shared));
    }
    text.append(
        String.format(
            Locale.ROOT,
            "    cudaLaunchKernel((const void*)%s, dim3(%s), dim3(%s), args, %d, 0);%n",
            function,
            extents(kernel, true),
            extents(kernel, false),
            shared));
    text.append(
        """
            if (!finished()) {
              std::fflush(stdout);
              _exit(1);
            }
        }
        """);
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
