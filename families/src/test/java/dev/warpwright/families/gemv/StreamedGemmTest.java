package dev.warpwright.families.gemv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.families.Simulated;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Products of few rows whose columns are streamed. */
class StreamedGemmTest {
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU);

  @ParameterizedTest
  @CsvSource({
    // rows, columns, K; then the configuration
    "1, 64, 256, 2, 1, 32, 1, 4, 1",
    "1, 67, 131, 2, 2, 16, 2, 1, 2",
    "3, 17, 127, 1, 4, 8, 1, 2, 1",
    "8, 40, 96, 4, 1, 8, 2, 1, 1",
    "5, 9, 1, 8, 1, 32, 1, 1, 1",
    "1, 1, 1, 1, 1, 32, 8, 1, 1",
    "2, 33, 260, 1, 7, 1, 2, 1, 1"
  })
  void computesWhatItWasMadeOf(
      long m,
      long n,
      long k,
      int columns,
      int reads,
      int lanesK,
      int warpsK,
      int warpsN,
      int blocks) {
    StreamedConfig config = new StreamedConfig(columns, reads, lanesK, warpsK, warpsN, blocks);
    for (Epilogue epilogue : new Epilogue[] {Epilogue.NONE, ALL}) {
      GemmWorkload workload = new GemmWorkload(m, n, k, DType.F32, DType.F32, Layout.NT, epilogue);
      Simulated.assertComputes(StreamedGemm.schedule(workload, config, GpuTarget.SM_75), 2e-6);
    }
  }

  @Test
  void takesDoubles() {
    Simulated.assertComputes(
        StreamedGemm.schedule(
            GemmWorkload.nt(3, 21, 70, DType.F64),
            new StreamedConfig(2, 2, 8, 1, 2, 1),
            GpuTarget.SM_90A),
        1e-14);
  }

  @Test
  void refusesWhatDoesNotFit() {
    StreamedConfig good = new StreamedConfig(2, 2, 32, 1, 4, 1);
    refused(GemmWorkload.nt(9, 64, 64, DType.F32), good, "9 rows");
    refused(GemmWorkload.of(2, 64, 64, DType.F32, Layout.NN), good, "lie otherwise");
    refused(GemmWorkload.nt(1, 64, 64, DType.BF16), good, "not bf16");
    GemmWorkload row = GemmWorkload.nt(1, 64, 64, DType.F32);
    refused(row, new StreamedConfig(2, 2, 5, 1, 4, 1), "no 5 lanes");
    refused(row, new StreamedConfig(0, 2, 32, 1, 4, 1), "0 columns");
    refused(row, new StreamedConfig(2, 2, 32, 8, 8, 1), "2048 threads");
    refused(row, new StreamedConfig(8, 8, 32, 1, 16, 2), "registers");
    assertThat(
            StreamedGemm.problem(
                GemmWorkload.nt(8, 64, 64, DType.F32),
                new StreamedConfig(4, 1, 32, 4, 4, 1),
                GpuTarget.SM_75))
        .contains("bytes of shared memory");
  }

  private static void refused(GemmWorkload workload, StreamedConfig config, String why) {
    assertThat(StreamedGemm.problem(workload, config, GpuTarget.SM_90A))
        .contains(why)
        .doesNotContain("\n");
    assertThatThrownBy(() -> StreamedGemm.schedule(workload, config, GpuTarget.SM_90A))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(why);
  }
}
