package dev.warpwright.cli.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.measure.network.LibraryLayers;
import dev.warpwright.measure.network.LibraryLayers.Layer;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.workload.Activation;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What of a graph a library computes. */
final class LibraryChainTest {
  private static NetworkTask task(String what, String... words) {
    return NetworkTask.of(what, new KeyValues(List.of(words)), null);
  }

  private static LibraryLayers layers(NetworkTask task) {
    return LibraryChain.of(task.graph(), task.precision()).orElseThrow();
  }

  private static ConstantTensor weight(NetworkTask task, int linear) {
    return task.graph().nodes().stream()
        .filter(Linear.class::isInstance)
        .map(Linear.class::cast)
        .toList()
        .get(linear)
        .weight();
  }

  @Test
  void theProjectionsOfAGateAreOneLayer() {
    NetworkTask task = task("ffn", "M=3", "D=16", "H=32", "gated=1", "bias=1");
    List<Layer> layers = layers(task).layers();
    assertThat(layers).hasSize(2);
    Layer first = layers.getFirst();
    assertThat(first.activation()).isEqualTo(Activation.SILU);
    assertThat(first.n()).isEqualTo(32);
    assertThat(first.k()).isEqualTo(16);
    assertThat(first.weights()).hasSize(2);
    assertThat(first.biases()).hasSize(2);
    // The gate first.
    assertThat(first.weights().getFirst().mismatch(weight(task, 0).data())).isEqualTo(-1);
    assertThat(first.weights().getLast().mismatch(weight(task, 1).data())).isEqualTo(-1);
    assertThat(layers.getLast().activation()).isEqualTo(Activation.NONE);
    assertThat(layers.getLast().weights()).hasSize(1);
  }

  @Test
  void layersAreInTheirOrderAndInTheOperandsType() {
    NetworkTask task = task("mlp", "rows=3", "widths=16,24,8", "act=gelu", "dtype=f16");
    List<Layer> layers = layers(task).layers();
    assertThat(layers).extracting(Layer::n).containsExactly(24, 8);
    assertThat(layers)
        .extracting(Layer::activation)
        .containsExactly(Activation.GELU, Activation.NONE);
    assertThat(layers.getFirst().weights().getFirst().byteSize()).isEqualTo(24 * 16 * 2);
  }

  @Test
  void whatIsNoChainHasNoBaseline() {
    NetworkTask task = task("mlp", "rows=3", "widths=16,24,8", "act=elu", "dtype=f16");
    assertThat(LibraryChain.of(task.graph(), task.precision())).isEqualTo(Optional.empty());
  }
}
