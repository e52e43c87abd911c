package dev.warpwright.model.graph;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** Which outputs are inputs but for some columns. */
final class InputUpdatesTest {
  private static final List<Dim> ROWS = List.of(new Dim.Symbolic("batch"));

  /** Two heads of three places of two columns. */
  private final Value cache = value("cache", 12);

  private final Value token = value("token", 4);
  private final Value made = value("made", 4);
  private final Value both = value("both", 16);
  private final Value out = value("out", 12);
  private final List<Node> nodes =
      new ArrayList<>(
          List.of(
              new Elementwise(made, Activation.RELU, List.of(new Operand.OfValue(token)), "relu"),
              new Concat(both, List.of(cache, made), "both")));

  private static Value value(String name, int features) {
    return new Value(name, DType.F32, features, ROWS);
  }

  private InputUpdates.Update update(IntUnaryOperator source, Value... more) {
    int[] sources = new int[12];
    Arrays.setAll(sources, source);
    nodes.add(new Columns(out, both, sources, "out"));
    List<Value> outputs = new ArrayList<>(List.of(out));
    outputs.addAll(List.of(more));
    return new InputUpdates(new Graph("g", List.of(cache, token), outputs, nodes)).of(out);
  }

  @Test
  void aPlaceOfEachHead() {
    InputUpdates.Update update = update(n -> n % 6 < 4 ? n : 12 + n / 6 * 2 + n % 2);
    assertThat(update).isEqualTo(new InputUpdates.Update(cache, made, 2, 6, 4, 2));
  }

  @Test
  void aPlaceInTheMiddle() {
    InputUpdates.Update update = update(n -> n % 6 / 2 == 1 ? 12 + n / 6 * 2 + n % 2 : n);
    assertThat(update).isEqualTo(new InputUpdates.Update(cache, made, 2, 6, 2, 2));
  }

  @Test
  void noneWhereColumnsMove() {
    assertThat(update(n -> n % 6 < 4 ? n / 6 * 6 + n % 6 + 2 : 12 + n / 6 * 2 + n % 2)).isNull();
  }

  @Test
  void noneWhereNewColumnsAreTurned() {
    assertThat(update(n -> n % 6 < 4 ? n : 15 - (n / 6 * 2 + n % 2))).isNull();
  }

  @Test
  void noneWhereSomebodyElseReadsTheInput() {
    Value other = value("other", 12);
    nodes.add(
        new Elementwise(other, Activation.RELU, List.of(new Operand.OfValue(cache)), "other"));
    assertThat(update(n -> n % 6 < 4 ? n : 12 + n / 6 * 2 + n % 2, other)).isNull();
  }

  @Test
  void noneWhereBothAreAResult() {
    assertThat(update(n -> n % 6 < 4 ? n : 12 + n / 6 * 2 + n % 2, both)).isNull();
  }
}
