package dev.warpwright.compiler.program;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.equality.StructuralEquality;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.Precision;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Arithmetic;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A layer's product as the families of kernels compute products, with as much of what follows it as
 * their epilogues have.
 *
 * @param stages that it covers: the product, and perhaps a formula and a copy to an output
 * @param bias added to each row; null for none
 * @param residual added at the end; null for none
 * @param result what it writes
 */
record LayerProduct(
    GemmWorkload workload,
    List<Stage> stages,
    Product product,
    @Nullable Buffer bias,
    @Nullable Buffer residual,
    Buffer result) {
  LayerProduct {
    stages = List.copyOf(stages);
  }

  /**
   * Recognises a layer.
   *
   * @param network of a fixed number of rows
   * @param stages a product and what follows it in its group
   * @return null if the product has to be exact, is in tf32, or its operands have gaps
   */
  static @Nullable LayerProduct of(
      NetworkFunction network, List<Stage> stages, Precision precision) {
    // Tensor cores cut f32 operands off where simple kernels round them: over several layers that
    // is too much.
    if (precision == Precision.TF32
        || !(stages.getFirst() instanceof Product product)
        || product.exact()
        || !dense(product)) {
      return null;
    }
    Formula formula = stages.size() > 1 ? formula(network, product, stages.get(1)) : null;
    if (formula == null) {
      return layer(product, stages.subList(0, 1), Formula.NONE, product.accumulator());
    }
    Buffer written = Partition.written(stages.get(1));
    if (stages.size() > 2
        && stages.get(2) instanceof Store(String _, Buffer from, Buffer to)
        && from == written
        && alike(from, to)) {
      return layer(product, stages.subList(0, 3), formula, to);
    }
    return layer(product, stages.subList(0, 2), formula, written);
  }

  private static LayerProduct layer(
      Product product, List<Stage> stages, Formula formula, Buffer result) {
    DType operands = product.a().dtype();
    GemmWorkload workload =
        new GemmWorkload(
            product.a().extent(0),
            product.n(),
            product.k(),
            operands,
            result.dtype(),
            product.transposed() ? GemmWorkload.Layout.NT : GemmWorkload.Layout.NN,
            formula.epilogue(),
            Arithmetic.of(operands));
    return new LayerProduct(workload, stages, product, formula.bias(), formula.residual(), result);
  }

  private static boolean dense(Product product) {
    long rows = product.transposed() ? product.n() : product.k();
    long columns = product.transposed() ? product.k() : product.n();
    Buffer weight = product.weight();
    return weight.extent(0) == rows
        && weight.extent(1) == columns
        && product.a().extent(1) == product.k()
        && product.accumulator().extent(1) == product.n();
  }

  /** Whether two matrices have the same elements in the same places. */
  static boolean alike(Buffer a, Buffer b) {
    return a.dtype() == b.dtype() && sameShape(a, b);
  }

  private static boolean sameShape(Buffer a, Buffer b) {
    return a.extent(0) == b.extent(0) && a.extent(1) == b.extent(1);
  }

  /** A formula that an epilogue has. */
  private record Formula(Epilogue epilogue, @Nullable Buffer bias, @Nullable Buffer residual) {
    static final Formula NONE = new Formula(Epilogue.NONE, null, null);

    static Formula of(@Nullable Buffer bias, Activation activation, @Nullable Buffer residual) {
      return new Formula(
          new Epilogue(1, 0, bias != null, activation, false, false, false, residual != null),
          bias,
          residual);
    }
  }

  /** The formula of the stage behind a product; null if no epilogue has it. */
  private static @Nullable Formula formula(NetworkFunction network, Product product, Stage stage) {
    if (!(stage instanceof NetworkFunction.Map map)
        || !sameShape(map.to(), product.accumulator())
        || !(block(network, map.block()) instanceof Stmt.Block block)
        || !(block.body() instanceof Stmt.Store(Buffer _, List<Expr> indices, Expr value))) {
      return null;
    }
    Expr wanted = canonical(value);
    Expr sum = new Expr.Load(product.accumulator(), indices);
    Set<Buffer> matrices = new LinkedHashSet<>();
    List<@Nullable Buffer> biases = new ArrayList<>();
    biases.add(null);
    Walk.expressions(
        block.body(),
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> _)) {
            if (buffer.rank() == 1 && buffer.dtype() == DType.F32) {
              biases.add(buffer);
            } else if (buffer.rank() == 2 && alike(buffer, map.to())) {
              matrices.add(buffer);
            }
          }
        });
    List<@Nullable Buffer> residuals = new ArrayList<>(matrices);
    residuals.add(null);
    for (Buffer bias : biases) {
      for (Buffer residual : residuals) {
        for (Activation activation : Activation.values()) {
          Formula formula = Formula.of(bias, activation, residual);
          Expr epilogue =
              formula
                  .epilogue()
                  .of(
                      DType.F32,
                      sum,
                      operand ->
                          operand == Epilogue.Operand.BIAS
                              ? new Expr.Load(
                                  Objects.requireNonNull(bias), List.of(indices.getLast()))
                              : new Expr.Load(Objects.requireNonNull(residual), indices));
          if (StructuralEquality.equal(canonical(Exprs.cast(map.to().dtype(), epilogue)), wanted)) {
            return formula;
          }
        }
      }
    }
    return null;
  }

  private static Stmt.@Nullable Block block(NetworkFunction network, String name) {
    Stmt.Block[] found = new Stmt.Block[1];
    Walk.statements(
        network.func().body(),
        s -> {
          if (s instanceof Stmt.Block block && block.name().equals(name)) {
            found[0] = block;
          }
        });
    return found[0];
  }

  /** Sums and products with their operands in one order. */
  private static Expr canonical(Expr e) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr inner) {
        Expr rebuilt = super.expr(inner);
        return rebuilt instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
                && (op == BinaryOp.ADD || op == BinaryOp.MUL)
                && IrPrinter.text(a).compareTo(IrPrinter.text(b)) > 0
            ? new Expr.Binary(op, b, a)
            : rebuilt;
      }
    }.expr(e);
  }
}
