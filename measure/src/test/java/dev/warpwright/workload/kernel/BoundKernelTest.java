package dev.warpwright.workload.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.SampleKernels;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel.Content;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BoundKernelTest {
  private static final Map<String, Long> SHAPE = Map.of("M", 50L, "N", 20L, "K", 9L);

  @Test
  void everyBufferGetsItsContent() {
    BoundKernel bound = BoundKernel.of(SampleKernels.parse(SampleKernels.GEMM), SHAPE);
    assertThat(bound.kernel().scalars()).isEmpty();
    assertThat(bound.workload().text()).isEqualTo("gemm_nt M=50 N=20 K=9 bf16");
    assertThat(bound.workload().flops()).isEqualTo(2.0 * 50 * 20 * 9);
    assertThat(bound.workload().leastBytes()).isEqualTo(2 * (50 * 9 + 20 * 9 + 50 * 20));
    assertThat(bound.contents().keySet()).containsExactlyElementsOf(bound.kernel().buffers());
    // Four rows of two cluster tiles of 16 x 16, in bands of two rows.
    assertThat(List.copyOf(bound.contents().values()))
        .containsExactly(
            new Content.Random(1),
            new Content.Random(1),
            new Content.Poison(),
            new Content.Table(
                List.of(0, 1 << 16, 1, 1 << 16 | 1, 2 << 16, 3 << 16, 2 << 16 | 1, 3 << 16 | 1)),
            new Content.Zero());
  }

  /** The arguments that the contents describe make the kernel compute its workload. */
  @Test
  void theWorkloadIsComputed() {
    BoundKernel bound = BoundKernel.of(SampleKernels.parse(SampleKernels.GEMM), SHAPE);
    Arguments arguments = Arguments.of(bound.kernel().params());
    bound
        .contents()
        .forEach(
            (buffer, content) -> {
              NdArray array = NdArray.of(buffer);
              switch (content) {
                case Content.Random _ -> array.fillRandom(buffer.name().hashCode());
                case Content.Poison _ -> array.poison();
                case Content.Zero _ -> {}
                case Content.Table(List<Integer> values) -> {
                  for (int i = 0; i < values.size(); i++) {
                    array.setIntegerElement(i, values.get(i));
                  }
                }
              }
              arguments.bind(buffer, array);
            });
    new GridInterpreter(bound.kernel(), GridOptions.DEFAULT).run(arguments);
    NdArray a = arguments.get("A");
    NdArray b = arguments.get("B");
    NdArray c = arguments.get("C");
    for (int m = 0; m < 50; m++) {
      for (int n = 0; n < 20; n++) {
        double sum = 0;
        for (int k = 0; k < 9; k++) {
          sum += a.get(m, k) * b.get(n, k);
        }
        assertThat(c.get(m, n)).isCloseTo(sum, org.assertj.core.data.Offset.offset(0.02));
      }
    }
  }

  /** What the families list is what whoever launches their kernels makes of the attributes. */
  @Test
  void dividedWork() {
    ScheduledGemm gemm =
        HopperGemm.schedule(
            GemmWorkload.nt(300, 264, 520, DType.BF16),
            HopperConfig.pairs(64, 64, 3, 1, 6).withDivision(new WorkDivision.Stream(1)));
    BoundKernel bound = BoundKernel.of(gemm.kernel(), Map.of());
    assertThat(bound.contents().values()).contains(new Content.Table(gemm.table()));
    bound
        .contents()
        .forEach(
            (buffer, content) -> {
              if (buffer.name().equals("counters")) {
                assertThat(content).isEqualTo(new Content.Zero());
              }
            });
  }

  @Test
  void feedForwardNetworks() {
    BoundKernel bound =
        BoundKernel.of(
            SampleKernels.parse(
                """
                kernel ffn(X: bf16[M, 8], W1: bf16[32, 8], H: bf16[M, 32], W2: bf16[12, 32], Y: bf16[M, 12],
                    counters: u32[7], tmp: f32[3], M: i32 in 1..64) grid(bx = 1) block(tid = 32)
                    [workload = "ffn_gelu", zero = "counters"] {
                  Y[0, 0] = X[0, 0]
                }
                """),
            Map.of("M", 16L));
    assertThat(bound.workload().text()).isEqualTo("ffn_gelu M=16 K1=8 N1=32 N2=12 bf16");
    assertThat(bound.workload().flops()).isEqualTo(2.0 * 16 * 32 * (8 + 12));
    assertThat(bound.workload().outputs().stream().map(Buffer::name)).containsExactly("H", "Y");
    assertThat(List.copyOf(bound.contents().values()))
        .containsExactly(
            new Content.Random(1),
            new Content.Random(1 / Math.sqrt(8)),
            new Content.Poison(),
            new Content.Random(1 / Math.sqrt(32)),
            new Content.Poison(),
            new Content.Zero(),
            new Content.Poison());
  }

  @Test
  void whatDoesNotFitIsRefused() {
    refused(SampleKernels.GEMM, Map.of("M", 50L), "no value for N, K; give N=... K=...");
    refused(
        SampleKernels.GEMM.replace("zero = \"seen\"", "zero = \"unseen\""),
        SHAPE,
        "zero names no buffer: unseen");
    refused(SampleKernels.GEMM.replace("tileN = 16, ", ""), SHAPE, "positive attributes tileN");
    refused(SampleKernels.GEMM.replace("gemm_nt", "gemm"), SHAPE, "workload \"gemm\" is none");
    refused(SampleKernels.GEMM.replace("B: bf16[N, K]", "B: bf16[N, 8]"), SHAPE, "does not fit");
    refused(SampleKernels.GEMM.replace("i32[T]", "i32[9]"), SHAPE, "no value for T");
  }

  private static void refused(String text, Map<String, Long> values, String message) {
    assertThatThrownBy(() -> BoundKernel.of(SampleKernels.parse(text), values))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(message);
  }
}
