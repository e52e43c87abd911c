package dev.warpwright.model.onnx;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.build.Arithmetic;
import dev.warpwright.model.build.Size;
import dev.warpwright.model.build.Term;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.onnx.Proto.Attribute;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** Import of constants, types and shapes, and of what moves elements. */
final class ShapeRules {
  private static final long MAX_RANGE = 1 << 20;

  private ShapeRules() {}

  static Term constant(NodeContext node) {
    if (node.node().attributes().size() != 1) {
      throw node.error("needs exactly one value");
    }
    String name = node.node().outputs().getFirst();
    ConstantTensor tensor =
        switch (node.node().attributes().values().iterator().next()) {
          case Attribute.OfTensor(ConstantTensor value) -> value;
          case Attribute.OfFloat(float value) ->
              ConstantTensor.ofDoubles(name, DType.F32, List.of(), value);
          case Attribute.OfFloats(List<Float> values) ->
              ConstantTensor.ofDoubles(
                  name,
                  DType.F32,
                  List.of((long) values.size()),
                  values.stream().mapToDouble(Float::doubleValue).toArray());
          case Attribute.OfInt(long value) -> ConstantTensor.ofLongs(name, List.of(), value);
          case Attribute.OfInts(List<Long> values) ->
              ConstantTensor.ofLongs(
                  name,
                  List.of((long) values.size()),
                  values.stream().mapToLong(Long::longValue).toArray());
          case Attribute.OfString s -> throw node.error("a string is not supported");
          case Attribute.Other other -> throw node.error("unsupported kind of value");
        };
    return new Term.Constant(tensor);
  }

  static Term constantOfShape(NodeContext node) {
    ConstantTensor value =
        switch (node.node().attributes().get("value")) {
          case null -> ConstantTensor.ofDoubles("", DType.F32, List.of(), 0);
          case Attribute.OfTensor(ConstantTensor tensor) when tensor.count() == 1 -> tensor;
          default -> throw node.error("its value must be one number");
        };
    List<Size> shape = node.shapes().list(node.input(0), "the shape");
    Term scalar = new Term.Constant(value);
    return node.shapes().expand(node.shapes().reshape(scalar, List.of(), true), shape);
  }

  static Term range(NodeContext node) {
    ConstantTensor start = node.constant(0);
    ConstantTensor step = node.constant(2);
    ConstantTensor limit = node.constant(1);
    if (start.count() != 1 || limit.count() != 1 || step.count() != 1 || step.doubleAt(0) == 0) {
      throw node.error("needs three numbers, the last not 0");
    }
    double from = start.doubleAt(0);
    double by = step.doubleAt(0);
    long count = Math.max(0, (long) Math.ceil((limit.doubleAt(0) - from) / by));
    if (count > MAX_RANGE) {
      throw node.error("makes " + count + " numbers, which are too many");
    }
    List<Long> shape = List.of(count);
    String name = node.node().outputs().getFirst();
    if (start.dtype().isFloat()) {
      double[] values = new double[(int) count];
      for (int i = 0; i < values.length; i++) {
        values[i] = from + i * by;
      }
      return new Term.Constant(ConstantTensor.ofDoubles(name, start.dtype(), shape, values));
    }
    long first = start.longAt(0);
    long stride = step.longAt(0);
    return new Term.Constant(
        ConstantTensor.ofLongs(
            name, shape, LongStream.range(0, count).map(i -> first + i * stride).toArray()));
  }

  static Term cast(NodeContext node) {
    long code = node.intAttribute("to", 0);
    int shortCode = code == (int) code ? (int) code : -1;
    DType to = OnnxType.dtype(shortCode);
    if (to == null) {
      throw node.error("casts to unsupported type " + OnnxType.name(shortCode));
    }
    return node.shapes().cast(node.input(0), to);
  }

  static Term castLike(NodeContext node) {
    return node.shapes().cast(node.input(0), Arithmetic.dtype(node.input(1)));
  }

