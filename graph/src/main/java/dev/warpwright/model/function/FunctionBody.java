package dev.warpwright.model.function;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.RmsNorm;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.tensor.Approximations;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A function while it is built: its tensors and stages so far, what is known of each value, and
 * where values are stored.
 */
final class FunctionBody {
  /** A formula of more nodes is not computed again for a reduction. */
  private static final int MAX_AGAIN = 16;

  /** The same of a formula at other columns, where most nodes say which column. */
  private static final int MAX_ELSEWHERE = 64;

  private final FunctionOptions options;
  final Var rowsVar = Var.index("M");
  final List<Tensor> tensors = new ArrayList<>();
  final List<NetworkFunction.Stage> stages = new ArrayList<>();
  final List<Constant> constants = new ArrayList<>();
  final Map<Value, Element> elements = new IdentityHashMap<>();
  final Map<Value, Element> everywhere = new IdentityHashMap<>();
  final Map<Value, Map<DType, Tensor>> stored = new IdentityHashMap<>();
  final Set<String> names = new HashSet<>();
  final Map<Value, Buffer> inputBuffers = new IdentityHashMap<>();

  FunctionBody(FunctionOptions options) {
    this.options = options;
  }

  DType activation() {
    return options.f32Activations() ? DType.F32 : options.precision().operand();
  }

  long padded(long width) {
    return Math.ceilDiv(width, options.granule()) * (long) options.granule();
  }

  List<Expr> shape(long cols) {
    return List.of(rowsVar, Exprs.i32(cols));
  }

  static Expr load(Tensor tensor, Expr row, Expr col) {
    return tensor.f32At(row, col);
  }

  void define(Value value, Element.Formula formula) {
    elements.put(value, new Element(formula, false, false));
  }

  Element element(Value value) {
    Element element = elements.get(value);
    if (element == null) {
      throw new IllegalStateException("value " + value + " is read before it is computed");
    }
    return element;
  }

  /** The elements of a value in f32, without an accumulator and cheap enough to compute again. */
  Element.Formula settled(Value value) {
    Element element = element(value);
    if (element.inFlight() || element.calls() || element.size() > MAX_AGAIN) {
      Tensor tensor = wide(value);
      return (row, col) -> load(tensor, row, col);
    }
    return element.formula();
  }

  /** The value in f32, where those find it that read it next, too, if it is in registers. */
  Tensor wide(Value value) {
    Tensor tensor = stored(value, DType.F32);
    if (options.inRegisters()) {
      elements.put(value, Element.of(tensor));
    }
    return tensor;
  }

  /** Whether a value's rows have no columns that padding adds. */
  boolean isDense(Value value) {
    return padded(value.features()) == value.features();
  }

  /**
   * The elements of a value in f32 at other columns than the one being computed: an input where it
   * lies, what is cheap computed again, all else stored.
   */
  Element.Formula anywhere(Value value) {
    Buffer input = inputBuffers.get(value);
    if (input != null) {
      Tensor tensor = Tensor.input(input);
      return (row, col) -> load(tensor, row, col);
    }
    Element element = element(value);
    if (element.inFlight() || element.calls() || element.size() > MAX_ELSEWHERE) {
      Tensor tensor = stored(value, activation());
      return (row, col) -> load(tensor, row, col);
    }
    return element.formula();
  }

  /** The same at columns that may lie outside, where they are any. */
  Element.Formula clamped(Value value) {
    Element.Formula formula = anywhere(value);
    Expr last = Exprs.i32(value.features() - 1);
    return (row, col) -> formula.at(row, Exprs.min(Exprs.max(col, Exprs.i32(0)), last));
  }

  /** A value of one feature as an element that is the same in each column. */
  Element everywhere(Value value) {
    Element known = everywhere.get(value);
    if (known == null) {
      Element element = element(value);
      known = element;
      boolean again = options.byLayer() || options.inRegisters();
      if (!element.sameInRow() || element.calls() && !again) {
        Element.Formula formula = element.inFlight() ? settled(value) : element.formula();
        Tensor tensor = rowTotal("each", 1, ReduceOp.SUM, formula);
        known = new Element((row, col) -> tensor.at(row), false, true);
      }
      everywhere.put(value, known);
    }
    return known;
  }

