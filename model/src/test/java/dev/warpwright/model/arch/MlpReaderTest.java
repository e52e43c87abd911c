package dev.warpwright.model.arch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.model.ModelFile;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MlpReaderTest {
  @TempDir Path folder;

  /** Two layers of one weight each, 1 and 2, and PReLU's slope 0.25 between them. */
  private Path weights() throws IOException {
    String header =
        "{\"0.weight\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]},"
            + "\"1.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]},"
            + "\"2.weight\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[8,12]}}";
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(8 + text.length + 12).order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(text.length).put(text).putFloat(1).putFloat(0.25f).putFloat(2);
    return Files.write(folder.resolve("w.safetensors"), out.array());
  }

  private Graph load(String arch) throws IOException {
    return ModelFile.load(weights(), Architecture.parse(arch));
  }

  @Test
  void preluTakesTheSlopesBetweenTheLayers() throws IOException {
    Graph graph = load("mlp:1,1,1:prelu");
    List<double[]> results = GraphEvaluator.evaluate(graph, 2, List.of(new double[] {-4, 3}));
    assertThat(results.getFirst()).containsExactly(-2, 6);
  }

  @Test
  void slopesThatNobodyTakesBelongToNoLayer() {
    assertThatThrownBy(() -> load("mlp:1,1,1:mish"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("tensor '1.weight' belongs to no layer");
  }

  @Test
  void refusesActivationsThatItCannotComplete() {
    assertThatThrownBy(() -> load("mlp:1,1,1:clip"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("clip needs \"min\"; describe the network in a file, --arch");
    assertThatThrownBy(() -> load("mlp:1,1,1:softshrink"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("unknown activation 'softshrink'; supported: relu, ")
        .hasMessageContaining("leaky_relu, prelu, elu, celu, clip, softmax, log_softmax");
  }
}
