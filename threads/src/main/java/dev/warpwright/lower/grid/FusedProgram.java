package dev.warpwright.lower.grid;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a program whose blocks share the work of two grids, as the primitive {@code
 * mergeGrids} makes it.
 *
 * <pre>{@code
 * alloc h global
 * persistent x in T + U [blocks, order, columns, secondColumns, wait, waits, division] {
 *   if x < T { S(x) } else { R(x - T) } }
 * }</pre>
 *
 * @param first the first grid by itself, a block a tile: {@code S} under loops bound to {@code
 *     blockIdx.y} and {@code blockIdx.x}, which are the tile's row and column
 * @param second the second grid by itself
 * @param handed buffers that the program allocates in global memory, parameters of both grids
 * @param blocks that share the work
 * @param waits for which tiles of the first grid those of the second wait; null for none
 */
public record FusedProgram(
    PrimFunc first,
    PrimFunc second,
    List<Buffer> handed,
    FusedOrder order,
    FusedOrder.Extents extents,
    long blocks,
    @Nullable WaitPolicy waits) {

  /** Whether a program has a loop over the work of two grids. */
  public static boolean isFused(PrimFunc program) {
    return merged(program.body(), new ArrayList<>()) != null;
  }

  private static Stmt.@Nullable For merged(Stmt s, List<Buffer> allocated) {
    return switch (s) {
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> {
        allocated.add(buffer);
        yield merged(inner, allocated);
      }
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 -> merged(stmts.getFirst(), allocated);
      case Stmt.For loop when loop.kind() == ForKind.PERSISTENT && FusedOrder.isIn(loop.attrs()) ->
          loop;
      default -> null;
    };
  }

  /**
   * Takes a program apart.
   *
   * @throws LoweringException if it is of another form, or waits for what nothing tells of
   */
  public static FusedProgram of(PrimFunc program) {
    List<Buffer> handed = new ArrayList<>();
    Stmt.For loop = merged(program.body(), handed);
    if (loop == null
        || !(loop.extent() instanceof Expr.IntImm all)
        || !Exprs.isConst(loop.min(), 0)
        || !(loop.body() instanceof Stmt.If(Expr condition, Stmt then, Stmt otherwise))
        || otherwise == null
        || !(condition instanceof Expr.Binary(BinaryOp op, Expr index, Expr.IntImm limit))
        || op != BinaryOp.LT) {
      throw new LoweringException(
          program.name() + " is no loop over a known number of tiles of one grid or the other");
    }
    for (Buffer buffer : handed) {
      if (buffer.scope() != Scope.GLOBAL) {
        throw new LoweringException(
            String.format(
                Locale.ROOT,
                "buffer %s is %s outside of the loop that blocks share",
                buffer.name(),
                buffer.scope()));
      }
    }
    FusedOrder order = FusedOrder.parse(String.valueOf(loop.attrs().getString("order")));
    int t = Math.toIntExact(loop.attrs().getLong(FusedOrder.COLUMNS, 1));
    int u = Math.toIntExact(loop.attrs().getLong(FusedOrder.SECOND_COLUMNS, 1));
    Tile tile = new Tile(loop.var(), t, u, limit.value(), order);
    int rows =
        Math.toIntExact(
            order instanceof FusedOrder.Rows ? all.value() / (t + u) : limit.value() / t);
    int secondRows =
        Math.toIntExact(
            order instanceof FusedOrder.Rows ? rows : (all.value() - limit.value()) / u);
    List<Param> params = new ArrayList<>(program.params());
    params.addAll(handed);
    return new FusedProgram(
        grid(program, "first", params, rows, t, tile, true, then),
        grid(program, "second", params, secondRows, u, tile, false, otherwise),
        handed,
        order,
        new FusedOrder.Extents(rows, t, secondRows, u, FusedOrder.Extents.parts(loop.attrs())),
        loop.attrs().getLong("blocks", 1),
        loop.attrs().getString("waits") == null
            ? null
            : WaitPolicy.parse(String.valueOf(loop.attrs().getString(WaitPolicy.WAIT))));
  }

  private static PrimFunc grid(
      PrimFunc program,
      String which,
      List<Param> params,
      int rows,
      int columns,
      Tile tile,
      boolean first,
      Stmt body) {
    Var row = Var.index("by");
    Var column = Var.index("bx");
    Stmt inner = bound(ThreadAxis.BLOCK_X, column, columns, tile.at(body, row, column, first));
    return new PrimFunc(
        program.name() + "_" + which,
        params,
        bound(ThreadAxis.BLOCK_Y, row, rows, inner),
        program.attrs());
  }

  private static Stmt bound(ThreadAxis axis, Var var, int extent, Stmt body) {
    return new Stmt.For(
        var, Exprs.i32(0), Exprs.i32(extent), ForKind.THREAD_BOUND, axis, Attrs.NONE, body);
  }

  /**
   * How the loop's variable tells of a tile.
   *
   * @param columns of tiles of the first grid
   * @param secondColumns of tiles of the second grid
   * @param limit tiles of the first grid, or of a row of them
   */
  private record Tile(Var work, long columns, long secondColumns, long limit, FusedOrder order) {

    /** The body with a row and a column in place of the loop's variable. */
    Stmt at(Stmt body, Var row, Var column, boolean first) {
      long width = first ? columns : secondColumns;
      Expr inGrid = width == 1 ? row : Exprs.add(Exprs.mul(row, width), column);
      if (order instanceof FusedOrder.Rows) {
        long both = columns + secondColumns;
        Expr inRow = Exprs.mod(work, both);
        Expr place = first ? column : Exprs.add(column, columns);
        return replacing(
            body,
            List.of(
                new Exchange(Exprs.sub(inRow, Exprs.i32(columns)), column),
                new Exchange(inRow, place),
                new Exchange(Exprs.div(work, both), row),
                new Exchange(work, Exprs.add(Exprs.mul(row, both), place))));
      }
      Expr ofGrid = first ? work : Exprs.sub(work, Exprs.i32(limit));
      return replacing(
          body,
          List.of(
              new Exchange(Exprs.div(ofGrid, width), row),
              new Exchange(Exprs.mod(ofGrid, width), width == 1 ? Exprs.i32(0) : column),
              new Exchange(ofGrid, inGrid),
              new Exchange(work, first ? inGrid : Exprs.add(inGrid, limit))));
    }

    private record Exchange(Expr from, Expr to) {}

    /** The first that fits wins. */
    private static Stmt replacing(Stmt body, List<Exchange> exchanges) {
      return new Rewriter() {
        @Override
        public Expr expr(Expr e) {
          for (Exchange exchange : exchanges) {
            if (e.equals(exchange.from())) {
              return exchange.to();
            }
          }
          return super.expr(e);
        }
      }.stmt(body);
    }
  }
}
