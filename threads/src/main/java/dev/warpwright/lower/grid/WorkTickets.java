package dev.warpwright.lower.grid;

import dev.warpwright.ir.Attrs;
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
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.List;

/**
 * How the blocks of merged grids share the work: tickets, the table that says which tile a ticket
 * stands for, and counters of complete tiles.
 *
 * <p>Nothing can wait for ever. Tickets are drawn in the order of the table, each block does its
 * own in ascending order, and waits only for tiles that stand before: of all tiles that are not
 * done, the first has been drawn, by a block that does not wait. In which order blocks start, and
 * how many run at a time, does not matter.
 *
 * <p>The counters go back to zero for the next launch when every block has drawn its last ticket:
 * then all tiles that anyone waits for are complete, and nobody looks at the counters any more.
 *
 * @param publishers how many publish each tile of the first grid
 * @param table {@code order: i32[tiles]}, made from the kernel's attributes ({@link FusedOrder})
 * @param counters tickets drawn, blocks that have left, then one for each part of the first grid
 *     that is waited for: each tile, each batch of rows, or all
 * @param row of the tile at hand
 * @param column of the tile at hand
 * @param part of the second grid's K that is at hand, where it is in parts
 */
public record WorkTickets(
    FusedProgram program,
    int publishers,
    Buffer table,
    Buffer counters,
    Var row,
    Var column,
    Var part) {
  static final String TABLE = "order";
  private static final String COUNTERS = "counters";

  /** What counts the parts of tiles that have begun and ended. */
  public static final String PART_COUNTERS = "partCounters";

  private static final String ZERO = "zero";
  private static final int TICKETS = 0;
  private static final int LEFT = 1;
  private static final int TILES = 2;

  public static WorkTickets of(FusedProgram program, int publishers) {
    return new WorkTickets(
        program,
        publishers,
        Buffer.of(TABLE, DType.I32, Scope.GLOBAL, program.extents().count()),
        Buffer.of(COUNTERS, DType.U32, Scope.GLOBAL, TILES + parts(program)),
        Var.index("tile_m"),
        Var.index("tile_n"),
        Var.index("part"));
  }

  /** Of the first grid, those that are waited for. */
  private static long parts(FusedProgram program) {
    WaitPolicy waits = program.waits();
    FusedOrder.Extents e = program.extents();
    return waits == null
        ? 1
        : switch (waits.part()) {
          case TILE -> (long) e.rows() * e.columns();
          case ROWS -> (long) Math.ceilDiv(e.rows(), waits.rows()) * e.parts();
          case GRID -> e.parts();
        };
  }

  /** The parameters of the kernel. */
  public List<Param> params(PrimFunc func) {
    List<Param> params = new ArrayList<>(func.params());
    params.addAll(program.handed());
    params.add(table);
    params.add(counters);
    return params;
  }

  /** The launch. */
  public ThreadBinding blocks() {
    return new ThreadBinding(ThreadAxis.BLOCK_X, Var.index("bx"), Exprs.i32(program.blocks()));
  }

  /** What whoever launches the kernel needs to know. */
  public Attrs attrs(Attrs attrs) {
    WaitPolicy waits = program.waits();
    Attrs all =
        program
            .extents()
            .in(attrs)
            .with(FusedOrder.ORDER, program.order().text())
            .with(ZERO, program.extents().parts() == 1 ? COUNTERS : COUNTERS + "," + PART_COUNTERS);
    return waits == null ? all : all.with(WaitPolicy.WAIT, waits.text());
  }

  /** Whether tiles of the second grid wait. */
  public boolean waits() {
    return program.waits() != null;
  }

  /**
   * What counts the tickets of a program.
   *
   * @throws LoweringException if nothing does
   */
  static Buffer counters(PrimFunc func) {
    String zero = String.valueOf(func.attrs().getString(ZERO));
    String name = zero.split(",", 2)[0];
    for (Param param : func.params()) {
      if (param instanceof Buffer buffer && buffer.name().equals(name)) {
        return buffer;
      }
    }
    throw new LoweringException(func.name() + " has items to be drawn, but nothing counts them");
  }

  /** The next ticket of those that one of these counters counts. */
  public static Expr draw(Buffer counters) {
    return Exprs.cast(DType.I32, add(counters, TICKETS));
  }

  /** The table's entry of a ticket. */
  public Expr entry(Expr ticket) {
    return Exprs.load(table, ticket);
  }

  /** Whether an entry is a tile of the first grid. */
  public Expr isFirst(Expr entry) {
    return new Expr.Binary(dev.warpwright.ir.BinaryOp.GE, entry, Exprs.i32(0));
  }

  /** Binds row and column of an entry's tile. */
  public Stmt atTile(Expr entry, Stmt body) {
    return new Stmt.Let(row, rowOf(entry), new Stmt.Let(column, columnOf(entry), body));
  }

  /** The same, where there are so many rows and columns: whoever reads the bounds can use that. */
  public Stmt atTile(Expr entry, int rows, int columns, Stmt body) {
    return new Stmt.Let(
        row,
        Exprs.min(rowOf(entry), Exprs.i32(rows - 1)),
        new Stmt.Let(column, Exprs.min(columnOf(entry), Exprs.i32(columns - 1)), body));
  }

  /**
   * The same of an item of the second grid: its columns count on from part to part, where K is in
   * parts.
   */
  Stmt atPart(Expr entry, Stmt body) {
    FusedOrder.Extents e = program.extents();
    if (e.parts() == 1) {
      return atTile(entry, e.secondRows(), e.secondColumns(), body);
    }
    int width = e.secondColumns();
    return new Stmt.Let(
        row,
        Exprs.min(rowOf(entry), Exprs.i32(e.secondRows() - 1)),
        new Stmt.Let(
            column,
            Exprs.mod(columnOf(entry), width),
            new Stmt.Let(
                part,
                Exprs.min(Exprs.div(columnOf(entry), width), Exprs.i32(e.parts() - 1)),
                body)));
  }

  /** The first column of the first grid in a part. */
  Expr partBegin(Expr which) {
    FusedOrder.Extents e = program.extents();
    return e.columns() % e.parts() == 0
        ? Exprs.mul(which, e.columns() / e.parts())
        : Exprs.div(Exprs.mul(which, e.columns()), e.parts());
  }

  /** The part that a column of the first grid is in. */
  private Expr partOf(Expr ofFirst) {
    FusedOrder.Extents e = program.extents();
    return e.columns() % e.parts() == 0
        ? Exprs.div(ofFirst, e.columns() / e.parts())
        : Exprs.div(Exprs.add(Exprs.mul(ofFirst, e.parts()), e.parts() - 1), e.columns());
  }

  private static Expr rowOf(Expr entry) {
    return Exprs.bitAnd(Exprs.shr(entry, 16), FusedOrder.MAX_ROWS - 1);
  }

  private static Expr columnOf(Expr entry) {
    return Exprs.bitAnd(entry, FusedOrder.MAX_COLUMNS - 1);
  }

  /** Adds to a counter, behind whatever the thread has written. */
  public static Stmt publish(Buffer counter, List<Expr> at, long by) {
    return Exprs.evaluate(
        CounterIntrinsics.RED_RELEASE,
        new Expr.AddressOf(counter, at),
        Exprs.constant(Type.U32, by));
  }

  /** Waits until a counter has come to a value. */
  public static Stmt await(Buffer counter, List<Expr> at, Expr atLeast) {
    Expr value = call(CounterIntrinsics.LOAD_ACQUIRE, new Expr.AddressOf(counter, at));
    return new Stmt.While(Exprs.lt(value, atLeast), Stmt.Seq.EMPTY);
  }

  /** To what the counter of the tile at hand comes, once nobody has to wait for it. */
  Expr all(WaitPolicy waits) {
    FusedOrder.Extents e = program.extents();
    if (waits.part() == WaitPolicy.Part.TILE) {
      return Exprs.constant(Type.U32, publishers);
    }
    if (e.columns() % e.parts() == 0) {
      return ofRows(waits, Math.multiplyExact(e.columns() / e.parts(), publishers));
    }
    Expr width = Exprs.sub(partBegin(Exprs.add(part, 1)), partBegin(part));
    return Exprs.mul(Exprs.cast(DType.U32, width), ofRows(waits, publishers));
  }

  /** What the rows that are waited for together come to, with so many in each. */
  private Expr ofRows(WaitPolicy waits, long ofRow) {
    FusedOrder.Extents e = program.extents();
    return switch (waits.part()) {
      case TILE -> throw new IllegalArgumentException("single tiles are no rows");
      case GRID -> Exprs.constant(Type.U32, e.rows() * ofRow);
      case ROWS -> {
        int batch = waits.rows();
        if (e.rows() % batch == 0) {
          yield Exprs.constant(Type.U32, batch * ofRow);
        }
        Expr left = Exprs.sub(Exprs.i32(e.rows()), Exprs.mul(Exprs.div(row, batch), batch));
        Expr rows = Exprs.min(left, Exprs.i32(batch));
        yield Exprs.cast(DType.U32, Exprs.mul(rows, ofRow));
      }
    };
  }

  /** The code of one thread of one of so many blocks, when it has drawn its last ticket. */
  public static Stmt leave(Buffer counters, long blocks) {
    Expr last = Exprs.eq(add(counters, LEFT), Exprs.constant(Type.U32, blocks - 1));
    Var c = Var.index("c");
    Stmt zero =
        Stmt.For.of(
            ForKind.SERIAL,
            c,
            Exprs.i32(counters.extent(0)),
            new Stmt.Store(counters, List.of(c), Exprs.constant(Type.U32, 0)));
    return new Stmt.If(last, zero, null);
  }

  /**
   * The counter that a tile of the first grid adds to.
   *
   * @param ofFirst its column
   */
  Expr signalled(WaitPolicy waits, Expr ofFirst) {
    return waits.part() == WaitPolicy.Part.TILE
        ? Exprs.add(Exprs.add(Exprs.mul(row, program.extents().columns()), ofFirst), TILES)
        : counterOfRows(waits, partOf(ofFirst));
  }

  /** The counter of rows of the first grid that a tile of the second waits for. */
  Expr awaited(WaitPolicy waits) {
    return counterOfRows(waits, part);
  }

  /** The counter of a part of the rows that are waited for together. */
  private Expr counterOfRows(WaitPolicy waits, Expr which) {
    Expr batch =
        waits.part() == WaitPolicy.Part.GRID
            ? Exprs.i32(0)
            : waits.rows() == 1 ? row : Exprs.div(row, waits.rows());
    int parts = program.extents().parts();
    return Exprs.add(parts == 1 ? batch : Exprs.add(Exprs.mul(batch, parts), which), TILES);
  }

  private static Expr add(Buffer counters, int counter) {
    return call(
        CounterIntrinsics.ATOMIC_ADD,
        new Expr.AddressOf(counters, List.of(Exprs.i32(counter))),
        Exprs.constant(Type.U32, 1));
  }

  private static Expr call(TargetIntrinsic intrinsic, Expr... args) {
    return new Expr.Call(intrinsic, List.of(args), Type.U32);
  }
}
