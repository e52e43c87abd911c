package dev.warpwright.model.pt2;

import dev.warpwright.base.json.Json;
import dev.warpwright.model.fuzz.Archives;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Builds archives as torch.export.save writes them, valid and invalid. */
public final class Pt2Builder {
  private static final int FLOAT = 7;
  private static final int LONG = 5;

  private final List<Json> inputs = new ArrayList<>();
  private final List<Json> specs = new ArrayList<>();
  private final List<Json> nodes = new ArrayList<>();
  private final List<Object> entries = new ArrayList<>();
  private Json.Members values = Json.object();
  private Json.Members weights = Json.object();
  private Json outputs = Json.array(List.<String>of(), Json::of);
  private Json outputSpecs = outputs;
  private long major = 8;

  /** An object of one member, which is how the format writes one of several things. */
  public static Json.Members one(String kind, Json value) {
    return Json.object().with(kind, value);
  }

  public static Json tensor(String name) {
    return one("as_tensor", Json.object().with("name", name));
  }

  public static Json tensors(String... names) {
    return one("as_tensors", Json.array(List.of(names), n -> Json.object().with("name", n)));
  }

  public static Json number(double value) {
    return one("as_float", Json.of(value));
  }

  public static Json integer(long value) {
    return one("as_int", Json.of(value));
  }

  public static Json integers(Long... values) {
    return one("as_ints", Json.array(List.of(values), Json::of));
  }

  public static Json flag(boolean value) {
    return one("as_bool", Json.of(value));
  }

  /** What the format says of a tensor; a dimension is a number, or the name of a symbol. */
  public static Json meta(int dtype, Object... shape) {
    return Json.object()
        .with("dtype", dtype)
        .with("sizes", Json.array(List.of(shape), Pt2Builder::size))
        .with("requires_grad", false)
        .with("device", Json.object().with("type", "cpu").with("index", (String) null))
        .with("strides", Json.array(strides(shape), Pt2Builder::size))
        .with("storage_offset", integer(0))
        .with("layout", 7);
  }

  private static Json size(Object size) {
    return size instanceof Number number
        ? integer(number.longValue())
        : one(
            "as_expr",
            Json.object()
                .with("expr_str", "Symbol('" + size + "', positive=True, integer=True)")
                .with("hint", integer(4)));
  }

  private static List<Object> strides(Object... shape) {
    List<Object> strides = new ArrayList<>();
    long stride = 1;
    for (int i = shape.length - 1; i >= 0; i--) {
      strides.addFirst(stride);
      stride *= shape[i] instanceof Number number ? number.longValue() : 1;
    }
    return strides;
  }

  /** An input of the model, in single precision. */
  public Pt2Builder input(String name, Object... shape) {
    return value(name, meta(FLOAT, shape), one("user_input", one("arg", tensor(name))));
  }

  private Pt2Builder value(String name, Json meta, Json spec) {
    inputs.add(tensor(name));
    specs.add(spec);
    values = values.with(name, meta);
    return this;
  }

