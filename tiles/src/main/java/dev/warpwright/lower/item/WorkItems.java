package dev.warpwright.lower.item;

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
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.order.WorkList;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.gpu.ClusterSums;
import dev.warpwright.lower.pass.GridLoops;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which tile a block computes, and when.
 *
 * <p>Loops bound to block indices stay what they are, unless they have an attribute {@code order}.
 * Such a loop over all tiles, or a persistent one, reads a table, the kernel's last parameter
 * {@code order: i32[T]}: an entry is {@code m << 16 | n} in units of a cluster's tiles. So the
 * order of tiles is data, which whoever launches the kernel makes from the attribute. Each cluster
 * takes one entry, or, persistent, every so many. Where each takes one, row by row, there is no
 * table: to read it would hold up the first copy.
 *
 * <p>With an attribute {@code division} ({@link WorkDivision}), workers are given some steps of a
 * tile, and an entry is what {@link WorkList#table} makes of an item. The parts of a tile come
 * together by {@link PartialSums}.
 *
 * <p>With the program's attribute {@code clusterK = 2}, two blocks of a cluster take half of the
 * steps of a tile each, and combine them by {@link ClusterSums}.
 *
 * @param listed the loop that reads a table, or null
 * @param order the table, or null
 * @param steps of the pipelined loop, of each tile
 * @param division the list of divided work, or null where tiles are whole
 */
public record WorkItems(
    List<ThreadBinding> bindings,
    Stmt.@Nullable For listed,
    @Nullable Buffer order,
    Var block,
    Var rank,
    Var cluster,
    long clusterM,
    long clusterN,
    long clusterK,
    long blocks,
    long tiles,
    long columns,
    Expr steps,
    @Nullable WorkList division) {
  private static final long MAX_TILES = 1 << 16;

  /**
   * A work item inside the code of a role.
   *
   * @param before how many steps this block has done before
   * @param steps how many there are
   * @param first the first of them
   * @param row of tiles; null where loops are bound
   * @param column of tiles; null where loops are bound
   * @param at puts the item into the expressions of a statement or region
   * @param part which part of a tile it is; null where tiles are whole
   */
  public record Item(
      Expr before,
      Expr steps,
      Expr first,
      @Nullable Var row,
      @Nullable Var column,
      Rewriter at,
      @Nullable Part part) {}

  /**
   * A part of a tile.
   *
   * @param slot of the tile's first part in the workspace
   * @param number in the order of parts
   * @param count parts of the tile
   */
  public record Part(Expr slot, Expr number, Expr count) {}

  public static WorkItems of(PrimFunc func, PipelinedProgram program) {
    long clusterM = func.attrs().getLong("clusterM", 1);
    long clusterN = func.attrs().getLong("clusterN", 1);
    long clusterK = func.attrs().getLong("clusterK", 1);
    List<Stmt.For> loops = program.work();
    Var block = Var.index("bx");
    Var rank = Var.index("rank");
    Var cluster = Var.index("cluster");
    boolean listed =
        loops.size() == 1
            && (loops.getFirst().kind() == ForKind.PERSISTENT
                || loops.getFirst().attrs().getString("order") != null);
    if (!listed) {
      if (clusterM * clusterN * clusterK != 1) {
        throw new LoweringException("clusters need one loop over the tiles, with an order");
      }
      return new WorkItems(
          bound(loops), null, null, block, rank, cluster, 1, 1, 1, 0, 0, 0, program.steps(), null);
    }
    Stmt.For loop = loops.getFirst();
    Buffer result = program.result().to().buffer();
    // The rows of several matrices follow each other, each a whole number of tiles.
    int planes = result.rank() - 2;
    long rows = Math.ceilDiv(constant(result, planes), program.tile(0));
    long columns = Math.ceilDiv(constant(result, planes + 1), program.tile(1));
    if (planes == 1) {
      if (rows % clusterM != 0) {
        throw new LoweringException(
            String.format(
                Locale.ROOT,
                "clusters of %d tiles do not divide the %d rows of tiles of a matrix of %s",
                clusterM,
                rows,
                result.name()));
      }
      rows *= constant(result, 0);
    }
    if (!Exprs.isConst(loop.min(), 0) || !Exprs.isConst(loop.extent(), rows * columns)) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "loop %s does not count the %d x %d tiles of %s",
              loop.var(),
              rows,
              columns,
              result.name()));
    }
    if (clusterM < 1 || clusterN < 1 || clusterM > rows || clusterN > columns) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "a cluster of %d x %d tiles does not fit %s, which has %d x %d",
              clusterM,
              clusterN,
              result.name(),
              rows,
              columns));
    }
    long size = clusterM * clusterN * clusterK;
    long rowItems = Math.ceilDiv(rows, clusterM);
    long columnItems = Math.ceilDiv(columns, clusterN);
    if (rowItems >= MAX_TILES || columnItems >= MAX_TILES) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "%d x %d tiles do not fit into 16 bits of an order table",
              rowItems,
              columnItems));
    }
    long tiles = rowItems * columnItems;
    boolean persistent = loop.kind() == ForKind.PERSISTENT;
    WorkDivision divided = divided(loop);
    long parts = divided instanceof WorkDivision.Parts p ? p.parts() : 1;
    long blocks = persistent ? loop.attrs().getLong("blocks", 0) : tiles * parts * size;
    if (blocks < 1 || blocks % size != 0) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "persistent loop %s needs attribute blocks, a multiple of %d",
              loop.var(),
              size));
    }
    if (!persistent && loop.axis() != ThreadAxis.BLOCK_X) {
      throw new LoweringException(
          "loop " + loop.var() + " with an order is not bound to blockIdx.x");
    }
    List<ThreadBinding> bindings =
        List.of(new ThreadBinding(ThreadAxis.BLOCK_X, block, Exprs.i32(blocks)));
    WorkList list = null;
    if (divided instanceof WorkDivision.Parts || divided instanceof WorkDivision.Stream) {
      String named = loop.attrs().getString("order");
      list =
          WorkList.of(
              divided,
              BlockOrder.parse(named == null ? "row" : named),
              Math.toIntExact(rowItems),
              Math.toIntExact(columnItems),
              Math.toIntExact(constantSteps(program)),
              Math.toIntExact(blocks / size));
    }
    boolean plain = !persistent && list == null && isRow(loop);
    if (clusterK != 1
        && (!plain || clusterK != 2 || clusterM * clusterN != 1 || constantSteps(program) < 2)) {
      throw new LoweringException(
          "the steps of a tile are for two blocks of a cluster, one pair a tile, row by row; not"
              + " for"
              + String.format(Locale.ROOT, " %d x %d x %d blocks", clusterM, clusterN, clusterK));
    }
    Buffer order =
        plain
            ? null
            : Buffer.of(
                "order",
                DType.I32,
                Scope.GLOBAL,
                list == null ? tiles : (long) WorkList.FIELDS * list.items().size());
    return new WorkItems(
        bindings,
        loop,
        order,
        block,
        rank,
        cluster,
        clusterM,
        clusterN,
        clusterK,
        blocks,
        list == null ? tiles : list.items().size(),
        columns,
        program.steps(),
        list);
  }

  private static boolean isRow(Stmt.For loop) {
    String named = loop.attrs().getString("order");
    return named == null || BlockOrder.parse(named) instanceof BlockOrder.Row;
  }

  private static WorkDivision divided(Stmt.For loop) {
    String text = loop.attrs().getString("division");
    return text == null ? new WorkDivision.Whole() : WorkDivision.parse(text);
  }

  private static long constantSteps(PipelinedProgram program) {
    return constantSteps(program.steps());
  }

  private static long constantSteps(Expr extent) {
    Expr steps = new Simplifier(Bounds.NONE).expr(extent);
    if (steps instanceof Expr.IntImm imm && imm.value() >= 1) {
      return imm.value();
    }
    throw new LoweringException(
        "work is divided, but the pipelined loop has " + steps + " steps, not a known number");
  }

  private static long constant(Buffer result, int dimension) {
    if (result.shape().get(dimension) instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw new LoweringException(
        "extent " + dimension + " of " + result.name() + " is not constant");
  }

  private static List<ThreadBinding> bound(List<Stmt.For> loops) {
    return loops.stream().map(GridLoops::binding).toList();
  }

  /** A part of this block's tile: blocks of a cluster have slots of their own, side by side. */
  public Part ofBlock(Part part) {
    return clusterSize() == 1
        ? part
        : new Part(
            Exprs.add(Exprs.mul(part.slot(), clusterSize()), rank), part.number(), part.count());
  }

  /** Blocks of a cluster. */
  public long clusterSize() {
    return clusterM * clusterN * clusterK;
  }

  /** Whether two blocks of a cluster share the steps of a tile. */
  public boolean isPaired() {
    return clusterK > 1;
  }

  /** Whether a block may take several items. */
  boolean repeats() {
    return listed != null && listed.kind() == ForKind.PERSISTENT;
  }

  /** The parameters of the kernel. */
  public List<Param> params(PrimFunc func) {
    List<Param> params = new ArrayList<>(func.params());
    if (order != null) {
      params.add(order);
    }
    return params;
  }

  /** What the order table's maker and the launch need to know. */
  public Attrs attrs(Attrs attrs, PipelinedProgram program) {
    Stmt.For loop = listed;
    if (loop == null) {
      return attrs;
    }
    String named = loop.attrs().getString("order");
    Attrs result =
        attrs
            .with("order", named == null ? "row" : named)
            .with("tileM", program.tile(0))
            .with("tileN", program.tile(1));
    if (division != null) {
      result =
          result
              .with("division", divided(loop).text())
              .with("steps", constantSteps(program))
              .with("zero", PartialSums.COUNTERS);
    }
    return clusterSize() > 1 ? result.with("cluster", clusterSize()) : result;
  }

  /** The body for each of this block's work items. */
  public Stmt each(Function<Item, Stmt> body) {
    Stmt.For loop = listed;
    Buffer table = order;
    if (loop == null) {
      return body.apply(
          new Item(Exprs.i32(0), steps, Exprs.i32(0), null, null, new Rewriter(), null));
    }
    long clusters = blocks / clusterSize();
    Expr own = clusterSize() == 1 ? block : cluster;
    Var i = Var.index("i");
    Var row = Var.index("tile_m");
    Var column = Var.index("tile_n");
    Rewriter atTile = new AtTile(loop.var(), row, column, columns);
    if (table == null) {
      long across = Math.ceilDiv(columns, clusterN);
      return onTile(
          Exprs.div(own, across),
          Exprs.mod(own, across),
          row,
          column,
          body.apply(
              isPaired() ? half(row, column, atTile) : whole(Exprs.i32(0), row, column, atTile)));
    }
    Expr index = repeats() ? i : Exprs.i32(0);
    Expr at = Exprs.add(own, Exprs.mul(index, clusters));
    Stmt inner =
        division == null
            ? onTile(
                Exprs.load(table, at), row, column, body.apply(whole(index, row, column, atTile)))
            : divided(table, at, row, column, atTile, body);
    Expr count = Exprs.div(Exprs.add(Exprs.sub(Exprs.i32(tiles), own), clusters - 1), clusters);
    return Stmt.For.of(ForKind.SERIAL, i, count, inner);
  }

  /** A whole tile, before which the block has computed so many others. */
  private Item whole(Expr index, Var row, Var column, Rewriter atTile) {
    Expr count = atTile.expr(steps);
    return new Item(Exprs.mul(index, count), count, Exprs.i32(0), row, column, atTile, null);
  }

  /** This block's half of the steps; the first block has one more if they are odd. */
  private Item half(Var row, Var column, Rewriter atTile) {
    long all = constantSteps(steps);
    long most = Math.ceilDiv(all, 2);
    Expr count = Exprs.sub(Exprs.i32(most), Exprs.mul(rank, 2 * most - all));
    return new Item(Exprs.i32(0), count, Exprs.mul(rank, most), row, column, atTile, null);
  }

  private Stmt onTile(Expr tile, Var row, Var column, Stmt body) {
    Var entry = Var.index("entry");
    return new Stmt.Let(
        entry,
        tile,
        onTile(Exprs.shr(entry, 16), Exprs.bitAnd(entry, MAX_TILES - 1), row, column, body));
  }

  /** Binds the tile of this block, given that of its cluster. */
  private Stmt onTile(Expr clusterRow, Expr clusterColumn, Var row, Var column, Stmt body) {
    return new Stmt.Let(
        row,
        inCluster(clusterRow, clusterM, rankM()),
        new Stmt.Let(column, inCluster(clusterColumn, clusterN, rankN()), body));
  }

  /** The body for an item of divided work, unless there is nothing to do. */
  private Stmt divided(
      Buffer table, Expr at, Var row, Var column, Rewriter atTile, Function<Item, Stmt> body) {
    Var range = Var.index("range");
    Var before = Var.index("before");
    Var part = Var.index("part");
    Var first = Var.index("first");
    Var count = Var.index("steps");
    Var slot = Var.index("slot");
    Var number = Var.index("number");
    Var parts = Var.index("parts");
    Part shared = new Part(slot, number, parts);
    Expr base = Exprs.mul(at, WorkList.FIELDS);
    Stmt code = body.apply(new Item(before, count, first, row, column, atTile, shared));
    boolean gaps = division != null && division.items().stream().anyMatch(i -> i.steps() == 0);
    Stmt inner =
        let(
            first,
            Exprs.shr(range, 16),
            let(
                slot,
                Exprs.shr(part, 16),
                let(
                    number,
                    Exprs.bitAnd(Exprs.shr(part, 8), 255),
                    let(parts, Exprs.bitAnd(part, 255), code))));
    Stmt guarded = gaps ? new Stmt.If(Exprs.lt(Exprs.i32(0), count), inner, null) : inner;
    return onTile(
        Exprs.load(table, base),
        row,
        column,
        let(
            range,
            Exprs.load(table, Exprs.add(base, 1)),
            let(
                before,
                Exprs.load(table, Exprs.add(base, 2)),
                let(
                    part,
                    Exprs.load(table, Exprs.add(base, 3)),
                    let(count, Exprs.bitAnd(range, MAX_TILES - 1), guarded)))));
  }

  private static Stmt let(Var var, Expr value, Stmt body) {
    return new Stmt.Let(var, value, body);
  }

  /** A block's row of tiles in its cluster: ranks count row by row. */
  Expr rankM() {
    return clusterN == 1 ? rank : Exprs.div(rank, clusterN);
  }

  /** A block's column of tiles in its cluster. */
  Expr rankN() {
    return clusterM == 1 ? rank : Exprs.mod(rank, clusterN);
  }

  private static Expr inCluster(Expr item, long size, Expr place) {
    return size == 1 ? item : Exprs.add(Exprs.mul(item, size), place);
  }

  /** Quotient and remainder of the loop variable are the tile's row and column. */
  private static final class AtTile extends Rewriter {
    private final Var loop;
    private final Expr row;
    private final Expr column;
    private final long columns;

    AtTile(Var loop, Expr row, Expr column, long columns) {
      this.loop = loop;
      this.row = row;
      this.column = column;
      this.columns = columns;
    }

    @Override
    public Expr expr(Expr e) {
      if (e == loop) {
        return Exprs.add(Exprs.mul(row, columns), column);
      }
      if (e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
          && a == loop
          && Exprs.isConst(b, columns)) {
        if (op == BinaryOp.DIV) {
          return row;
        }
        if (op == BinaryOp.MOD) {
          return column;
        }
      }
      return super.expr(e);
    }
  }
}
