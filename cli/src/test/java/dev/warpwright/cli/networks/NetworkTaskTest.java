package dev.warpwright.cli.networks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.workload.Precision;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a task's words say of its accumulators. */
class NetworkTaskTest {
  private static NetworkTask of(String what, String words) {
    return NetworkTask.of(what, new KeyValues(List.of(words.split(" "))), null);
  }

  @ParameterizedTest
  @CsvSource({
    "mlp, widths=16;16 rows=4 act=relu bias=0 dtype=f16 seed=1 acc=f16",
    "ffn, M=4 D=16 H=32 gated=1 act=silu bias=0 dtype=f16 seed=1 acc=f16",
    "layer, HQ=2 HKV=1 D=16 H=32 S=8 dtype=f16 rows=2 seed=1 acc=f16",
  })
  void accumulatorsInF16AreAskedForAndSaid(String what, String words) {
    NetworkTask task = of(what, words.replace(';', ','));
    assertThat(task.precision()).isEqualTo(Precision.F16_ACCUMULATORS);
    assertThat(task.words()).contains("dtype=f16", "acc=f16");
    // As a worker is told.
    assertThat(of(what, String.join(" ", task.words())).text()).isEqualTo(task.text());
  }

  @Test
  void theyAreF32Otherwise() {
    NetworkTask task = of("mlp", "widths=16,16 rows=4");
    assertThat(task.precision()).isEqualTo(Precision.F16);
    assertThat(task.text()).isEqualTo("mlp widths=16,16 act=relu bias=0 dtype=f16 rows=4 seed=1");
    assertThat(of("mlp", "widths=16,16 rows=4 acc=f32").text()).isEqualTo(task.text());
  }

  @ParameterizedTest
  @CsvSource({
    "dtype=bf16 acc=f16, acc=f16: accumulators of networks in bf16 are f32; acc=f16 is for dtype=f16",
    "dtype=tf32 acc=f16, acc=f16: accumulators of networks in tf32 are f32; acc=f16 is for dtype=f16",
    "dtype=f16 acc=bf16, acc=bf16: accumulators of networks in f16 are f32 or f16",
    "dtype=f16_accumulators, 'dtype=f16_accumulators: it is f32, tf32, f16 or bf16'",
  })
  void othersAreRefused(String words, String why) {
    assertThatThrownBy(() -> of("mlp", "widths=16,16 rows=4 " + words))
        .isInstanceOf(UserError.class)
        .hasMessage(why);
  }
}
