package dev.warpwright.networks.layers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.arith.Specialization;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.NetworkFunction.Update;
import java.util.List;
import java.util.Map;

/** A network's function for one number of rows. */
public final class FixedRows {
  private final Specialization fixed;

  private FixedRows(NetworkFunction network, int rows) {
    fixed =
        Specialization.of(
            Map.of(network.rows().var(), Exprs.i32(rows)),
            network.func().buffers(),
            network.func().body());
  }

  private Buffer of(Buffer buffer) {
    return fixed.of(buffer);
  }

  /** The same function; the row count stays a parameter, which nothing reads. */
  public static NetworkFunction of(NetworkFunction network, int rows) {
    FixedRows fixed = new FixedRows(network, rows);
    List<Param> params =
        network.func().params().stream()
            .map(param -> param instanceof Buffer buffer ? fixed.of(buffer) : param)
            .toList();
    PrimFunc func =
        new PrimFunc(
            network.func().name(),
            params,
            fixed.fixed.substitution().stmt(network.func().body()),
            network.func().attrs());
    return new NetworkFunction(
        func,
        network.rows(),
        network.inputs().stream().map(fixed::of).toList(),
        network.outputs().stream().map(fixed::of).toList(),
        network.constants().stream()
            .map(c -> new Constant(fixed.of(c.buffer()), c.source(), c.transposed()))
            .toList(),
        network.stages().stream().map(fixed::of).toList(),
        network.attentions().stream().map(attention -> attention.with(fixed::of)).toList(),
        network.norms().stream().map(norm -> norm.with(fixed::of)).toList());
  }

  private Ending of(Ending ending) {
    return new Ending(
        of(ending.accumulator()),
        ending.bias(),
        ending.activation(),
        ending.residual() == null ? null : of(ending.residual()),
        ending.up() == null ? null : of(ending.up()));
  }

  private Stage of(Stage stage) {
    return switch (stage) {
      case Load(String block, Buffer from, Buffer to) -> new Load(block, of(from), of(to));
      case Matmul p ->
          new Matmul(
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
      case Update u ->
          new Update(
              u.block(),
              of(u.from()),
              of(u.input()),
              of(u.to()),
              u.groups(),
              u.stride(),
              u.first(),
              u.columns());
    };
  }
}
