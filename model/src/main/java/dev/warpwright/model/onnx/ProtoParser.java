package dev.warpwright.model.onnx;

import dev.warpwright.base.Names;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.onnx.Proto.Attribute;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the bytes of an ONNX file into {@link Proto} messages; fields that do not matter are
 * skipped.
 */
final class ProtoParser {
  /** The type codes of attributes that are read. */
  private static final int FLOAT = 1;

  private static final int INT = 2;
  private static final int STRING = 3;
  private static final int TENSOR = 4;
  private static final int FLOATS = 6;
  private static final int INTS = 7;

  private ProtoParser() {}

  /**
   * Parses a file.
   *
   * @param file its name in messages
   * @param external the files beside it
   * @throws dev.warpwright.base.UserError if the bytes are no valid ONNX model
   */
  static Proto.Model parse(String file, MemorySegment bytes, ExternalData external) {
    WireReader reader = WireReader.of(file, bytes, external);
    Map<String, Long> opsets = new LinkedHashMap<>();
    Proto.@Nullable Graph graph = null;
    while (reader.next()) {
      switch (reader.field()) {
        case 7 -> {
          if (graph != null) {
            throw reader.corrupt("there are two graphs");
          }
          graph = graph(reader.message("graph"));
        }
        case 8 -> opset(reader.message("operator set"), opsets);
        default -> reader.skip();
      }
    }
    if (graph == null) {
      throw reader.error("no ONNX model: there is no graph in it");
    }
    return new Proto.Model(opsets, graph);
  }

  private static void opset(WireReader reader, Map<String, Long> opsets) {
    String domain = "";
    long version = 0;
    while (reader.next()) {
      switch (reader.field()) {
        case 1 -> domain = reader.string();
        case 2 -> version = reader.varint();
        default -> reader.skip();
      }
    }
    String key = standardDomain(domain);
    Long before = opsets.put(key, version);
    if (before != null && before != version) {
      throw reader.corrupt("two versions of the operator set " + Names.quote(key));
    }
  }

  private static String standardDomain(String domain) {
    return domain.equals("ai.onnx") ? "" : domain;
  }

  private static Proto.Graph graph(WireReader reader) {
    String name = "";
    List<Proto.Node> nodes = new ArrayList<>();
    List<ConstantTensor> initializers = new ArrayList<>();
    List<Proto.ValueInfo> inputs = new ArrayList<>();
    List<Proto.ValueInfo> outputs = new ArrayList<>();
    while (reader.next()) {
      switch (reader.field()) {
        case 1 -> nodes.add(node(reader.message("node"), nodes.size()));
        case 2 -> name = reader.string();
        case 5 ->
            initializers.add(
                TensorParser.parse(
                        reader.message("initializer"), "initializer #" + initializers.size())
                    .stored());
        case 11 -> inputs.add(valueInfo(reader.message("graph input")));
        case 12 -> outputs.add(valueInfo(reader.message("graph output")));
        case 15 -> throw reader.error("sparse initializers are not supported");
        default -> reader.skip();
      }
    }
    return new Proto.Graph(name, nodes, initializers, inputs, outputs);
  }

  private static Proto.Node node(WireReader reader, int index) {
    String name = "";
    String opType = "";
    String domain = "";
    List<String> inputs = new ArrayList<>();
    List<String> outputs = new ArrayList<>();
    Map<String, Attribute> attributes = new LinkedHashMap<>();
    while (reader.next()) {
      switch (reader.field()) {
        case 1 -> inputs.add(reader.string());
        case 2 -> outputs.add(reader.string());
        case 3 -> name = reader.string();
        case 4 -> opType = reader.string();
        case 5 -> attribute(reader.message("attribute"), attributes);
        case 7 -> domain = standardDomain(reader.string());
        default -> reader.skip();
      }
    }
    String label = name.isEmpty() ? "node #" + index : "node " + Names.quote(name);
    return new Proto.Node(name, label, domain, opType, opType, inputs, outputs, attributes);
  }

