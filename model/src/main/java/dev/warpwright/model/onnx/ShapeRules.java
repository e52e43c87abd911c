package dev.warpwright.model.onnx;

import dev.warpwright.ir.DType;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.onnx.Proto.Attribute;
import java.util.ArrayList;
import java.util.List;

/**
 * Import of constants and of operators that compute nothing: they are folded away, or refused where
 * they would move elements or change a type.
 */
final class ShapeRules {
  private ShapeRules() {}

  static Term identity(NodeContext node) {
    return node.input(0);
  }

  static Term constant(NodeContext node) {
    if (node.node().attributes().size() != 1) {
      throw node.error("needs exactly one value");
    }
    String name = node.node().outputs().getFirst();
    Tensor tensor =
        switch (node.node().attributes().values().iterator().next()) {
          case Attribute.OfTensor(Tensor value) -> value;
          case Attribute.OfFloat(float value) ->
              Tensor.ofDoubles(name, DType.F32, List.of(), value);
          case Attribute.OfFloats(List<Float> values) ->
              Tensor.ofDoubles(
                  name,
                  DType.F32,
                  List.of((long) values.size()),
                  values.stream().mapToDouble(Float::doubleValue).toArray());
          case Attribute.OfInt(long value) -> Tensor.ofLongs(name, List.of(), value);
          case Attribute.OfInts(List<Long> values) ->
              Tensor.ofLongs(
                  name,
                  List.of((long) values.size()),
                  values.stream().mapToLong(Long::longValue).toArray());
          case Attribute.OfString s -> throw node.error("a string is not supported");
          case Attribute.Other other -> throw node.error("unsupported kind of value");
        };
    return new Term.Constant(tensor);
  }

  static Term cast(NodeContext node) {
    long code = node.intAttribute("to", 0);
    int shortCode = code == (int) code ? (int) code : -1;
    DType to = OnnxType.dtype(shortCode);
    if (to == null) {
      throw node.error("casts to unsupported type " + OnnxType.name(shortCode));
    }
    return switch (node.input(0)) {
      case Term.Computed(Value value) -> {
        if (value.dtype() != to) {
          throw node.error("casts " + value.dtype() + " to " + to + ", which is not supported yet");
        }
        yield node.input(0);
      }
      case Term.Constant(Tensor tensor) -> new Term.Constant(castConstant(node, tensor, to));
      case Term.Statistic statistic -> {
        if (statistic.of().dtype() != to) {
          throw node.statisticError();
        }
        yield statistic;
      }
    };
  }

  private static Tensor castConstant(NodeContext node, Tensor tensor, DType to) {
    if (tensor.dtype() == to) {
      return tensor;
    }
    if (!to.isFloat()) {
      throw node.error("casts a constant to " + to + "; export with constant folding");
    }
    node.lowering().reserve(16 * tensor.count());
    return Tensor.ofDoubles(tensor.name(), to, tensor.shape(), tensor.toDoubles());
  }

  /** Dropout does nothing unless the model was exported for training. */
  static Term dropout(NodeContext node) {
    if (node.has(2)) {
      Tensor training = node.constant(2);
      if (training.dtype() != DType.BOOL || training.count() != 1 || training.longAt(0) != 0) {
        throw node.error("the model was exported in training mode; call model.eval() first");
      }
    }
    return node.input(0);
  }

  static Term flatten(NodeContext node) {
    Value x = node.value(0);
    long axis = node.intAttribute("axis", 1);
    if (x.leading().size() != 1 || (axis != 1 && axis != -1)) {
      throw node.error("flattening " + NodeContext.type(x) + " at axis " + axis + notIdentity());
    }
    return node.input(0);
  }

  static Term reshape(NodeContext node) {
    Tensor target = node.constant(1);
    if (target.dtype() != DType.I64 || target.rank() != 1 || target.count() > 16) {
      throw node.error("the new shape " + NodeContext.type(target) + " must be a list of int64");
    }
    Value x = node.value(0);
    List<Long> dims = new ArrayList<>();
    for (long dim : target.toLongs()) {
      dims.add(dim);
    }
    if (!keepsShape(x, dims, node.intAttribute("allowzero", 0) != 0)) {
      throw node.error("reshaping " + NodeContext.type(x) + " to " + dims + notIdentity());
    }
    return node.input(0);
  }

  /** Whether each dimension is copied (0), named, or the only one to be inferred (-1). */
  private static boolean keepsShape(Value x, List<Long> dims, boolean zeroIsZero) {
    int rank = x.leading().size() + 1;
    if (dims.size() != rank) {
      return false;
    }
    int inferred = 0;
    for (int i = 0; i < rank; i++) {
      Dim dim = i == rank - 1 ? new Dim.Fixed(x.features()) : x.leading().get(i);
      long wanted = dims.get(i);
      if (wanted == -1) {
        inferred++;
      } else if (wanted == 0 ? zeroIsZero : !dim.equals(fixed(wanted))) {
        return false;
      }
    }
    return inferred <= 1;
  }

  private static Dim fixed(long size) {
    return size > 0 ? new Dim.Fixed(size) : new Dim.Symbolic("");
  }

  static Term transpose(NodeContext node) {
    if (!(node.input(0) instanceof Term.Constant(Tensor tensor)) || tensor.rank() != 2) {
      throw node.error("only a constant matrix can be transposed");
    }
    List<Long> perm = node.intsAttribute("perm");
    if (perm == null || perm.equals(List.of(1L, 0L))) {
      return new Term.Constant(node.lowering().transpose(tensor));
    }
    if (perm.equals(List.of(0L, 1L))) {
      return node.input(0);
    }
    throw node.error("perm " + perm + " is no permutation of a matrix");
  }

  private static String notIdentity() {
    return " changes the rows, which is not supported yet";
  }
}
