package dev.warpwright.model.onnx;

import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The ONNX messages as far as they matter here, as the file has them: nothing is resolved. */
public final class Proto {
  /**
   * The domain of operators that ONNX has not: {@code Linear}, rows times a constant matrix
   * [outputs, inputs], and a bias if there is a third input; and the activations by their names.
   */
  public static final String OWN_DOMAIN = "warpwright";

  private Proto() {}

  /**
   * @param opsets operator set versions by domain; the standard domain is ""
   */
  public record Model(Map<String, Long> opsets, Graph graph) {}

  public record Graph(
      String name,
      List<Node> nodes,
      List<ConstantTensor> initializers,
      List<ValueInfo> inputs,
      List<ValueInfo> outputs) {}

  /**
   * @param inputs names; "" is an optional input left out
   * @param label how messages call this node, for example {@code node '/3/Erf'}
   * @param source what messages call the operator: as the file does that the node comes from
   */
  public record Node(
      String name,
      String label,
      String domain,
      String opType,
      String source,
      List<String> inputs,
      List<String> outputs,
      Map<String, Attribute> attributes) {}

  /** An attribute value; {@link Other} are the kinds that no supported operator has. */
  public sealed interface Attribute {
    record OfFloat(float value) implements Attribute {}

    record OfInt(long value) implements Attribute {}

    record OfString(String value) implements Attribute {}

    record OfTensor(ConstantTensor value) implements Attribute {}

    record OfFloats(List<Float> values) implements Attribute {}

    record OfInts(List<Long> values) implements Attribute {}

    record Other(String kind) implements Attribute {}
  }

  /**
   * @param elementType the ONNX code, 0 if the type is absent or no tensor
   * @param shape null if it is not declared
   */
  public record ValueInfo(String name, int elementType, @Nullable List<Dim> shape) {}
}