  /** A parameter in single precision. */
  public Pt2Builder parameter(String name, List<Integer> shape, double... data) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * data.length).order(ByteOrder.LITTLE_ENDIAN);
    for (double x : data) {
      bytes.putFloat((float) x);
    }
    return stored(name, meta(FLOAT, shape.toArray()), bytes.array());
  }

  /** A buffer of integers. */
  public Pt2Builder buffer(String name, List<Integer> shape, long... data) {
    ByteBuffer bytes = ByteBuffer.allocate(8 * data.length).order(ByteOrder.LITTLE_ENDIAN);
    for (long x : data) {
      bytes.putLong(x);
    }
    return stored(name, meta(LONG, shape.toArray()), bytes.array());
  }

  private Pt2Builder stored(String name, Json meta, byte[] bytes) {
    String path = "weight_" + entries.size() / 2;
    entries.add("m/data/weights/" + path);
    entries.add(bytes);
    weights =
        weights.with(
            name,
            Json.object()
                .with("path_name", path)
                .with("is_param", true)
                .with("use_pickle", false)
                .with("tensor_meta", meta));
    Json argument = Json.object().with("name", name);
    return value(
        name,
        meta,
        one("parameter", Json.object().with("arg", argument).with("parameter_name", name)));
  }

  /** A node with one output in single precision; the arguments are names and values in turn. */
  public Pt2Builder node(String target, String output, List<Object> shape, Object... arguments) {
    values = values.with(output, meta(FLOAT, shape.toArray()));
    return rawNode(target, output, List.of(tensor(output)), arguments);
  }

  /** Says that there is a tensor in single precision. */
  public Pt2Builder declare(String name, Object... shape) {
    values = values.with(name, meta(FLOAT, shape));
    return this;
  }

  /** A node with outputs that are given as they are. */
  public Pt2Builder rawNode(
      String target, String name, List<Json> outputsOfNode, Object... arguments) {
    List<Json> named = new ArrayList<>();
    for (int i = 0; i < arguments.length; i += 2) {
      named.add(
          Json.object()
              .with("name", (String) arguments[i])
              .with("arg", (Json) arguments[i + 1])
              .with("kind", 1));
    }
    nodes.add(
        Json.object()
            .with("target", "torch.ops." + target)
            .with("inputs", new Json.Array(named))
            .with("outputs", new Json.Array(outputsOfNode))
            .with("metadata", Json.object())
            .with("name", name));
    return this;
  }

  public Pt2Builder output(String name) {
    return output(one("user_output", one("arg", tensor(name))));
  }

  public Pt2Builder outputs(String... names) {
    outputSpecs = Json.array(List.of(names), name -> one("user_output", one("arg", tensor(name))));
    return this;
  }

  /** An output specification as it is. */
  public Pt2Builder output(Json spec) {
    outputSpecs = new Json.Array(List.of(spec));
    return this;
  }

  public Pt2Builder schema(long version) {
    major = version;
    return this;
  }

  /** The program. */
  public String program() {
    Json graph =
        Json.object()
            .with("inputs", new Json.Array(inputs))
            .with("outputs", outputs)
            .with("nodes", new Json.Array(nodes))
            .with("tensor_values", values)
            .with("sym_int_values", Json.object())
            .with("sym_bool_values", Json.object());
    Json signature =
        Json.object().with("input_specs", new Json.Array(specs)).with("output_specs", outputSpecs);
    return Json.object()
        .with("graph_module", Json.object().with("graph", graph).with("signature", signature))
        .with("opset_version", Json.object().with("aten", 10))
        .with("range_constraints", Json.object())
        .with("schema_version", Json.object().with("major", major).with("minor", 17))
        .write();
  }

  /** The archive. */
  public byte[] build() {
    return archive(program());
  }

  /** The archive with another program, or whatever is given for one. */
  public byte[] archive(String program) {
    return archive(program, Map.of());
  }

  /** The archive with another program, and with entries that are added or replaced. */
  public byte[] archive(String program, Map<String, String> changed) {
    List<Object> all = new ArrayList<>(entries);
    Map<String, String> texts = new java.util.LinkedHashMap<>();
    texts.put("m/data/weights/model_weights_config.json", one("config", weights).write());
    texts.put("m/data/constants/model_constants_config.json", "{\"config\": {}}");
    texts.put("m/models/model.json", program);
    texts.put("m/archive_format", "pt2");
    texts.put("m/archive_version", "0");
    texts.put("m/byteorder", "little");
    texts.putAll(changed);
    texts.forEach(
        (name, text) -> {
          if (!text.isEmpty()) {
            all.add(name);
            all.add(text.getBytes(StandardCharsets.UTF_8));
          }
        });
    return Archives.stored(all.toArray());
  }
}
