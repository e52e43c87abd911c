package dev.warpwright.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {
  private static final List<String> KNOWN =
      List.of("gemm", "mlp", "ffn", "layer", "attention", "H", "HQ", "dtype", "--dtype", "bias");

  @ParameterizedTest
  @CsvSource({
    "gem, gemm",
    "gemmm, gemm",
    "mpl, mlp",
    "fnn, ffn",
    "drype, dtype",
    "--drype, --dtype",
    "atention, attention",
    "attnetoin, attention",
    "baes, bias",
    "h, H",
    "Bias, bias",
  })
  void findsWhatWasMeant(String given, String meant) {
    assertThat(Spelling.nearest(given, KNOWN)).isEqualTo(meant);
    assertThat(Spelling.meant(given, KNOWN)).isEqualTo("is '" + meant + "' meant? ");
  }

  @ParameterizedTest
  @CsvSource({"g", "K", "model", "xxmm", "pml", "ba", "resnet.onnx", "''"})
  void guessesNothingFar(String given) {
    assertThat(Spelling.nearest(given, KNOWN)).isNull();
    assertThat(Spelling.meant(given, KNOWN)).isEmpty();
  }

  @Test
  void takesTheNearest() {
    assertThat(Spelling.nearest("residuals", List.of("residue", "residual"))).isEqualTo("residual");
  }
}
