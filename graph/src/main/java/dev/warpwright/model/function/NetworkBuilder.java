package dev.warpwright.model.function;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.model.graph.Attend;
import dev.warpwright.model.graph.Columns;
import dev.warpwright.model.graph.Concat;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.Pointwise;
import dev.warpwright.workload.tensor.Approximations;
import dev.warpwright.workload.tensor.Ops;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

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

  /** Sines and the like are some twenty operations: a formula of 200 of them is no method. */
  private static final int CALL_NODES = 8;

  /** A product with ones is worth its weights up to so many of them. */
  private static final long MOST_ONES = 1 << 20;

  /** A formula of more nodes is not computed again for a reduction. */
  private static final int MAX_AGAIN = 16;

  private final Graph graph;
  private final FunctionOptions options;
  private final Var rowsVar = Var.index("M");
  private final List<Tensor> tensors = new ArrayList<>();
  private final List<NetworkFunction.Stage> stages = new ArrayList<>();
  private final List<Constant> constants = new ArrayList<>();
  private final Map<Value, Element> elements = new IdentityHashMap<>();
  private final Map<Value, Element> everywhere = new IdentityHashMap<>();
  private final Map<Value, Map<DType, Tensor>> stored = new IdentityHashMap<>();
  private final Set<String> names = new HashSet<>();
  private final List<Buffer> inputs = new ArrayList<>();
  private final Map<Value, Buffer> inputBuffers = new IdentityHashMap<>();
  private final Map<Value, Buffer> outputBuffers = new IdentityHashMap<>();

  /** An f32 element of a value as an expression of its row and column. */
  @FunctionalInterface
  private interface Formula {
    Expr at(Expr row, Expr col);
  }

  /**
   * How the elements of a value come about.
   *
   * @param inFlight whether an accumulator is read, which only the stages right behind its product
   *     can do
   * @param sameInRow whether the column does not matter
   * @param pointwise whether other columns are not read
   * @param loaded the tensor that it is read from, if it is nothing but read
   * @param ending what it is, if it is what an epilogue makes of a product
   */
  private record Element(
      Formula formula,
      boolean inFlight,
      boolean sameInRow,
      boolean pointwise,
      @Nullable Supplier<Tensor> loaded,
      @Nullable Ending ending) {
    Element(Formula formula, boolean inFlight, boolean sameInRow) {
      this(formula, inFlight, sameInRow, true, null, null);
    }

    /** Elements of a tensor. */
    static Element of(Tensor tensor) {
      return new Element(
          (row, col) -> load(tensor, row, col), false, false, true, () -> tensor, null);
    }

    Element with(@Nullable Ending newEnding) {
      return new Element(formula, inFlight, sameInRow, pointwise, loaded, newEnding);
    }

    Expr at(Expr row, Expr col) {
      return formula.at(row, col);
    }

    /** Nodes; a function counts as what it becomes on devices that do not have it. */
    int size() {
      int[] size = {0};
      Walk.expressions(
          at(Var.index("i"), Var.index("j")),
          e -> size[0] += e instanceof Expr.Call ? CALL_NODES : 1);
      return size[0];
    }

    boolean calls() {
      boolean[] found = {false};
      Walk.expressions(at(Var.index("i"), Var.index("j")), e -> found[0] |= e instanceof Expr.Call);
      return found[0];
    }
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
      elements.put(
          input,
          new Element(
              (row, col) -> load(stored(input, buffer.dtype()), row, col),
              false,
              false,
              true,
              () -> stored(input, buffer.dtype()),
              null));
    }
    Map<Value, String> outputNames = new IdentityHashMap<>();
    graph.outputs().forEach(output -> outputNames.put(output, fresh("y")));
    for (Node node : graph.needed()) {
      switch (node) {
        case Linear linear -> linear(linear, isExact(linear));
        case Elementwise elementwise -> elementwise(elementwise);
        case LayerNorm norm -> layerNorm(norm);
        case RowReduce reduce -> rowReduce(reduce);
        case Concat concat -> concat(concat);
        case Columns columns -> columns(columns);
        case Attend attend -> attend(attend);
      }
      // At once: an accumulator that it reads need not outlive what comes behind it.
      String outputName = outputNames.get(node.output());
      if (outputName != null) {
        outputBuffers.put(node.output(), store(node.output(), outputName));
      }
    }
    List<Buffer> outputs =
        graph.outputs().stream()
            .map(output -> Objects.requireNonNull(outputBuffers.get(output)))
            .toList();
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
        graph.needed().stream()
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

  private void define(Value value, Formula formula) {
    elements.put(value, new Element(formula, false, false));
  }

  private Element element(Value value) {
    Element element = elements.get(value);
    if (element == null) {
      throw new IllegalStateException("value " + value + " is read before it is computed");
    }
    return element;
  }

  /** The elements of a value in f32, without an accumulator and cheap enough to compute again. */
  private Formula settled(Value value) {
    Element element = element(value);
    if (element.inFlight() || element.calls() || element.size() > MAX_AGAIN) {
      Tensor tensor = stored(value, DType.F32);
      return (row, col) -> load(tensor, row, col);
    }
    return element.formula();
  }

  /** A value of one feature as an element that is the same in each column. */
  private Element everywhere(Value value) {
    Element known = everywhere.get(value);
    if (known == null) {
      Element element = element(value);
      known = element;
      if (!element.sameInRow() || element.calls()) {
        Formula formula = element.inFlight() ? settled(value) : element.formula();
        Tensor tensor = rowTotal("each", 1, ReduceOp.SUM, formula);
        known = new Element((row, col) -> tensor.at(row), false, true);
      }
      everywhere.put(value, known);
    }
    return known;
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
  private Expr value(DType type, Expr formula) {
    boolean rounded = options.approximate() && type.bytes() == 2;
    return Exprs.cast(type, rounded ? Approximations.of(formula) : formula);
  }

  private static Expr masked(Expr value, Expr col, long features, long width, Expr otherwise) {
    return features == width
        ? value
        : Exprs.select(Exprs.lt(col, Exprs.i32(features)), value, otherwise);
  }

  private Buffer store(Value output, String name) {
    long features = output.features();
    long width = padded(features);
    Element formula = element(output);
    DType type = activation();
    Tensor result =
        Tensor.compute(
            fresh("result"), type, shape(width), v -> value(type, formula.at(v.get(0), v.get(1))));
    tensors.add(result);
    stages.add(new NetworkFunction.Map(result.name(), result.buffer(), true, formula.ending()));
    Tensor out = Tensor.compute(name, type, shape(features), v -> result.at(v.get(0), v.get(1)));
    tensors.add(out);
    stages.add(new NetworkFunction.Store(out.name(), result.buffer(), out.buffer()));
    return out.buffer();
  }

  // --- nodes
  // --------------------------------------------------------------------------------------------------------

  /** The product as a formula of an input's elements, with its few weights. */
  private void narrow(Linear node, Buffer input) {
    long n = padded(node.output().features());
    long k = padded(node.input().features());
    String name = fresh("fc");
    Buffer buffer = Buffer.of(fresh(name + "_w"), DType.F32, Scope.GLOBAL, k, n);
    constants.add(new Constant(buffer, node.weight(), true));
    Tensor weight = Tensor.input(buffer);
    Tensor x = Tensor.input(input);
    Tensor bias = node.bias() == null ? null : vector(name + "_b", node.bias());
    define(
        node.output(),
        (row, col) -> {
          Expr sum = Exprs.f32(0);
          for (int i = 0; i < node.input().features(); i++) {
            Expr at = Exprs.i32(i);
            sum = Exprs.fma(x.f32At(row, at), weight.at(at, col), sum);
          }
          return bias == null ? sum : Exprs.add(sum, bias.at(col));
        });
  }

  private void linear(Linear node, boolean exact) {
    Buffer input = inputBuffers.get(node.input());
    if (options.narrowAsFormula() && exact && input != null && input.dtype() == DType.F32) {
      narrow(node, input);
      return;
    }
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
    Tensor bias = node.bias() == null ? null : vector(name + "_b", node.bias());
    Formula formula =
        bias == null ? product::at : (row, col) -> Exprs.add(product.at(row, col), bias.at(col));
    Buffer added = bias == null ? null : bias.buffer();
    elements.put(
        node.output(),
        new Element(formula, true, false)
            .with(new Ending(product.buffer(), added, Activation.NONE, null)));
  }

  private Tensor vector(String name, dev.warpwright.model.graph.ConstantTensor source) {
    Buffer buffer = Buffer.of(fresh(name), DType.F32, Scope.GLOBAL, padded(source.count()));
    constants.add(new Constant(buffer, source, false));
    return Tensor.input(buffer);
  }

  private void elementwise(Elementwise node) {
    List<Element> operands = new ArrayList<>();
    boolean wide = node.output().features() > 1;
    for (Operand operand : node.operands()) {
      operands.add(
          switch (operand) {
            case Operand.OfValue(Value value) ->
                wide && value.features() == 1 ? everywhere(value) : element(value);
            case Operand.OfTensor constant -> {
              if (constant.tensor().count() == 1) {
                Expr scalar = Exprs.f32(constant.tensor().doubleAt(0));
                yield new Element((row, col) -> scalar, false, true);
              }
              Tensor vector = vector("vec", constant.tensor());
              yield new Element(
                  (row, col) -> vector.at(col), false, false, true, () -> vector, null);
            }
          });
    }
    Element element =
        new Element(
                (row, col) ->
                    node.kind()
                        .formula(operands.stream().map(operand -> operand.at(row, col)).toList()),
                operands.stream().anyMatch(Element::inFlight),
                operands.stream().allMatch(Element::sameInRow))
            .with(ending(node.kind(), operands));
    elements.put(node.output(), element);
    if (element.size() > MAX_FORMULA) {
      elements.put(node.output(), Element.of(stored(node.output(), DType.F32)));
    }
  }

  /** What the epilogue of a product is with a function behind it; null if it is none. */
  private @Nullable Ending ending(Pointwise function, List<Element> operands) {
    Element first = operands.getFirst();
    if (first.ending() != null && function instanceof Activation activation) {
      return first.ending().then(activation);
    }
    if (function == ElementwiseOp.IDENTITY) {
      return first.ending();
    }
    if (function == ElementwiseOp.MUL) {
      Ending second = operands.get(1).ending();
      return first.ending() == null || second == null ? null : Ending.glu(first.ending(), second);
    }
    if (function != ElementwiseOp.ADD) {
      return null;
    }
    Element second = operands.get(1);
    boolean isFirst = place(first) > place(second);
    Element last = isFirst ? first : second;
    Buffer addend = read(isFirst ? second : first);
    return last.ending() == null || addend == null ? null : last.ending().plus(addend);
  }

  /** Where the product stands, of which an element is what an epilogue makes; or before all. */
  private int place(Element element) {
    Ending ending = element.ending();
    return ending == null
        ? -1
        : IntStream.range(0, stages.size())
            .filter(i -> stages.get(i).block().equals(ending.accumulator().name()))
            .findFirst()
            .orElseThrow();
  }

  /** The buffer that an element is read from, if it is nothing but read. */
  private static @Nullable Buffer read(Element element) {
    if (element.loaded() != null) {
      return element.loaded().get().buffer();
    }
    Ending ending = element.ending();
    return ending != null && ending.epilogue().equals(Epilogue.NONE) ? ending.accumulator() : null;
  }

  private void rowReduce(RowReduce node) {
    long features = node.input().features();
    Formula input = settled(node.input());
    Formula result =
        switch (node.kind()) {
          case SUM -> total(features, ReduceOp.SUM, input);
          case MEAN -> {
            Formula sum = total(features, ReduceOp.SUM, input);
            Expr inverse = Exprs.f32(1.0 / features);
            yield (row, col) -> Exprs.mul(sum.at(row, col), inverse);
          }
          case MAX -> total(features, ReduceOp.MAX, input);
          case MIN -> {
            Formula largest =
                total(features, ReduceOp.MAX, (row, col) -> Ops.negate(input.at(row, col)));
            yield (row, col) -> Ops.negate(largest.at(row, col));
          }
        };
    elements.put(node.output(), new Element(result, false, true));
  }

  private Formula total(long features, ReduceOp op, Formula element) {
    Tensor total = rowTotal(op == ReduceOp.SUM ? "sum" : "max", features, op, element);
    return (row, col) -> total.at(row);
  }

  private void concat(Concat node) {
    record Part(Tensor tensor, long first) {}
    List<Part> parts = new ArrayList<>();
    long first = 0;
    for (Value input : node.inputs()) {
      parts.add(new Part(stored(input, DType.F32), first));
      first += input.features();
    }
    apart(
        node.output(),
        (row, col) -> {
          Part last = parts.getLast();
          Expr result = elsewhere(last.tensor(), row, Exprs.sub(col, Exprs.i32(last.first())));
          for (int p = parts.size() - 2; p >= 0; p--) {
            Part part = parts.get(p);
            Expr own = elsewhere(part.tensor(), row, Exprs.sub(col, Exprs.i32(part.first())));
            Expr end = Exprs.i32(parts.get(p + 1).first());
            result = Exprs.select(Exprs.lt(col, end), own, result);
          }
          return result;
        });
  }

  /** Attention, whose stages are added one after the other. */
  private void attend(Attend node) {
    AttendStages attention =
        new AttendStages(
            node, features(node.q()), features(node.k()), features(node.v()), rowsVar, this::fresh);
    AttendStages.Result result = attention.add();
    tensors.addAll(attention.tensors());
    stages.addAll(attention.stages());
    apart(node.output(), result::at);
  }

  /** A value to be read anywhere in a row: an input where it lies. */
  private Tensor features(Value value) {
    Buffer input = inputBuffers.get(value);
    return input != null ? Tensor.input(input) : stored(value, DType.F32);
  }

  /**
   * Evenly spaced columns are read where they lie, and so are many that come in blocks; others go
   * through a product with ones.
   *
   * @throws UserError if those would be too many
   */
  private void columns(Columns node) {
    if (node.isRegular()) {
      Tensor input = stored(node.input(), DType.F32);
      apart(
          node.output(),
          (row, col) ->
              elsewhere(input, row, Exprs.add(Exprs.mul(col, node.stride()), node.source(0))));
      return;
    }
    long ones = (long) node.output().features() * node.input().features();
    ColumnBlocks blocks = ones > MOST_ONES ? ColumnBlocks.of(node) : null;
    if (blocks != null) {
      Tensor input = features(node.input());
      apart(node.output(), (row, col) -> elsewhere(input, row, blocks.source(col)));
      return;
    }
    if (ones > Integer.MAX_VALUE) {
      throw new UserError(
          "node "
              + Names.quote(node.name())
              + " puts "
              + node.output().features()
              + " features in an order without blocks, which is not supported of so many");
    }
    linear(node.asLinear(), true);
  }

  /**
   * An element at another column than the one being computed, which may come to lie outside in the
   * columns that padding adds. A schedule cannot tell from it which columns are enough.
   */
  private static Expr elsewhere(Tensor tensor, Expr row, Expr col) {
    Expr last = Exprs.sub(tensor.shape().getLast(), Exprs.i32(1));
    return load(tensor, row, Exprs.min(Exprs.max(col, Exprs.i32(0)), last));
  }

  /** Defines a value by a formula that reads other columns, which is stored by itself. */
  private void apart(Value value, Formula formula) {
    elements.put(value, new Element(formula, false, false, false, null, null));
    elements.put(value, Element.of(stored(value, DType.F32)));
  }

  /** Mean and variance in two passes over the stored row, then a formula. */
  private void layerNorm(LayerNorm node) {
    long features = node.input().features();
    Tensor input = stored(node.input(), activation());
    Expr inverse = Exprs.f32(1.0 / features);
    Tensor sum = rowTotal("sum", features, ReduceOp.SUM, (row, col) -> load(input, row, col));
    Formula centred =
        (row, col) -> Exprs.sub(load(input, row, col), Exprs.mul(sum.at(row), inverse));
    Tensor squares =
        rowTotal(
            "squares",
            features,
            ReduceOp.SUM,
            (row, col) -> Exprs.mul(centred.at(row, col), centred.at(row, col)));
    Expr epsilon = Exprs.f32(node.epsilon());
    Tensor scale = node.scale() == null ? null : vector("norm_scale", node.scale());
    Tensor bias = node.bias() == null ? null : vector("norm_bias", node.bias());
    define(
        node.output(),
        (row, col) -> {
          Expr variance = Exprs.mul(squares.at(row), inverse);
          Expr deviation = Exprs.call(MathOp.SQRT, Exprs.add(variance, epsilon));
          Expr normal = Exprs.div(centred.at(row, col), deviation);
          Expr scaled = scale == null ? normal : Exprs.mul(normal, scale.at(col));
          return bias == null ? scaled : Exprs.add(scaled, bias.at(col));
        });
  }

  /**
   * Combines each row. It goes over the added columns too, passing them over, so that a schedule
   * computes whole granules of what is read.
   */
  private Tensor rowTotal(String prefix, long features, ReduceOp op, Formula element) {
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

  /** A name that no buffer has yet; names from the file never reach the program. */
  private String fresh(String prefix) {
    String name = prefix;
    for (int i = 1; !names.add(name); i++) {
      name = prefix + i;
    }
    return name;
  }
}
