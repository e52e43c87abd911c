package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.copy.StoredRows;
import dev.warpwright.lower.gpu.FragmentInference;
import dev.warpwright.lower.gpu.MapLowering;
import dev.warpwright.lower.gpu.RowVectors;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The part of {@link WarpTiles} that turns what a warp does into what each of its threads does:
 * nothing is under way behind a statement, so they stay one after the other.
 */
final class WarpCode {
  private final ThreadCode code;
  private final PackedFragments packed;
  private final MapLowering maps;
  private final WarpProducts products;
  private final StoredRows rows;

  /**
   * The code of a role's warps.
   *
   * @param lane the thread in its instance
   * @param instance its number
   * @param instances how many there are
   * @param threads of an instance
   * @param flat by tile in shared memory, its elements in their order
   */
  WarpCode(
      Stmt body, Var lane, Var instance, int instances, int threads, Map<Buffer, Buffer> flat) {
    this.code = new ThreadCode(lane, threads, FragmentInference.infer(body, threads));
    Set<Buffer> sums = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileMma mma) {
            sums.add(mma.c().buffer());
          }
        });
    this.packed = new PackedFragments(code, body, sums);
    this.maps = packed.maps();
    this.products = new WarpProducts(code, packed, flat);
    int warps = threads / 32;
    Expr warp = Exprs.add(Exprs.mul(instance, warps), code.warp());
    this.rows = new StoredRows(code, warp, instances * warps);
  }

  /** What is in shared memory beside weights. */
  List<Buffer> shared() {
    return rows.shared();
  }

  Stmt lowered(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> Stmts.seq(stmts.stream().map(this::lowered).toList());
      // Its number may pick registers.
      case Stmt.For f when Exprs.isConst(f.extent(), 1) ->
          lowered(Substitution.ofVars(Map.of(f.var(), f.min())).stmt(f.body()));
      case Stmt.For f -> f.ofThreads(lowered(f.body()));
      case Stmt.If i ->
          new Stmt.If(
              i.condition(),
              lowered(i.then()),
              i.otherwise() == null ? null : lowered(i.otherwise()));
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), lowered(l.body()));
      case Stmt.Alloc(Buffer buffer, Stmt body) -> new Stmt.Alloc(held(buffer), lowered(body));
      case Stmt.TileMma mma -> products.product(mma);
      case Stmt.TileFill fill -> fill(fill);
      case Stmt.TileMap map ->
          packed.concerns(map) ? packed.map(map, Stmt.Seq.EMPTY) : maps.map(map);
      case Stmt.TileCopy copy when StoredRows.are(copy) ->
          rows.store(copy, packed.registers(copy.from().buffer()));
      case Stmt.TileCopy copy -> packed.concerns(copy) ? packed.copy(copy) : maps.copy(copy);
      case Stmt.TileReduce reduce -> new RowVectors(code, maps).reduce(reduce);
      case Stmt.Store _, Stmt.Comment _ -> s;
      case Stmt.Evaluate _, Stmt.While _, Stmt.Block _, Stmt.Flow _ ->
          throw new LoweringException(
              s.getClass().getSimpleName() + " stands in a role of warps; it is not lowered yet");
    };
  }

  private Buffer held(Buffer buffer) {
    return switch (buffer.scope()) {
      case FRAGMENT -> packed.isPacked(buffer) ? packed.registers(buffer) : code.registers(buffer);
      case LOCAL -> buffer;
      case SHARED, GLOBAL, SHARED_CLUSTER ->
          throw new LoweringException(buffer.name() + " is allocated in a role of warps");
    };
  }

  private Stmt fill(Stmt.TileFill fill) {
    Buffer buffer = fill.to().buffer();
    if (buffer.scope() != Scope.FRAGMENT
        || packed.isPacked(buffer)
        || !fill.to().equals(Region.whole(buffer))) {
      throw new LoweringException(
          "the fill of " + buffer.name() + " in a role of warps is not lowered yet");
    }
    return code.fill(buffer, fill.value());
  }
}