  /** Dropout does nothing unless the model was exported for training. */
  static Term dropout(NodeContext node) {
    if (node.has(2)) {
      ConstantTensor training = node.constant(2);
      if (training.dtype() != DType.BOOL || training.count() != 1 || training.longAt(0) != 0) {
        throw node.error("the model was exported in training mode; call model.eval() first");
      }
    }
    return node.input(0);
  }

  static Term reshape(NodeContext node) {
    List<Size> target = node.shapes().list(node.input(1), "the new shape");
    boolean zeroIsZero = node.intAttribute("allowzero", 0) != 0;
    return node.shapes().reshape(node.input(0), target, zeroIsZero);
  }

  static Term expand(NodeContext node) {
    return node.shapes().expand(node.input(0), node.shapes().list(node.input(1), "the new shape"));
  }

  static Term shape(NodeContext node) {
    List<Size> all = node.shapes().sizes(node.input(0)).sizes();
    int start = bound(node.intAttribute("start", 0), all.size());
    int end = bound(node.intAttribute("end", all.size()), all.size());
    return new Term.Sizes(all.subList(start, Math.max(start, end)), false);
  }

  private static int bound(long at, int rank) {
    return (int) Math.clamp(at < 0 ? at + rank : at, 0, (long) rank);
  }

  static Term squeeze(NodeContext node) {
    return node.shapes().squeeze(node.input(0), node.axes(1));
  }

  static Term unsqueeze(NodeContext node) {
    List<Long> axes = node.axes(1);
    if (axes == null) {
      throw node.error("names no axes");
    }
    return node.shapes().unsqueeze(node.input(0), axes);
  }

  static Term concat(NodeContext node) {
    if (!node.node().attributes().containsKey("axis")) {
      throw node.error("names no axis");
    }
    return node.selection().concat(node.all(), node.intAttribute("axis", 0));
  }

  static Term gather(NodeContext node) {
    return node.selection().gather(node.input(0), node.intAttribute("axis", 0), node.input(1));
  }

  /** The bounds are inputs since version 10, before that attributes. */
  static Term slice(NodeContext node) {
    List<Long> starts = list(node, 1, "starts");
    List<Long> ends = list(node, 2, "ends");
    List<Long> axes = node.axes(3);
    List<Long> steps = node.has(4) ? node.numbers(4) : null;
    Term result = node.input(0);
    if (ends.size() != starts.size()
        || (axes != null && axes.size() != starts.size())
        || (steps != null && steps.size() != starts.size())) {
      throw node.error("starts, ends, axes and steps are not equally many");
    }
    for (int i = 0; i < starts.size(); i++) {
      long axis = axes == null ? i : axes.get(i);
      long step = steps == null ? 1 : steps.get(i);
      result = node.selection().slice(result, axis, starts.get(i), ends.get(i), step);
    }
    return result;
  }

  private static List<Long> list(NodeContext node, int index, String attribute) {
    if (node.has(index)) {
      return node.numbers(index);
    }
    List<Long> values = node.intsAttribute(attribute);
    if (values == null) {
      throw node.error("names no " + attribute);
    }
    return values;
  }

  static List<Term> split(NodeContext node) {
    List<String> names = node.node().outputs();
    Term x = node.input(0);
    long axis = node.intAttribute("axis", 0);
    List<Long> parts = node.has(1) ? node.numbers(1) : node.intsAttribute("split");
    if (parts == null) {
      List<Size> sizes = node.shapes().sizes(x).sizes();
      Size size = sizes.get(node.shapes().axis(axis, sizes.size()));
      if (!(size instanceof Size.Known(long extent))) {
        throw node.error("splits a dynamic dimension");
      }
      parts = even(extent, names.size());
    }
    if (parts.size() != names.size()) {
      throw node.error("has " + names.size() + " outputs for " + parts.size() + " parts");
    }
    return node.selection().split(x, axis, parts, names, node.where());
  }

  /** Equal parts, of which the last may be smaller. */
  private static List<Long> even(long extent, int count) {
    long each = Math.ceilDiv(extent, count);
    List<Long> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      parts.add(Math.min(each, extent - i * each));
    }
    return parts;
  }
}
