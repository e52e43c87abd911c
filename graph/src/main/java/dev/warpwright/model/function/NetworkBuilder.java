package dev.warpwright.model.function;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.model.graph.Attend;
import dev.warpwright.model.graph.Columns;
import dev.warpwright.model.graph.Concat;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.InputUpdates;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.tensor.Ops;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

  /** The same where columns lie elsewhere: most nodes say where. */
  private static final int MAX_FORMULA_ELSEWHERE = 500;

  private final Graph graph;
  private final FunctionOptions options;
  private final FunctionBody body;
  private final OtherColumns columns;
  private final Endings endings;
  private final List<Buffer> inputs = new ArrayList<>();
  private final List<NetworkFunction.Attention> attentions = new ArrayList<>();
  private final Map<Value, Buffer> outputBuffers = new IdentityHashMap<>();

  private NetworkBuilder(Graph graph, FunctionOptions options) {
    this.graph = graph;
    this.options = options;
    this.body = new FunctionBody(options);
    this.columns = new OtherColumns(graph, options, body);
    this.endings = new Endings(body);
  }

  /** The function of the graph. */
  public static NetworkFunction build(Graph graph, FunctionOptions options) {
    return new NetworkBuilder(graph, options).build();
  }

  private NetworkFunction build() {
    ScalarParam rows = new ScalarParam(body.rowsVar, 0, Integer.MAX_VALUE);
    for (Value input : graph.inputs()) {
      Buffer buffer =
          Buffer.of(body.fresh("x"), inputType(input), Scope.GLOBAL, body.shape(input.features()));
      inputs.add(buffer);
      body.inputBuffers.put(input, buffer);
      body.elements.put(
          input,
          options.byLayer() && body.isDense(input)
              ? Element.of(Tensor.input(buffer))
              : new Element(
                  (row, col) -> FunctionBody.load(body.stored(input, buffer.dtype()), row, col),
                  false,
                  false,
                  true,
                  () -> body.stored(input, buffer.dtype()),
                  null));
    }
    Map<Value, String> outputNames = new IdentityHashMap<>();
    graph.outputs().forEach(output -> outputNames.put(output, body.fresh("y")));
    Set<Value> again = readAgain();
    Set<Value> reduced = options.inRegisters() ? reduced() : Set.of();
    for (Node node : graph.needed()) {
      if (columns.covers(node)) {
        InputUpdates.Update update = columns.update(node.output());
        if (update != null) {
          String name = Objects.requireNonNull(outputNames.get(node.output()));
          outputBuffers.put(node.output(), columns.changed(node.output(), name, update));
        }
        continue;
      }
      switch (node) {
        case Linear linear -> {
          List<Linear> beside = beside(linear, again);
          if (beside.size() > 1) {
            together(beside);
          } else if (!body.elements.containsKey(linear.output())) {
            linear(linear, isExact(linear));
          }
        }
        case Elementwise elementwise -> elementwise(elementwise);
        case LayerNorm norm -> layerNorm(norm);
        case RowReduce reduce -> rowReduce(reduce);
        case Concat concat -> columns.concat(concat);
        case Columns chosen -> {
          if (!columns.choose(chosen)) {
            linear(chosen.asLinear(), true);
          }
        }
        case Attend attend -> attend(attend);
      }
      if (options.byLayer() && again.contains(node.output())) {
        settle(node.output());
      }
      if (reduced.contains(node.output()) && again.contains(node.output())) {
        body.settled(node.output());
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
    body.constants.forEach(constant -> params.add(constant.buffer()));
    params.add(rows);
    PrimFunc func = PrimFuncs.of("network", params, body.tensors);
    return new NetworkFunction(
        func, rows, inputs, outputs, body.constants, body.stages, attentions, body.norms(graph));
  }

  /** Values that several read, a result from outside, or one at other columns. */
  private Set<Value> readAgain() {
    Set<Value> once = Collections.newSetFromMap(new IdentityHashMap<>());
    Set<Value> again = Collections.newSetFromMap(new IdentityHashMap<>());
    once.addAll(graph.outputs());
    for (Node node : graph.needed()) {
      boolean elsewhere = node instanceof Columns || node instanceof Concat;
      for (Value value : new HashSet<>(node.inputs())) {
        if (!once.add(value) || elsewhere) {
          again.add(value);
        }
      }
    }
    return again;
  }

  /** Values that rows are reduced from, by formulas or as they are. */
  private Set<Value> reduced() {
    Set<Value> reduced = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node node : graph.needed().reversed()) {
      boolean reduces = node instanceof RowReduce || node instanceof LayerNorm;
      if (reduces || node instanceof Elementwise && reduced.contains(node.output())) {
        node.inputs().stream().filter(value -> value.features() > 1).forEach(reduced::add);
      }
    }
    return reduced;
  }

  /** Stores what is computed behind a product, so that nobody reads its accumulator again. */
  private void settle(Value value) {
    if (body.element(value).inFlight() && value.features() > 1) {
      body.elements.put(value, Element.of(body.stored(value, body.activation())));
    }
  }

  /** Inputs come in the operands' type, unless a product with few inputs reads them. */
  private DType inputType(Value input) {
    boolean exact =
        graph.needed().stream()
            .anyMatch(n -> n instanceof Linear l && l.input() == input && isExact(l));
    return exact ? DType.F32 : body.activation();
  }

  private static boolean isExact(Linear linear) {
    return linear.input().features() < EXACT_BELOW;
  }

  private Buffer store(Value output, String name) {
    long features = output.features();
    long width = body.padded(features);
    Element formula = body.element(output);
    DType type = body.activation();
    Tensor result =
        Tensor.compute(
            body.fresh("result"),
            type,
            body.shape(width),
            v -> body.value(type, formula.at(v.get(0), v.get(1))));
    body.tensors.add(result);
    body.stages.add(
        new NetworkFunction.Map(result.name(), result.buffer(), true, formula.ending()));
    Tensor out =
        Tensor.compute(name, type, body.shape(features), v -> result.at(v.get(0), v.get(1)));
    body.tensors.add(out);
    body.stages.add(new NetworkFunction.Store(out.name(), result.buffer(), out.buffer()));
    if (options.byLayer() && body.isDense(output)) {
      body.stored.computeIfAbsent(output, v -> new HashMap<>()).putIfAbsent(type, out);
    }
    return out.buffer();
  }

  /** The product as a formula of an input's elements, with its few weights. */
  private void narrow(Linear node, Buffer input) {
    long n = body.padded(node.output().features());
    long k = body.padded(node.input().features());
    String name = body.fresh("fc");
    Buffer buffer = Buffer.of(body.fresh(name + "_w"), DType.F32, Scope.GLOBAL, k, n);
    body.constants.add(new Constant(buffer, node.weight(), true));
    Tensor weight = Tensor.input(buffer);
    Tensor x = Tensor.input(input);
    Tensor bias = node.bias() == null ? null : body.vector(name + "_b", node.bias());
    body.define(
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

  /**
   * Layers that read the same and whose results are stored: one product of all their weights, of
   * which each has its columns. Of few rows each alone would leave SMs without weights to read.
   *
   * @return in order, from the layer on; others have been computed with one before them
   */
  private List<Linear> beside(Linear first, Set<Value> again) {
    if (!options.byLayer() || body.elements.containsKey(first.output()) || !joins(first, again)) {
      return List.of();
    }
    return graph.needed().stream()
        .filter(Linear.class::isInstance)
        .map(Linear.class::cast)
        .filter(
            other ->
                other.input() == first.input()
                    && other.weight().dtype() == first.weight().dtype()
                    && joins(other, again))
        .toList();
  }

  private boolean joins(Linear layer, Set<Value> again) {
    return layer.bias() == null
        && !isExact(layer)
        && body.isDense(layer.output())
        && again.contains(layer.output())
        && !graph.outputs().contains(layer.output());
  }

  private void together(List<Linear> layers) {
    Linear first = layers.getFirst();
    int features = layers.stream().mapToInt(layer -> layer.output().features()).sum();
    Value all =
        new Value(
            first.output().name(), first.output().dtype(), features, first.output().leading());
    ConstantTensor weight =
        first
            .weight()
            .stacked(layers.subList(1, layers.size()).stream().map(Linear::weight).toList());
    linear(new Linear(all, first.input(), weight, null, first.name()), false);
    Tensor results = body.stored(all, body.activation());
    int from = 0;
    for (Linear layer : layers) {
      Expr column = Exprs.i32(from);
      body.elements.put(
          layer.output(),
          new Element(
              (row, col) -> results.f32At(row, Exprs.add(col, column)),
              false,
              false,
              false,
              null,
              null));
      from += layer.output().features();
    }
  }

  private void linear(Linear node, boolean exact) {
    Buffer input = body.inputBuffers.get(node.input());
    if (options.inRegisters() && exact && input != null && input.dtype() == DType.F32) {
      narrow(node, input);
      return;
    }
    DType operand = exact ? DType.F32 : options.precision().operand();
    Tensor a = body.stored(node.input(), exact ? DType.F32 : body.activation());
    boolean transposed = exact || options.transposedWeights();
    long n = body.padded(node.output().features());
    long k = body.padded(node.input().features());
    String name = body.fresh("fc");
    Buffer weightBuffer =
        transposed
            ? Buffer.of(body.fresh(name + "_w"), operand, Scope.GLOBAL, k, n)
            : Buffer.of(body.fresh(name + "_w"), operand, Scope.GLOBAL, n, k);
    body.constants.add(new Constant(weightBuffer, node.weight(), transposed));
    DType accumulators =
        !exact && options.inRegisters() && options.precision() == Precision.F16_ACCUMULATORS
            ? DType.F16
            : DType.F32;
    Tensor product =
        Ops.matmul(name, a, Tensor.input(weightBuffer), !transposed, n, k, accumulators);
    Element.Formula result = (row, col) -> Exprs.cast(DType.F32, product.at(row, col));
    body.tensors.add(product);
    body.stages.add(
        new NetworkFunction.Matmul(
            name, product.buffer(), a.buffer(), weightBuffer, !transposed, n, k, exact));
    Tensor bias = node.bias() == null ? null : body.vector(name + "_b", node.bias());
    Element.Formula formula =
        bias == null ? result : (row, col) -> Exprs.add(result.at(row, col), bias.at(col));
    Buffer added = bias == null ? null : bias.buffer();
    body.elements.put(
        node.output(),
        new Element(formula, true, false)
            .with(new Ending(product.buffer(), added, Activation.NONE, null)));
  }

  private void elementwise(Elementwise node) {
    List<Element> operands = new ArrayList<>();
    boolean wide = node.output().features() > 1;
    for (Operand operand : node.operands()) {
      operands.add(
          switch (operand) {
            case Operand.OfValue(Value value) ->
                wide && value.features() == 1 ? body.everywhere(value) : body.element(value);
            case Operand.OfTensor constant -> {
              if (constant.tensor().count() == 1) {
                Expr scalar = Exprs.f32(constant.tensor().doubleAt(0));
                yield new Element((row, col) -> scalar, false, true);
              }
              Tensor vector = body.vector("vec", constant.tensor());
              yield new Element(
                  (row, col) -> vector.at(col), false, false, true, () -> vector, null);
            }
          });
    }
    boolean scales =
        options.byLayer()
            && node.kind() == ElementwiseOp.DIV
            && operands.get(1).sameInRow()
            && !operands.get(0).sameInRow();
    Element element =
        new Element(
            (row, col) ->
                scales
                    ? scaled(operands.get(0).at(row, col), operands.get(1).at(row, col))
                    : node.kind()
                        .formula(operands.stream().map(operand -> operand.at(row, col)).toList()),
            operands.stream().anyMatch(Element::inFlight),
            operands.stream().allMatch(Element::sameInRow),
            operands.stream().allMatch(Element::pointwise),
            null,
            endings.of(node.kind(), operands));
    body.elements.put(node.output(), element);
    if (element.size() > (element.pointwise() ? MAX_FORMULA : MAX_FORMULA_ELSEWHERE)) {
      body.elements.put(node.output(), Element.of(body.stored(node.output(), DType.F32)));
    }
  }

  /** A row divided by one number, which is turned over once. */
  private static Expr scaled(Expr element, Expr divisor) {
    return Exprs.mul(element, Exprs.div(Exprs.f32(1), divisor));
  }

  private void rowReduce(RowReduce node) {
    long features = node.input().features();
    Element.Formula input = body.settled(node.input());
    Element.Formula result =
        switch (node.kind()) {
          case SUM -> total(features, ReduceOp.SUM, input);
          case MEAN -> {
            Element.Formula sum = total(features, ReduceOp.SUM, input);
            Expr inverse = Exprs.f32(1.0 / features);
            yield (row, col) -> Exprs.mul(sum.at(row, col), inverse);
          }
          case MAX -> total(features, ReduceOp.MAX, input);
          case MIN -> {
            Element.Formula largest =
                total(features, ReduceOp.MAX, (row, col) -> Ops.negate(input.at(row, col)));
            yield (row, col) -> Ops.negate(largest.at(row, col));
          }
        };
    body.elements.put(node.output(), new Element(result, false, true));
  }

  private Element.Formula total(long features, ReduceOp op, Element.Formula element) {
    Tensor total = body.rowTotal(op == ReduceOp.SUM ? "sum" : "max", features, op, element);
    return (row, col) -> total.at(row);
  }

  /**
   * Attention, whose stages are added one after the other. Its operands and result are in the type
   * of activations, as a kernel of its own takes them.
   */
  private void attend(Attend node) {
    DType type = body.activation();
    Tensor q = features(node.q(), type);
    Tensor k = features(node.k(), type);
    Tensor v = features(node.v(), type);
    AttendStages attention = new AttendStages(node, q, k, v, body.rowsVar, body::fresh);
    AttendStages.Result result = attention.add();
    body.tensors.addAll(attention.tensors());
    body.stages.addAll(attention.stages());
    Tensor to = body.apart(node.output(), type, result::at);
    List<String> blocks = new ArrayList<>();
    attention.stages().forEach(stage -> blocks.add(stage.block()));
    blocks.add(body.stages.getLast().block());
    attentions.add(
        new NetworkFunction.Attention(
            blocks,
            q.buffer(),
            k.buffer(),
            v.buffer(),
            to.buffer(),
            node.heads(),
            node.kvHeads(),
            node.headSize(),
            node.keys(),
            node.scale()));
  }

  /** A value to be read anywhere in a row: an input where it lies, what is computed in a type. */
  private Tensor features(Value value, DType type) {
    Buffer input = body.inputBuffers.get(value);
    return input != null ? Tensor.input(input) : body.stored(value, type);
  }

  /** Mean and variance in two passes over the stored row, then a formula. */
  private void layerNorm(LayerNorm node) {
    long features = node.input().features();
    Tensor input =
        options.inRegisters()
            ? body.wide(node.input())
            : body.stored(node.input(), body.activation());
    Expr inverse = Exprs.f32(1.0 / features);
    Tensor sum =
        body.rowTotal(
            "sum", features, ReduceOp.SUM, (row, col) -> FunctionBody.load(input, row, col));
    Element.Formula centred =
        (row, col) ->
            Exprs.sub(FunctionBody.load(input, row, col), Exprs.mul(sum.at(row), inverse));
    Tensor squares =
        body.rowTotal(
            "squares",
            features,
            ReduceOp.SUM,
            (row, col) -> Exprs.mul(centred.at(row, col), centred.at(row, col)));
    Expr epsilon = Exprs.f32(node.epsilon());
    Tensor scale = node.scale() == null ? null : body.vector("norm_scale", node.scale());
    Tensor bias = node.bias() == null ? null : body.vector("norm_bias", node.bias());
    body.define(
        node.output(),
        (row, col) -> {
          Expr variance = Exprs.mul(squares.at(row), inverse);
          Expr deviation = Exprs.call(MathOp.SQRT, Exprs.add(variance, epsilon));
          Expr normal = Exprs.div(centred.at(row, col), deviation);
          Expr scaled = scale == null ? normal : Exprs.mul(normal, scale.at(col));
          return bias == null ? scaled : Exprs.add(scaled, bias.at(col));
        });
  }
}
