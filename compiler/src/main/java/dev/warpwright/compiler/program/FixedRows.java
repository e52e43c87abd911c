package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A network's function for one number of rows. */
final class FixedRows {
  private final Substitution all;
  private final Map<Buffer, Buffer> buffers;

  private FixedRows(NetworkFunction network, int rows) {
    Map<Var, Expr> constant = Map.of(network.rows().var(), Exprs.i32(rows));
    Substitution shapes = Substitution.ofVars(constant);
    buffers = new HashMap<>();
    network.func().buffers().forEach(buffer -> fix(buffer, shapes));
    Walk.statements(
        network.func().body(),
        s -> {
          if (s instanceof Stmt.Alloc alloc) {
            fix(alloc.buffer(), shapes);
          }
        });
    all = new Substitution(constant, buffers);
  }

  private void fix(Buffer buffer, Substitution shapes) {
    List<Expr> shape = buffer.shape().stream().map(shapes::expr).toList();
    if (!shape.equals(buffer.shape())) {
      buffers.put(
          buffer,
          new Buffer(
              buffer.name(),
              buffer.dtype(),
              shape,
              buffer.scope(),
              buffer.layout(),
              buffer.alignment()));
    }
  }

  private Buffer of(Buffer buffer) {
    return buffers.getOrDefault(buffer, buffer);
  }

  /** The same function; the row count stays a parameter, which nothing reads. */
  static NetworkFunction of(NetworkFunction network, int rows) {
    FixedRows fixed = new FixedRows(network, rows);
    List<Param> params =
        network.func().params().stream()
            .map(param -> param instanceof Buffer buffer ? fixed.of(buffer) : param)
            .toList();
    PrimFunc func =
        new PrimFunc(
            network.func().name(),
            params,
            fixed.all.stmt(network.func().body()),
            network.func().attrs());
    return new NetworkFunction(
        func,
        network.rows(),
        network.inputs().stream().map(fixed::of).toList(),
        network.outputs().stream().map(fixed::of).toList(),
        network.constants().stream()
            .map(c -> new Constant(fixed.of(c.buffer()), c.source(), c.transposed()))
            .toList(),
        network.stages().stream().map(fixed::of).toList());
  }

  private Ending of(Ending ending) {
    return new Ending(
        of(ending.accumulator()),
        ending.bias(),
        ending.activation(),
        ending.residual() == null ? null : of(ending.residual()));
  }

  private Stage of(Stage stage) {
    return switch (stage) {
      case Load(String block, Buffer from, Buffer to) -> new Load(block, of(from), of(to));
      case Product p ->
          new Product(
              p.block(),
              of(p.accumulator()),
              of(p.a()),
              of(p.weight()),
              p.transposed(),
              p.n(),
              p.k(),
              p.exact());
      case Reduction(String block, Buffer to) -> new Reduction(block, of(to));
      case NetworkFunction.Map m ->
          new NetworkFunction.Map(
              m.block(), of(m.to()), m.pointwise(), m.ending() == null ? null : of(m.ending()));
      case Store(String block, Buffer from, Buffer to) -> new Store(block, of(from), of(to));
    };
  }
}