  private static void attribute(WireReader reader, Map<String, Attribute> attributes) {
    String name = "";
    int type = 0;
    float f = 0;
    long i = 0;
    MemorySegment s = MemorySegment.NULL;
    @Nullable ConstantTensor tensor = null;
    List<Float> floats = new ArrayList<>();
    List<Long> ints = new ArrayList<>();
    Set<Integer> present = new HashSet<>();
    while (reader.next()) {
      switch (reader.field()) {
        case 1 -> name = reader.string();
        case 2 -> {
          f = reader.float32();
          present.add(FLOAT);
        }
        case 3 -> {
          i = reader.varint();
          present.add(INT);
        }
        case 4 -> {
          s = reader.bytes();
          present.add(STRING);
        }
        case 5 -> {
          tensor = TensorParser.parse(reader.message("attribute tensor"), "an attribute tensor");
          present.add(TENSOR);
        }
        case 7 -> {
          floats(reader, floats);
          present.add(FLOATS);
        }
        case 8 -> {
          ints(reader, ints);
          present.add(INTS);
        }
        case 20 -> type = (int) reader.varint();
        case 21 -> throw reader.error("attributes of model-local functions are not supported");
        default -> reader.skip();
      }
    }
    // files before IR version 2 have no type; later ones may leave out a field that is zero
    if (type == 0 && present.size() == 1) {
      type = present.iterator().next();
    }
    Attribute value =
        switch (type) {
          case FLOAT -> new Attribute.OfFloat(f);
          case INT -> new Attribute.OfInt(i);
          case STRING -> new Attribute.OfString(text(s));
          case TENSOR ->
              tensor == null ? new Attribute.Other("tensor") : new Attribute.OfTensor(tensor);
          case FLOATS -> new Attribute.OfFloats(floats);
          case INTS -> new Attribute.OfInts(ints);
          case 5, 10 -> new Attribute.Other("graph");
          default -> new Attribute.Other("type " + type);
        };
    if (attributes.put(name, value) != null) {
      throw reader.corrupt("attribute " + Names.quote(name) + " occurs twice");
    }
  }

  /** A string attribute; bytes that are no text give a string that no operator accepts. */
  private static String text(MemorySegment bytes) {
    long shown = Math.min(bytes.byteSize(), 1024);
    byte[] array = bytes.asSlice(0, shown).toArray(ValueLayout.JAVA_BYTE);
    return new String(array, StandardCharsets.UTF_8);
  }

  private static void floats(WireReader reader, List<Float> out) {
    if (reader.wireType() == WireReader.BYTES) {
      WireReader packed = reader.packed();
      while (packed.remaining() > 0) {
        reader.countItem();
        out.add(packed.packedFloat32());
      }
    } else {
      reader.countItem();
      out.add(reader.float32());
    }
  }

  private static void ints(WireReader reader, List<Long> out) {
    if (reader.wireType() == WireReader.BYTES) {
      WireReader packed = reader.packed();
      while (packed.remaining() > 0) {
        reader.countItem();
        out.add(packed.packedVarint());
      }
    } else {
      reader.countItem();
      out.add(reader.varint());
    }
  }

  private static Proto.ValueInfo valueInfo(WireReader reader) {
    String name = "";
    Proto.ValueInfo type = new Proto.ValueInfo("", 0, null);
    while (reader.next()) {
      switch (reader.field()) {
        case 1 -> name = reader.string();
        case 2 -> type = type(reader.message("type"));
        default -> reader.skip();
      }
    }
    return new Proto.ValueInfo(name, type.elementType(), type.shape());
  }

  private static Proto.ValueInfo type(WireReader reader) {
    int elementType = 0;
    @Nullable List<Dim> shape = null;
    while (reader.next()) {
      if (reader.field() == 1) {
        WireReader tensor = reader.message("tensor type");
        while (tensor.next()) {
          switch (tensor.field()) {
            case 1 -> elementType = (int) tensor.varint();
            case 2 -> shape = shape(tensor.message("shape"));
            default -> tensor.skip();
          }
        }
      } else {
        reader.skip();
      }
    }
    return new Proto.ValueInfo("", elementType, shape);
  }

  private static List<Dim> shape(WireReader reader) {
    List<Dim> dims = new ArrayList<>();
    while (reader.next()) {
      if (reader.field() == 1) {
        dims.add(dim(reader.message("dimension")));
      } else {
        reader.skip();
      }
    }
    return dims;
  }

  private static Dim dim(WireReader reader) {
    Dim dim = new Dim.Symbolic("");
    while (reader.next()) {
      switch (reader.field()) {
        case 1 -> {
          long size = reader.varint();
          if (size < 1) {
            throw reader.error("a graph input or output has a dimension of size " + size);
          }
          dim = new Dim.Fixed(size);
        }
        case 2 -> dim = new Dim.Symbolic(reader.string());
        default -> reader.skip();
      }
    }
    return dim;
  }
}