  /** The value in a buffer of that type, with zeros in the columns past its features. */
  Tensor stored(Value value, DType dtype) {
    Map<DType, Tensor> byType = stored.computeIfAbsent(value, v -> new HashMap<>());
    Tensor known = byType.get(dtype);
    if (known != null) {
      return known;
    }
    long features = value.features();
    long width = padded(features);
    Expr zero = Exprs.zero(Type.of(dtype));
    Buffer input = inputBuffers.get(value);
    Tensor tensor;
    if (input != null && input.dtype() == dtype) {
      Tensor source = Tensor.input(input);
      tensor =
          Tensor.compute(
              fresh(input.name() + "_rows"),
              dtype,
              shape(width),
              v -> masked(source.at(v.get(0), v.get(1)), v.get(1), features, width, zero));
      stages.add(new NetworkFunction.Load(tensor.name(), input, tensor.buffer()));
    } else {
      Element element = element(value);
      tensor =
          Tensor.compute(
              fresh("h"),
              dtype,
              shape(width),
              v ->
                  masked(
                      value(dtype, element.at(v.get(0), v.get(1))),
                      v.get(1),
                      features,
                      width,
                      zero));
      stages.add(
          new NetworkFunction.Map(
              tensor.name(),
              tensor.buffer(),
              element.pointwise(),
              features == width ? element.ending() : null));
    }
    tensors.add(tensor);
    byType.put(dtype, tensor);
    return tensor;
  }

  /** A formula's value in a type; what is rounded to 16 bits may be approximated. */
  Expr value(DType type, Expr formula) {
    boolean rounded = options.approximate() && type.bytes() == 2;
    return Exprs.cast(type, rounded ? Approximations.of(formula, type) : formula);
  }

  static Expr masked(Expr value, Expr col, long features, long width, Expr otherwise) {
    return features == width
        ? value
        : Exprs.select(Exprs.lt(col, Exprs.i32(features)), value, otherwise);
  }

  Tensor vector(String name, dev.warpwright.model.graph.ConstantTensor source) {
    Buffer buffer = Buffer.of(fresh(name), DType.F32, Scope.GLOBAL, padded(source.count()));
    constants.add(new Constant(buffer, source, false));
    return Tensor.input(buffer);
  }

  /**
   * An element at another column than the one being computed, which may come to lie outside in the
   * columns that padding adds. A schedule cannot tell from it which columns are enough.
   */
  static Expr elsewhere(Tensor tensor, Expr row, Expr col) {
    Expr last = Exprs.sub(tensor.shape().getLast(), Exprs.i32(1));
    return load(tensor, row, Exprs.min(Exprs.max(col, Exprs.i32(0)), last));
  }

  /** Defines a value by a formula that reads other columns, which is stored by itself. */
  void apart(Value value, Element.Formula formula) {
    apart(value, DType.F32, formula);
  }

  /** The same, stored in a type. */
  Tensor apart(Value value, DType type, Element.Formula formula) {
    elements.put(value, new Element(formula, false, false, false, null, null));
    Tensor tensor = stored(value, type);
    elements.put(value, Element.of(tensor));
    return tensor;
  }

  /**
   * Combines each row. It goes over the added columns too, passing them over, so that a schedule
   * computes whole granules of what is read.
   */
  Tensor rowTotal(String prefix, long features, ReduceOp op, Element.Formula element) {
    long width = padded(features);
    Expr neutral = op.identity(Type.F32);
    Tensor total =
        Tensor.reduce(
            fresh(prefix),
            DType.F32,
            List.of(rowsVar),
            List.of(Exprs.i32(width)),
            neutral,
            (s, r, last) ->
                op.combine(
                    last,
                    masked(element.at(s.get(0), r.get(0)), r.get(0), features, width, neutral)));
    tensors.add(total);
    stages.add(new NetworkFunction.Reduction(total.name(), total.buffer()));
    return total;
  }

  /** The RMS norms whose operands and results are stored in the type of activations. */
  List<NetworkFunction.Norm> norms(Graph graph) {
    Map<Value, Node> producers = new IdentityHashMap<>();
    List<NetworkFunction.Norm> norms = new ArrayList<>();
    for (Node node : graph.needed()) {
      producers.put(node.output(), node);
      RmsNorm norm = RmsNorm.of(node, producers);
      Buffer x = norm == null ? null : inMemory(norm.input());
      Buffer to = inMemory(node.output());
      if (norm != null && x != null && to != null) {
        norms.add(new NetworkFunction.Norm(x, to, norm.scale(), norm.epsilon()));
      }
    }
    return norms;
  }

  private @Nullable Buffer inMemory(Value value) {
    Tensor tensor = stored.getOrDefault(value, Map.of()).get(activation());
    Buffer input = inputBuffers.get(value);
    return !isDense(value)
        ? null
        : tensor != null
            ? tensor.buffer()
            : input != null && input.dtype() == activation() ? input : null;
  }

  /** A name that no buffer has yet; names from the file never reach the program. */
  String fresh(String prefix) {
    String name = prefix;
    for (int i = 1; !names.add(name); i++) {
      name = prefix + i;
    }
    return name;
  }
}
