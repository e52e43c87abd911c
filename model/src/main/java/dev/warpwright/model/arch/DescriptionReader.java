package dev.warpwright.model.arch;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.base.files.FileBytes;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.io.Utf8;
import dev.warpwright.workload.Pointwise;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a description {@code {"ops": [{"op": "linear", "weight": …, "bias": …}, {"op": "relu"},
 * …]}}. Each operation and each of its fields is known, or refused by name.
 */
final class DescriptionReader {
  private static final long MAX_BYTES = 4 << 20;
  private static final double DEFAULT_EPSILON = 1e-5;

  private final String file;
  private String where = "";
  private Map<String, Json> fields = Map.of();

  private DescriptionReader(String file) {
    this.file = file;
  }

  /**
   * Reads a file.
   *
   * @throws UserError if it cannot be read, or describes no network
   */
  static List<Step> read(Path path) {
    String file = Names.printable(path.toString());
    MemorySegment bytes = FileBytes.read(path);
    String text = bytes.byteSize() > MAX_BYTES ? null : Utf8.decode(bytes);
    if (text == null) {
      throw new UserError(
          file + ": is no description of a network: no UTF-8 text, or more than 4 MiB of it");
    }
    return new DescriptionReader(file).steps(JsonParser.parse(file, text));
  }

  private List<Step> steps(Json document) {
    if (!(document instanceof Json.Members(Map<String, Json> top))
        || !top.keySet().equals(Set.of("ops"))
        || !(top.get("ops") instanceof Json.Array(List<Json> ops))) {
      throw new UserError(
          file
              + ": is no description of a network; give {\"ops\": [{\"op\": \"linear\", \"weight\":"
              + " NAME}, …]}");
    }
    List<Step> steps = new ArrayList<>();
    for (Json op : ops) {
      where = file + ": operation " + steps.size();
      if (!(op instanceof Json.Members(Map<String, Json> members))) {
        throw new UserError(where + " is " + op.kind() + " instead of an object");
      }
      fields = members;
      steps.add(step(text("op")));
    }
    return steps;
  }

  private Step step(String op) {
    where += " (" + Names.printable(op) + ")";
    return switch (op) {
      case "linear" -> {
        allow("weight", "bias");
        yield new Step.LinearStep(text("weight"), optional("bias"));
      }
      case "layer_norm" -> {
        allow("weight", "bias", "eps");
        yield new Step.NormStep(optional("weight"), optional("bias"), epsilon());
      }
      case "add" -> combine(ElementwiseOp.ADD);
      case "sub" -> combine(ElementwiseOp.SUB);
      case "mul" -> combine(ElementwiseOp.MUL);
      case "div" -> combine(ElementwiseOp.DIV);
      case "save" -> {
        allow("as");
        yield new Step.SaveStep(text("as"));
      }
      case "load" -> {
        allow("from");
        yield new Step.LoadStep(text("from"));
      }
      default -> function(op);
    };
  }

  private Step function(String op) {
    Pointwise plain = ParametricFunction.plain(op);
    if (plain != null) {
      allow();
      return new Step.PointwiseStep(plain);
    }
    ParametricFunction function = ParametricFunction.named(op);
    if (function == null) {
      throw new UserError(
          where
              + ": unknown operation; supported: linear, layer_norm, add, sub, mul, div, save,"
              + " load, "
              + ParametricFunction.names());
    }
    if (function == ParametricFunction.PRELU) {
      allow("weight");
      return new Step.FunctionStep(function, Map.of(), text("weight"));
    }
    List<String> names =
        function.parameters().stream().map(ParametricFunction.Parameter::name).toList();
    allow(names.toArray(String[]::new));
    Map<String, Double> numbers = new HashMap<>();
    for (ParametricFunction.Parameter parameter : function.parameters()) {
      if (fields.containsKey(parameter.name())) {
        numbers.put(parameter.name(), number(parameter.name()));
      } else if (parameter.otherwise() != null) {
        numbers.put(parameter.name(), parameter.otherwise());
      }
    }
    if (numbers.isEmpty() && !names.isEmpty()) {
      throw new UserError(where + ": give \"" + String.join("\" or \"", names) + "\", or both");
    }
    if (function == ParametricFunction.CELU && Objects.requireNonNull(numbers.get("alpha")) == 0) {
      throw new UserError(where + ": \"alpha\" must not be 0");
    }
    if (function == ParametricFunction.SOFTPLUS
        && Objects.requireNonNull(numbers.get("beta")) == 0) {
      throw new UserError(where + ": \"beta\" must not be 0");
    }
    return new Step.FunctionStep(function, numbers, null);
  }

  private Step combine(ElementwiseOp kind) {
    allow("value", "with");
    if (fields.containsKey("value") == fields.containsKey("with")) {
      throw new UserError(where + ": give either \"value\" or \"with\"");
    }
    return fields.containsKey("value")
        ? new Step.ScalarStep(kind, number("value"))
        : new Step.CombineStep(kind, text("with"));
  }

  private double epsilon() {
    double epsilon = fields.containsKey("eps") ? number("eps") : DEFAULT_EPSILON;
    if (epsilon < 0) {
      throw new UserError(where + ": \"eps\" must not be negative");
    }
    return epsilon;
  }

  private void allow(String... names) {
    for (String field : fields.keySet()) {
      if (!field.equals("op") && !List.of(names).contains(field)) {
        throw new UserError(where + ": unknown field " + Names.quote(field));
      }
    }
  }

  private @Nullable String optional(String field) {
    return fields.containsKey(field) ? text(field) : null;
  }

  private String text(String field) {
    return switch (fields.get(field)) {
      case Json.Text(String text) -> text;
      case null -> throw new UserError(where + ": field \"" + field + "\" is missing");
      case Json other ->
          throw new UserError(where + ": \"" + field + "\" is " + other.kind() + ", not a string");
    };
  }

  private double number(String field) {
    if (fields.get(field) instanceof Json.Number(String text)) {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
    }
    throw new UserError(where + ": \"" + field + "\" must be a finite number");
  }
}
