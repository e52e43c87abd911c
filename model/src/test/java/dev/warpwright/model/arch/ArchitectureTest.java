package dev.warpwright.model.arch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.model.arch.Architecture.Described;
import dev.warpwright.model.arch.Architecture.Mlp;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ArchitectureTest {
  @Test
  void oneActivationServesEveryHiddenLayer() {
    assertThat(Architecture.parse("mlp:64,128,64,10:relu"))
        .isEqualTo(new Mlp(List.of(64, 128, 64, 10), List.of("relu", "relu")));
  }

  @Test
  void oneActivationForEachHiddenLayer() {
    assertThat(Architecture.parse("mlp:64,33,17,10:softplus,hardswish"))
        .isEqualTo(new Mlp(List.of(64, 33, 17, 10), List.of("softplus", "hardswish")));
  }

  @Test
  void noHiddenLayerNeedsNoActivation() {
    assertThat(Architecture.parse("mlp:8,4")).isEqualTo(new Mlp(List.of(8, 4), List.of()));
  }

  @Test
  void aFile() {
    assertThat(Architecture.parse("a/arch.json")).isEqualTo(new Described(Path.of("a/arch.json")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "cnn:1,2 | give mlp:",
        "mlp:8 | at least two widths",
        "mlp: | '' is not a positive",
        "mlp:8,0,4:relu | '0' is not a positive",
        "mlp:8,99999999999,4:relu | '99999999999' is not a positive",
        "mlp:8,x,4:relu | 'x' is not a positive",
        "mlp:8,4,2 | an activation",
        "mlp:8,4,2:relu:gelu | once",
        "mlp:8,4,2: | an activation is empty",
        "mlp:8,4,2:relu,relu | 2 activations for 1 hidden",
        "mlp:8,4,4,4,2:relu,relu | 2 activations for 3 hidden",
        "mlp:8,4:relu | 1 activations for 0 hidden",
      })
  void refuses(String text, String why) {
    assertThatThrownBy(() -> Architecture.parse(text))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("--arch '" + text + "': ")
        .hasMessageContaining(why);
  }
}
