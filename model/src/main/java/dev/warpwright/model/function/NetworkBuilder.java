package dev.warpwright.model.function;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Type;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.Walk;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.tensor.Ops;
import dev.warpwright.tensor.PrimFuncs;
import dev.warpwright.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Builds the function of a graph. Elementwise operators are composed into formulas; a formula gets
 * a buffer of its own only where a product, a normalisation or an output reads it, or where it
 * would grow past {@link #MAX_FORMULA} nodes.
 */
public final class NetworkBuilder {
  /**
   * Products with fewer inputs are computed in f32: their operands are often coordinates, which
   * lose too much.
   */
  private static final int EXACT_BELOW = 8;

  /**
   * A formula that is read often and again can grow exponentially; past this many nodes it is
   * stored.
   */
  private static final int MAX_FORMULA = 200;

  private final Graph graph;
  private final FunctionOptions options;
  private final Var rowsVar = Var.index("M");
  private final List<Tensor> tensors = new ArrayList<>();
  private final List<NetworkFunction.Stage> stages = new ArrayList<>();
  private final List<Constant> constants = new ArrayList<>();
  private final Map<Value, Formula> formulas = new IdentityHashMap<>();
  private final Map<Value, Map<DType, Tensor>> stored = new IdentityHashMap<>();
  private final Set<String> names = new HashSet<>();
  private final List<Buffer> inputs = new ArrayList<>();
  private final Map<Value, Buffer> inputBuffers = new IdentityHashMap<>();

  /** An f32 element of a value as an expression of its row and column. */
  @FunctionalInterface
  private interface Formula {
    Expr at(Expr row, Expr col);
  }

  private NetworkBuilder(Graph graph, FunctionOptions options) {
    this.graph = graph;
    this.options = options;
  }

  /** The function of the graph. */
  public static NetworkFunction build(Graph graph, FunctionOptions options) {
    return new NetworkBuilder(graph, options).build();
  }

  private NetworkFunction build() {
    ScalarParam rows = new ScalarParam(rowsVar, 0, Integer.MAX_VALUE);
    for (Value input : graph.inputs()) {
      Buffer buffer =
          Buffer.of(fresh("x"), inputType(input), Scope.GLOBAL, shape(input.features()));
      inputs.add(buffer);
      inputBuffers.put(input, buffer);
      formulas.put(input, (row, col) -> load(stored(input, buffer.dtype()), row, col));
    }
    for (Node node : graph.nodes()) {
      switch (node) {
        case Linear linear -> linear(linear);
        case Elementwise elementwise -> elementwise(elementwise);
        case LayerNorm norm -> layerNorm(norm);
      }
    }
    List<Buffer> outputs = new ArrayList<>();
    for (Value output : graph.outputs()) {
      outputs.add(store(output));
    }
    List<Param> params = new ArrayList<>(inputs);
    params.addAll(outputs);
    constants.forEach(constant -> params.add(constant.buffer()));
    params.add(rows);
    PrimFunc func = PrimFuncs.of("network", params, tensors);
    return new NetworkFunction(func, rows, inputs, outputs, constants, stages);
  }

  // --- values
  // -------------------------------------------------------------------------------------------------------

  /** Inputs come in the operands' type, unless a product with few inputs reads them. */
  private DType inputType(Value input) {
    boolean exact =
        graph.nodes().stream()
            .anyMatch(n -> n instanceof Linear l && l.input() == input && isExact(l));
    return exact ? DType.F32 : activation();
  }

  private DType activation() {
    return options.f32Activations() ? DType.F32 : options.precision().operand();
  }

  private static boolean isExact(Linear linear) {
    return linear.input().features() < EXACT_BELOW;
  }

  private long padded(long width) {
    return Math.ceilDiv(width, options.granule()) * (long) options.granule();
  }

  private List<Expr> shape(long cols) {
    return List.of(rowsVar, Exprs.i32(cols));
  }

  private static Expr load(Tensor tensor, Expr row, Expr col) {
    return tensor.f32At(row, col);
  }

  private Formula formula(Value value) {
    Formula formula = formulas.get(value);
    if (formula == null) {
      throw new IllegalStateException("value " + value + " is read before it is computed");
    }
    return formula;
  }

  /** The value in a buffer of that type, with zeros in the columns past its features. */
  private Tensor stored(Value value, DType dtype) {
    Map<DType, Tensor> byType = stored.computeIfAbsent(value, v -> new HashMap<>());
    Tensor known = byType.get(dtype);
    if (known != null) {
      return known;
    }
    long features = value.features();
    long width = padded(features);
    Buffer input = inputBuffers.get(value);
    Tensor tensor;
    if (input != null && input.dtype() == dtype) {
      Tensor source = Tensor.input(input);
      tensor =
          Tensor.compute(
              fresh(input.name() + "_rows"),
              dtype,
              shape(width),
              v -> masked(source.at(v.get(0), v.get(1)), v.get(1), features, width));
      stages.add(new NetworkFunction.Load(tensor.name(), input, tensor.buffer()));
    } else {
      Formula formula = formula(value);
      tensor =
          Tensor.compute(
              fresh("h"),
              dtype,
              shape(width),
              v ->
                  masked(
                      Exprs.cast(dtype, formula.at(v.get(0), v.get(1))),
                      v.get(1),
                      features,
                      width));
      stages.add(new NetworkFunction.Map(tensor.name(), tensor.buffer()));
    }
    tensors.add(tensor);
    byType.put(dtype, tensor);
    return tensor;
  }

  private static Expr masked(Expr value, Expr col, long features, long width) {
    return features == width
        ? value
        : Exprs.select(Exprs.lt(col, Exprs.i32(features)), value, Exprs.zero(value.type()));
  }

  private Buffer store(Value output) {
    long features = output.features();
    long width = padded(features);
    Formula formula = formula(output);
    Tensor result =
        Tensor.compute(
            fresh("result"), DType.F32, shape(width), v -> formula.at(v.get(0), v.get(1)));
    tensors.add(result);
    stages.add(new NetworkFunction.Map(result.name(), result.buffer()));
    Tensor out =
        Tensor.compute(fresh("y"), DType.F32, shape(features), v -> result.at(v.get(0), v.get(1)));
    tensors.add(out);
    stages.add(new NetworkFunction.Store(out.name(), result.buffer(), out.buffer()));
    return out.buffer();
  }

  // --- nodes
  // --------------------------------------------------------------------------------------------------------

  private void linear(Linear node) {
    boolean exact = isExact(node);
    DType operand = exact ? DType.F32 : options.precision().operand();
    Tensor a = stored(node.input(), exact ? DType.F32 : activation());
    boolean transposed = exact || options.transposedWeights();
    long n = padded(node.output().features());
    long k = padded(node.input().features());
    String name = fresh("fc");
    Buffer weightBuffer =
        transposed
            ? Buffer.of(fresh(name + "_w"), operand, Scope.GLOBAL, k, n)
            : Buffer.of(fresh(name + "_w"), operand, Scope.GLOBAL, n, k);
    constants.add(new Constant(weightBuffer, node.weight(), transposed));
    Tensor product = Ops.matmul(name, a, Tensor.input(weightBuffer), !transposed, n, k);
    tensors.add(product);
    stages.add(
        new NetworkFunction.Product(
            name, product.buffer(), a.buffer(), weightBuffer, !transposed, n, k, exact));
    if (node.bias() == null) {
      formulas.put(node.output(), product::at);
    } else {
      Tensor bias = vector(name + "_b", node.bias());
      formulas.put(node.output(), (row, col) -> Exprs.add(product.at(row, col), bias.at(col)));
    }
  }

  private Tensor vector(String name, dev.warpwright.model.graph.Tensor source) {
    Buffer buffer = Buffer.of(fresh(name), DType.F32, Scope.GLOBAL, padded(source.count()));
    constants.add(new Constant(buffer, source, false));
    return Tensor.input(buffer);
  }

  private void elementwise(Elementwise node) {
    List<Formula> operands = new ArrayList<>();
    for (Operand operand : node.operands()) {
      operands.add(
          switch (operand) {
            case Operand.OfValue(Value value) -> formula(value);
            case Operand.OfTensor constant -> {
              if (constant.isScalar()) {
                Expr scalar = Exprs.f32(constant.tensor().doubleAt(0));
                yield (row, col) -> scalar;
              }
              Tensor vector = vector("vec", constant.tensor());
              yield (row, col) -> vector.at(col);
            }
          });
    }
    Formula formula =
        (row, col) -> apply(node, operands.stream().map(operand -> operand.at(row, col)).toList());
    formulas.put(node.output(), formula);
    int[] size = {0};
    Walk.expressions(formula.at(Var.index("i"), Var.index("j")), e -> size[0]++);
    if (size[0] > MAX_FORMULA) {
      Tensor tensor = stored(node.output(), DType.F32);
      formulas.put(node.output(), (row, col) -> load(tensor, row, col));
    }
  }

  private static Expr apply(Elementwise node, List<Expr> x) {
    Expr a = x.getFirst();
    return switch (node.kind()) {
      case ADD -> Exprs.add(a, x.get(1));
      case SUB -> Exprs.sub(a, x.get(1));
      case MUL -> Exprs.mul(a, x.get(1));
      case DIV -> Exprs.div(a, x.get(1));
      case POW -> power(a, x.get(1));
      case MIN -> extreme(a, x.get(1), true);
      case MAX -> extreme(a, x.get(1), false);
      case IDENTITY -> a;
      case NEG -> Ops.negate(a);
      case ABS -> Exprs.call(MathOp.ABS, a);
      case RECIPROCAL -> Exprs.div(Exprs.f32(1), a);
      case SQRT -> Exprs.call(MathOp.SQRT, a);
      case EXP -> Exprs.call(MathOp.EXP, a);
      case LOG -> Exprs.call(MathOp.LOG, a);
      case SIN -> Exprs.call(MathOp.SIN, a);
      case COS -> Exprs.call(MathOp.COS, a);
      case TANH -> Exprs.call(MathOp.TANH, a);
      case ERF -> Exprs.call(MathOp.ERF, a);
      case SIGMOID -> Ops.sigmoid(a);
      case RELU -> Ops.relu(a);
      case GELU -> Ops.gelu(a);
      case GELU_TANH -> Ops.geluTanh(a);
    };
  }

  /** Small whole exponents by multiplication, which is exact for negative bases too. */
  private static Expr power(Expr a, Expr exponent) {
    if (exponent instanceof Expr.FloatImm imm) {
      if (imm.value() == 1) {
        return a;
      }
      if (imm.value() == 2) {
        return Exprs.mul(a, a);
      }
      if (imm.value() == 3) {
        return Exprs.mul(Exprs.mul(a, a), a);
      }
    }
    return Exprs.call(MathOp.POW, a, exponent);
  }

  /** The smaller or larger of the two; NaN if either is NaN, unlike the IR's min and max. */
  private static Expr extreme(Expr a, Expr b, boolean smaller) {
    Expr aIsNan = new Expr.Binary(dev.warpwright.ir.BinaryOp.NE, a, a);
    Expr bIsNan = new Expr.Binary(dev.warpwright.ir.BinaryOp.NE, b, b);
    Expr chosen = smaller ? Exprs.min(a, b) : Exprs.max(a, b);
    return Exprs.select(aIsNan, a, Exprs.select(bIsNan, b, chosen));
  }

  /** Mean and variance in two passes over the stored row, then a formula. */
  private void layerNorm(LayerNorm node) {
    long features = node.input().features();
    Tensor input = stored(node.input(), activation());
    Expr inverse = Exprs.f32(1.0 / features);
    Tensor sum = rowSum("sum", features, (row, col) -> load(input, row, col));
    Formula centred =
        (row, col) -> Exprs.sub(load(input, row, col), Exprs.mul(sum.at(row), inverse));
    Tensor squares =
        rowSum(
            "squares",
            features,
            (row, col) -> Exprs.mul(centred.at(row, col), centred.at(row, col)));
    Expr epsilon = Exprs.f32(node.epsilon());
    Tensor scale = node.scale() == null ? null : vector("norm_scale", node.scale());
    Tensor bias = node.bias() == null ? null : vector("norm_bias", node.bias());
    formulas.put(
        node.output(),
        (row, col) -> {
          Expr variance = Exprs.mul(squares.at(row), inverse);
          Expr deviation = Exprs.call(MathOp.SQRT, Exprs.add(variance, epsilon));
          Expr normal = Exprs.div(centred.at(row, col), deviation);
          Expr scaled = scale == null ? normal : Exprs.mul(normal, scale.at(col));
          return bias == null ? scaled : Exprs.add(scaled, bias.at(col));
        });
  }

  private Tensor rowSum(String prefix, long features, Formula element) {
    Tensor sum =
        Tensor.reduce(
            fresh(prefix),
            DType.F32,
            List.of(rowsVar),
            List.of(Exprs.i32(features)),
            Exprs.zero(Type.F32),
            (s, r, last) -> Exprs.add(last, element.at(s.get(0), r.get(0))));
    tensors.add(sum);
    stages.add(new NetworkFunction.Reduction(sum.name(), sum.buffer()));
    return sum;
  }

  /** A name that no buffer has yet; names from the file never reach the program. */
  private String fresh(String prefix) {
    String name = prefix;
    for (int i = 1; !names.add(name); i++) {
      name = prefix + i;
    }
    return name;
  }
}
