package dev.warpwright.model.pt2;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.pt2.Program.Input;
import dev.warpwright.model.pt2.Program.Meta;
import dev.warpwright.model.pt2.Program.Node;
import dev.warpwright.model.weights.ElementType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the program of an archive: the schema of {@code torch/_export/serde/schema.py}, major
 * version 8.
 */
final class ProgramReader {
  private static final int MAJOR = 8;
  private static final Pattern SYMBOL = Pattern.compile("Symbol\\('([^']*)'.*\\)");

  /** Where operators of ATen are in a target's name. */
  private static final String OPS = "torch.ops.";

  private final String file;
  private final String where;

  private ProgramReader(String file, String where) {
    this.file = file;
    this.where = where;
  }

  /**
   * Reads a program.
   *
   * @param file the archive's name in messages, printable
   * @param where the program's name in messages, printable
   * @throws UserError if the text is no such program, or has what cannot be imported
   */
  static Program read(String file, String where, String text) {
    JsonFields top = JsonFields.of(where, JsonParser.parse(where, text));
    return new ProgramReader(file, where).program(top);
  }

  private Program program(JsonFields top) {
    JsonFields version = top.object("schema_version");
    if (version.integer("major") != MAJOR) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: was exported with schema version %d.%d; supported: %d.x, as PyTorch 2.8 and"
                  + " newer write; export again",
              file,
              version.integer("major"),
              version.integer("minor"),
              MAJOR));
    }
    JsonFields module = top.object("graph_module");
    JsonFields graph = module.object("graph");
    JsonFields signature = module.object("signature");
    List<Input> inputs = new ArrayList<>();
    for (Json spec : signature.list("input_specs")) {
      Input input = input(where + ": input_specs[" + inputs.size() + "]", spec);
      if (input != null) {
        inputs.add(input);
      }
    }
    List<String> outputs = signature.list("output_specs", this::output);
    List<Node> nodes = graph.list("nodes", this::node);
    Map<String, Meta> tensors = new HashMap<>();
    JsonFields values = graph.object("tensor_values");
    values
        .members()
        .forEach(
            (name, meta) -> {
              String place = values.where() + ": " + Names.quote(name);
              tensors.put(name, meta(JsonFields.of(place, meta)));
            });
    return new Program(inputs, outputs, nodes, tensors);
  }

  /** An input, or null for a constant that is no tensor: the program has its value in it. */
  private @Nullable Input input(String place, Json value) {
    JsonFields spec = JsonFields.of(place, value);
    String kind = spec.only();
    JsonFields fields = spec.object(kind);
    return switch (kind) {
      case "user_input" -> {
        JsonFields argument = fields.object("arg");
        yield switch (argument.only()) {
          case "as_tensor" -> new Input(argument.object("as_tensor").text("name"), null);
          case "as_none" -> null;
          default ->
              throw new UserError(
                  file
                      + ": the model has an input that is no tensor ("
                      + Names.printable(argument.only().replaceFirst("as_", ""))
                      + "); export it with tensors as inputs only");
        };
      }
      case "parameter" -> constant(fields, "parameter_name");
      case "buffer" -> constant(fields, "buffer_name");
      case "tensor_constant" -> constant(fields, "tensor_constant_name");
      case "constant_input" -> null;
      default ->
          throw new UserError(
              file
                  + ": has an input of unsupported kind "
                  + Names.quote(kind)
                  + "; "
                  + Pt2Importer.ADVICE);
    };
  }

  private static Input constant(JsonFields fields, String name) {
    return new Input(fields.object("arg").text("name"), fields.text(name));
  }

  private String output(String place, Json value) {
    JsonFields spec = JsonFields.of(place, value);
    String kind = spec.only();
    switch (kind) {
      case "user_output" -> {
        JsonFields argument = spec.object(kind).object("arg");
        if (argument.only().equals("as_tensor")) {
          return argument.object("as_tensor").text("name");
        }
        throw new UserError(
            file
                + ": the model has an output that is no tensor ("
                + Names.printable(argument.only().replaceFirst("as_", ""))
                + ")");
      }
      case "buffer_mutation", "parameter_mutation", "user_input_mutation" ->
          throw new UserError(
              file
                  + ": the model changes "
                  + (kind.startsWith("user") ? "its input" : "its buffers")
                  + " when it runs, which is not supported; call model.eval() before exporting");
      default ->
          throw new UserError(
              file
                  + ": has an output of unsupported kind "
                  + Names.quote(kind)
                  + "; export the model for inference, after model.eval()");
    }
  }

  private Node node(String place, Json value) {
    JsonFields fields = JsonFields.of(place, value);
    String target = fields.text("target");
    List<String> outputs = new ArrayList<>();
    boolean symbolic = !fields.list("outputs").isEmpty();
    for (Json output : fields.list("outputs")) {
      JsonFields argument = JsonFields.of(place + ": outputs", output);
      String kind = argument.only();
      symbolic &= kind.startsWith("as_sym");
      switch (kind) {
        case "as_tensor" -> outputs.add(argument.object(kind).text("name"));
        case "as_tensors" -> outputs.addAll(argument.list(kind, ProgramReader::tensorName));
        default -> outputs.add("");
      }
    }
    String name =
        fields.has("name") ? fields.text("name") : outputs.isEmpty() ? "" : outputs.getFirst();
    Map<String, Argument> arguments = new HashMap<>();
    for (Json input : fields.list("inputs")) {
      JsonFields named = JsonFields.of(place + ": inputs", input);
      if (arguments.put(named.text("name"), argument(named)) != null) {
        throw new UserError(
            place + ": has two arguments called " + Names.quote(named.text("name")));
      }
    }
    String label = name.isEmpty() ? "a node" : "node " + Names.quote(name);
    String shortTarget = target.startsWith(OPS) ? target.substring(OPS.length()) : target;
    return new Node(name, label, shortTarget, arguments, outputs, symbolic);
  }

  private static String tensorName(String place, Json value) {
    return JsonFields.of(place, value).text("name");
  }

  private static Argument argument(JsonFields named) {
    JsonFields argument = named.object("arg");
    String kind = argument.only();
    return switch (kind) {
      case "as_none" -> new Argument.None();
      case "as_tensor" -> new Argument.OfTensor(argument.object(kind).text("name"));
      case "as_tensors" -> new Argument.OfTensors(argument.list(kind, ProgramReader::tensorName));
      case "as_optional_tensor" -> {
        JsonFields optional = argument.object(kind);
        yield optional.only().equals("as_tensor")
            ? new Argument.OfTensor(optional.object("as_tensor").text("name"))
            : new Argument.None();
      }
      case "as_int" -> new Argument.OfInt(argument.integer(kind));
      case "as_ints" -> {
        List<@Nullable Long> values = new ArrayList<>();
        argument.list(kind).forEach(item -> values.add(argument.integer(kind, item)));
        yield new Argument.OfInts(values);
      }
      case "as_sym_int" -> {
        JsonFields size = argument.object(kind);
        yield size.only().equals("as_int")
            ? new Argument.OfInt(size.integer("as_int"))
            : new Argument.OfSize(size.text("as_name"));
      }
      case "as_sym_ints" -> {
        List<@Nullable Long> values = new ArrayList<>();
        for (Json item : argument.list(kind)) {
          JsonFields size = JsonFields.of(argument.where() + ": " + kind, item);
          values.add(size.only().equals("as_int") ? size.integer("as_int") : null);
        }
        yield new Argument.OfInts(values);
      }
      case "as_float" -> new Argument.OfFloat(number(argument, kind));
      case "as_bool" -> new Argument.OfBool(argument.flag(kind));
      case "as_string" -> new Argument.OfText(argument.text(kind));
      case "as_scalar_type" -> new Argument.OfType(argument.integer(kind));
      default -> new Argument.Other(Names.printable(kind.replaceFirst("as_", "")));
    };
  }

  /** What JSON has no numbers for is written as text. */
  private static double number(JsonFields argument, String kind) {
    return switch (argument.value(kind)) {
      case Json.Text(String text) when text.equals("Infinity") -> Double.POSITIVE_INFINITY;
      case Json.Text(String text) when text.equals("-Infinity") -> Double.NEGATIVE_INFINITY;
      case Json.Text(String text) when text.equals("NaN") -> Double.NaN;
      default -> argument.number(kind);
    };
  }

  private static Meta meta(JsonFields fields) {
    if (fields.integer("layout") != 7) {
      throw new UserError(fields.where() + ": is sparse, which is not supported");
    }
    ElementType type = ElementType.ofScalarType(fields.integer("dtype"));
    return new Meta(type == null ? null : type.dtype(), fields.list("sizes", ProgramReader::dim));
  }

  private static Dim dim(String place, Json value) {
    JsonFields size = JsonFields.of(place, value);
    if (size.only().equals("as_expr")) {
      String text = size.object("as_expr").text("expr_str");
      Matcher symbol = SYMBOL.matcher(text);
      return new Dim.Symbolic(symbol.matches() ? symbol.group(1) : text);
    }
    long known = size.integer("as_int");
    if (known < 1) {
      throw new UserError(place + ": a tensor has a dimension of size " + known);
    }
    return new Dim.Fixed(known);
  }
}
