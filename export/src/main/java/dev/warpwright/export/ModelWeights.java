package dev.warpwright.export;

import dev.warpwright.base.json.Json;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Origin;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which constants of a program are made of which weights of the model's file, and how. What was
 * computed from weights, such as a batch norm in the layer before it, stays as it is.
 */
final class ModelWeights {
  /** Names that the module has itself. */
  private static final Set<String> TAKEN = Set.of("repack", "forward", "_constants", "_apply");

  private final List<PackedConstant> packed;
  private final Map<String, ConstantTensor> weights = new LinkedHashMap<>();

  ModelWeights(List<PackedConstant> packed) {
    this.packed = List.copyOf(packed);
    for (PackedConstant constant : packed) {
      List<ConstantTensor> made = Origin.weights(constant.constant().source());
      if (made != null && made.stream().allMatch(ModelWeights::isParameter)) {
        made.forEach(weight -> weights.putIfAbsent(name(weight), weight));
      }
    }
    // A name in front of another one would be a module and a parameter.
    List<String> names = List.copyOf(weights.keySet());
    for (String name : names) {
      if (names.stream().anyMatch(other -> other.startsWith(name + "."))) {
        weights.remove(name);
      }
    }
  }

  private static String name(ConstantTensor weight) {
    return weight.origin() instanceof Origin.Stored(String name) ? name : weight.name();
  }

  /** Scalars are numbers of a formula, and names must be some that a module can have. */
  private static boolean isParameter(ConstantTensor tensor) {
    boolean floats =
        switch (tensor.dtype()) {
          case F16, BF16, F32, F64 -> true;
          case BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE -> false;
        };
    String name = name(tensor);
    return floats
        && tensor.rank() >= 1
        && tensor.rank() <= 2
        && !List.of((name + ".").split("\\.", -1)).subList(0, 1).contains("")
        && !name.contains("..")
        && !name.endsWith(".")
        && name.chars().allMatch(c -> c >= ' ' && c < 127 && c != '"' && c != '\\')
        && !TAKEN.contains(name.split("\\.", -1)[0]);
  }

  List<PackedConstant> packed() {
    return packed;
  }

  /** The parameters' names. */
  Set<String> names() {
    return weights.keySet();
  }

  /** How a constant is made of the parameters {@code w}, in Python; null if it stays as it is. */
  @Nullable String values(PackedConstant constant) {
    ConstantTensor source = constant.constant().source();
    List<ConstantTensor> made = Origin.weights(source);
    if (made == null || made.isEmpty() || !made.stream().allMatch(weights::containsValue)) {
      return null;
    }
    Buffer logical = constant.constant().buffer();
    String text = python(source);
    if (logical.rank() == 1 && source.rank() == 2) {
      return text + "[:, 0]";
    }
    if (logical.rank() == 2 && source.rank() == 1) {
      text += "[:, None]";
    }
    return constant.constant().transposed() ? text + ".t()" : text;
  }

  private static String python(ConstantTensor tensor) {
    return switch (tensor.origin()) {
      case null -> throw new IllegalStateException(tensor + " was computed");
      case Origin.Stored(String name) -> "w[\"" + name + "\"]";
      case Origin.Reshaped(ConstantTensor from) -> python(from) + ".reshape(" + shape(tensor) + ")";
      case Origin.Transposed(ConstantTensor from) -> python(from) + ".t()";
      case Origin.Block(ConstantTensor from, long row, long column) ->
          tensor.rank() == 1
              ? python(from) + "[" + range(row, tensor.shape().getFirst()) + "]"
              : python(from)
                  + "["
                  + range(row, tensor.shape().getFirst())
                  + ", "
                  + range(column, tensor.shape().getLast())
                  + "]";
      case Origin.Rounded(ConstantTensor from) -> "_tf32(" + python(from) + ")";
      case Origin.Zeros(ConstantTensor like) -> "torch.zeros_like(" + python(like) + ")";
      case Origin.Interleaved(ConstantTensor from, ConstantTensor other, long rows, int group) ->
          String.format(
              Locale.ROOT,
              "_interleaved(%s, %s, %d, %d)",
              python(from),
              other == null ? "None" : python(other),
              rows,
              group);
      case Origin.Scaled(ConstantTensor from, ConstantTensor factors) ->
          String.format(
              Locale.ROOT,
              "(%1$s.float() * %2$s.float().reshape(-1)).to(%1$s.dtype)",
              python(from),
              python(factors));
      case Origin.Stacked(List<ConstantTensor> parts) ->
          "torch.cat(("
              + String.join(", ", parts.stream().map(ModelWeights::python).toList())
              + "))";
    };
  }

  private static String range(long first, long count) {
    return first + ":" + (first + count);
  }

  private static String shape(ConstantTensor tensor) {
    return tensor.shape().toString().replace("[", "").replace("]", "");
  }

  /** The parameters as a file of safetensors. */
  byte[] safetensors() {
    Json.Members header = Json.object();
    long end = 0;
    for (Map.Entry<String, ConstantTensor> entry : weights.entrySet()) {
      ConstantTensor weight = entry.getValue();
      long first = end;
      end += weight.data().byteSize();
      header =
          header.with(
              entry.getKey(),
              Json.object()
                  .with("dtype", type(weight.dtype()))
                  .with("shape", Json.array(weight.shape(), Json::of))
                  .with("data_offsets", Json.array(List.of(first, end), Json::of)));
    }
    StringBuilder text = new StringBuilder(header.write());
    while (text.length() % 8 != 0) {
      text.append(' ');
    }
    byte[] json = text.toString().getBytes(StandardCharsets.UTF_8);
    ByteBuffer file =
        ByteBuffer.allocate(Math.toIntExact(8 + json.length + end)).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(json.length).put(json);
    for (ConstantTensor weight : weights.values()) {
      MemorySegment data = weight.data();
      file.put(data.toArray(ValueLayout.JAVA_BYTE));
    }
    return file.array();
  }

  private static String type(DType dtype) {
    return dtype.text().toUpperCase(Locale.ROOT);
  }
}
