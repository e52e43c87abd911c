package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LaunchBlockTest {
  private static final LaunchConfig CONFIG =
      new LaunchConfig(new Dim3(12, 6, 4), new Dim3(32, 2, 3), new Dim3(2, 3, 1), 777, true, true);

  @Test
  void theConfigAndItsAttributesLieWhereTheHeaderSays() {
    LaunchBlock block = new LaunchBlock(CONFIG, List.of());
    block.stream(0x1122334455667788L);
    MemorySegment m = block.memory();
    assertThat(ints(m, 0, 7)).containsExactly(12, 6, 4, 32, 2, 3, 777);
    assertThat(m.get(JAVA_LONG, 32)).isEqualTo(0x1122334455667788L);
    assertThat(m.get(JAVA_INT, 48)).as("number of attributes").isEqualTo(3);
    assertThat(block.config()).isEqualTo(m.address());
    long at = m.get(JAVA_LONG, 40) - m.address();
    assertThat(at).isGreaterThanOrEqualTo(LaunchBlock.CONFIG_BYTES).matches(o -> o % 8 == 0);
    assertThat(m.get(JAVA_INT, at)).as("cluster dimension").isEqualTo(4);
    assertThat(ints(m, at + 8, 3)).containsExactly(2, 3, 1);
    at += LaunchBlock.ATTRIBUTE_BYTES;
    assertThat(m.get(JAVA_INT, at)).as("programmatic serialization").isEqualTo(6);
    assertThat(m.get(JAVA_INT, at + 8)).isEqualTo(1);
    at += LaunchBlock.ATTRIBUTE_BYTES;
    assertThat(m.get(JAVA_INT, at)).as("cooperative").isEqualTo(2);
    assertThat(m.get(JAVA_INT, at + 8)).isEqualTo(1);
    at += LaunchBlock.ATTRIBUTE_BYTES;
    assertThat(at).isLessThanOrEqualTo(block.parameters() - m.address());
  }

  @Test
  void aPlainLaunchHasNoAttributes() {
    LaunchBlock block = new LaunchBlock(LaunchConfig.of(3, 64), List.of());
    assertThat(block.memory().get(JAVA_INT, 48)).isZero();
  }

  @Test
  void everyParameterPointsToItsValue() {
    LaunchBlock block =
        new LaunchBlock(
            LaunchConfig.of(1, 32),
            List.of(KernelArgument.of(-5), KernelArgument.of(1L << 40), KernelArgument.of(2.5f)));
    MemorySegment m = block.memory();
    assertThat(value(block, 0).get(JAVA_INT, 0)).isEqualTo(-5);
    assertThat(value(block, 1).get(JAVA_LONG, 0)).isEqualTo(1L << 40);
    assertThat(value(block, 2).get(JAVA_FLOAT, 0)).isEqualTo(2.5f);
    block.write(1, KernelArgument.of(7L));
    assertThat(value(block, 1).get(JAVA_LONG, 0)).isEqualTo(7);
    assertThat(value(block, 0).get(JAVA_INT, 0)).isEqualTo(-5);
    assertThat(m.address() % TensorMap.BYTES).as("alignment of tensor maps").isZero();
    assertThat(value(block, 2).address() % TensorMap.BYTES).isZero();
  }

  @Test
  void manyParametersDoNotOverlap() {
    List<KernelArgument> arguments =
        java.util.stream.LongStream.range(0, 100).mapToObj(KernelArgument::of).toList();
    LaunchBlock block = new LaunchBlock(CONFIG, arguments);
    for (int i = 0; i < 100; i++) {
      assertThat(value(block, i).get(JAVA_LONG, 0)).isEqualTo(i);
    }
    assertThat(block.memory().get(JAVA_INT, 48)).isEqualTo(3);
  }

  /** Asks the C compiler, where there is one and the toolkit's header. */
  @Test
  void theOffsetsAreThoseOfTheInstalledHeader(@TempDir Path folder) throws Exception {
    Path include = Path.of("/usr/local/cuda/include");
    assumeTrue(Files.exists(include.resolve("cuda.h")), "no cuda.h");
    Path source =
        Files.writeString(
            folder.resolve("offsets.c"),
            """
            #include <cuda.h>
            #include <stddef.h>
            #define IS(condition) _Static_assert(condition, #condition)
            IS(sizeof(CUlaunchConfig) == 56);
            IS(offsetof(CUlaunchConfig, blockDimX) == 12);
            IS(offsetof(CUlaunchConfig, sharedMemBytes) == 24);
            IS(offsetof(CUlaunchConfig, hStream) == 32);
            IS(offsetof(CUlaunchConfig, attrs) == 40);
            IS(offsetof(CUlaunchConfig, numAttrs) == 48);
            IS(sizeof(CUlaunchAttribute) == 72);
            IS(offsetof(CUlaunchAttribute, value) == 8);
            IS(CU_LAUNCH_ATTRIBUTE_COOPERATIVE == 2);
            IS(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == 4);
            IS(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION == 6);
            IS(sizeof(CUtensorMap) == 128 && _Alignof(CUtensorMap) <= 128);
            IS(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == 9 && CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == 12);
            IS(CU_TENSOR_MAP_SWIZZLE_128B == 3 && CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3);
            IS(CU_FUNC_ATTRIBUTE_NUM_REGS == 4 && CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES == 3);
            IS(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8);
            IS(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED == 14);
            IS(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == 97);
            IS(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR == 81);
            IS(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR == 82);
            IS(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR == 39);
            IS(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE == 38 && CU_DEVICE_ATTRIBUTE_CLOCK_RATE == 13);
            IS(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE == 36);
            IS(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH == 37);
            IS(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == 75);
            IS(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == 76);
            IS(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == 16);
            IS(CU_STREAM_NON_BLOCKING == 1 && CU_EVENT_DISABLE_TIMING == 2);
            IS(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL == 1 && CU_MEMHOSTALLOC_PORTABLE == 1);
            IS(CUDA_ERROR_NOT_READY == 600 && CUDA_ERROR_NO_DEVICE == 100);
            IS(CUDA_ERROR_DEINITIALIZED == 4 && CUDA_ERROR_ILLEGAL_ADDRESS == 700);
            IS(CUDA_ERROR_ECC_UNCORRECTABLE == 214 && CUDA_ERROR_LAUNCH_FAILED == 719);
            """);
    Process compiler;
    try {
      compiler =
          new ProcessBuilder("cc", "-std=c11", "-fsyntax-only", "-I" + include, source.toString())
              .redirectErrorStream(true)
              .start();
    } catch (IOException e) {
      abort("no C compiler");
      return;
    }
    String output = new String(compiler.getInputStream().readAllBytes(), UTF_8);
    assertThat(compiler.waitFor()).as(output).isZero();
  }

  private static MemorySegment value(LaunchBlock block, int index) {
    MemorySegment m = block.memory();
    long pointer = m.get(JAVA_LONG, block.parameters() - m.address() + 8L * index);
    return m.asSlice(pointer - m.address());
  }

  private static int[] ints(MemorySegment memory, long at, int count) {
    return memory.asSlice(at, 4L * count).toArray(ValueLayout.JAVA_INT);
  }
}
