package dev.warpwright.lower.copy;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.VectorIntrinsics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The way of results whose rows are no multiples of 16 bytes from registers to global memory: eight
 * rows of a warp are one run of bytes there, a multiple of 16, whatever a row is. They are put
 * together in shared memory, and leave by vectors.
 *
 * <pre>{@code
 * for b in 16 rows / 8 {
 *   rows[warp, lane / 4 * columns + …] = h[…] …       each lane's pairs of one row
 *   sync_warp()
 *   st.global.x4(&y[…], rows[warp, (32 * v + lane) * 8 …])        as many vectors as there are columns
 *   sync_warp()
 * }
 * }</pre>
 *
 * <p>Straight from registers a warp would store 8 rows of 16 bytes at once, which begin anywhere
 * and fill no sector: 131072 rows of 214 columns took 49 µs of 139 so, 13 by runs. Rows that are
 * not all there, at the matrix's end, leave by elements.
 */
public final class StoredRows {
  /** Rows that leave together; of two bytes an element, a multiple of 16 bytes. */
  private static final int ROWS = 8;

  private static final int LANES = 32;

  /** Elements of a vector. */
  private static final int VECTOR = 8;

  /** Lanes that share a row. */
  private static final int OF_ROW = 4;

  private final ThreadCode code;
  private final Expr warp;
  private final int warps;
  private final Map<Buffer, Buffer> runs = new LinkedHashMap<>();

  /**
   * Of the warps of a role.
   *
   * @param warp the number of the thread's warp among them
   */
  public StoredRows(ThreadCode code, Expr warp, int warps) {
    this.code = code;
    this.warp = warp;
    this.warps = warps;
  }

  /** Whether a copy is to go this way. */
  public static boolean are(Stmt.TileCopy copy) {
    return "rows".equals(copy.attrs().getString("store"));
  }

  /** Whether a matrix gains by it, and can be stored so. */
  public static boolean suit(Buffer matrix) {
    return matrix.rank() == 2
        && matrix.dtype().bytes() == 2
        && matrix.layout() == null
        && matrix.alignment() >= VECTOR * 2
        && matrix.shape().getLast() instanceof Expr.IntImm columns
        && columns.value() % VECTOR != 0;
  }

  /** Bytes of shared memory for a warp. */
  public static long bytes(Buffer matrix) {
    return ROWS * matrix.extent(1) * matrix.dtype().bytes();
  }

  /** What is in shared memory. */
  public List<Buffer> shared() {
    return List.copyOf(runs.values());
  }

  private Buffer run(Buffer matrix) {
    return runs.computeIfAbsent(
        matrix,
        m ->
            new Buffer(
                m.name() + "_rows",
                m.dtype(),
                List.of(Exprs.i32(warps * ROWS * m.extent(1))),
                Scope.SHARED,
                null,
                VECTOR * 2));
  }

  /**
   * Stores a fragment.
   *
   * @param held its registers, a pair of elements in each
   * @throws LoweringException if a warp does not hold whole rows of the matrix, pair by pair
   */
  public Stmt store(Stmt.TileCopy copy, Buffer held) {
    FragmentLayout layout = code.layout(copy.from().buffer());
    Region to = copy.to();
    Buffer matrix = to.buffer();
    if (!suit(matrix) || !isWhole(to) || !isByPairs(layout)) {
      throw new LoweringException(
          "rows of "
              + matrix.name()
              + " are not what warps hold of "
              + copy.from().buffer().name());
    }
    Var row0 = Var.index("row");
    Var col0 = Var.index("col");
    Part rows = new Part(layout.registerDigits(), true);
    Part pairs = new Part(layout.registerDigits(), false);
    Expr first = Exprs.mul(Exprs.div(code.thread(), LANES), LANES);
    Stmt body =
        Stmts.loop(
            ForKind.UNROLLED,
            "b",
            rows.count(),
            b -> {
              Expr row = Exprs.add(to.ranges().getFirst().min(), Exprs.add(row0, rows.step(b)));
              return Stmts.seq(
                  Stmts.loop(
                      ForKind.UNROLLED,
                      "p",
                      pairs.count(),
                      p ->
                          pair(
                              matrix,
                              Exprs.add(col0, pairs.step(p)),
                              new Expr.Load(
                                  held,
                                  List.of(
                                      Exprs.div(
                                          Exprs.add(rows.register(b), pairs.register(p)), 2))))),
                  meet(),
                  leave(matrix, row),
                  meet());
            });
    return new Stmt.Let(
        row0,
        layout.rowOfThread(first),
        new Stmt.Let(col0, layout.colOfThread(code.thread()), body));
  }

  private static Stmt meet() {
    return Exprs.evaluate(Intrinsics.SYNC_WARP);
  }

  /** Whether a tile has all columns. */
  private static boolean isWhole(Region to) {
    return to.tile().size() == 2 && Exprs.isConst(to.ranges().getLast().min(), 0);
  }

  /** Whether four lanes hold pairs of a row, and eight times four neighbouring rows. */
  private static boolean isByPairs(FragmentLayout layout) {
    List<Digit> threads = layout.threadDigits();
    return threads.size() >= 2
        && threads.get(0).extent() == OF_ROW
        && threads.get(0).rowStep() == 0
        && threads.get(1).equals(new Digit(ROWS, 1, 0))
        && threads.get(0).colStep() % 2 == 0
        && layout.registerDigits().getFirst().extent() % 2 == 0
        && layout.registerDigits().getFirst().rowStep() == 0
        && layout.registerDigits().getFirst().colStep() == 1;
  }

  /**
   * Digits of a fragment's registers that move its row, or its column, by pairs.
   *
   * @param all digits of the registers, of which the first counts neighbouring columns
   */
  private record Part(List<Digit> all, boolean ofRows) {
    private boolean has(int i) {
      return all.get(i).rowStep() != 0 == ofRows;
    }

    /** Values of a digit, of the first one pairs. */
    private long extent(int i) {
      return all.get(i).extent() / (i == 0 ? 2 : 1);
    }

    long count() {
      long count = 1;
      for (int i = 0; i < all.size(); i++) {
        count *= has(i) ? extent(i) : 1;
      }
      return count;
    }

    /** Rows or columns from the thread's first. */
    Expr step(Expr number) {
      return sum(number, true);
    }

    /** Elements from the thread's first. */
    Expr register(Expr number) {
      return sum(number, false);
    }

    private Expr sum(Expr number, boolean steps) {
      Expr sum = Exprs.i32(0);
      long before = 1;
      long weight = 1;
      for (int i = 0; i < all.size(); i++) {
        Digit digit = all.get(i);
        if (has(i)) {
          long each = i == 0 ? 2 : 1;
          Expr value = Exprs.mod(Exprs.div(number, before), extent(i));
          long step = ofRows ? digit.rowStep() : digit.colStep();
          sum = Exprs.add(sum, Exprs.mul(value, each * (steps ? step : weight)));
          before *= extent(i);
        }
        weight *= digit.extent();
      }
      return sum;
    }
  }

  /** The place of an element of the warp's rows. */
  private Expr at(Buffer matrix, Expr element) {
    return Exprs.add(Exprs.mul(warp, ROWS * matrix.extent(1)), element);
  }

  /** Puts a pair where the run has it; columns that padding adds have no place. */
  private Stmt pair(Buffer matrix, Expr col, Expr word) {
    long columns = matrix.extent(1);
    Buffer run = run(matrix);
    Expr row = Exprs.mod(Exprs.div(code.thread(), OF_ROW), ROWS);
    Expr place = at(matrix, Exprs.add(Exprs.mul(row, columns), col));
    Expr inside = Exprs.lt(col, Exprs.i32(columns));
    Type both = Type.of(matrix.dtype()).withLanes(2);
    if (columns % 2 == 0) {
      return Stmts.when(
          inside,
          new Stmt.Store(run, ThreadCode.ramped(List.of(place), 2), new Expr.Bitcast(both, word)));
    }
    return Stmts.seq(
        Stmts.when(inside, new Stmt.Store(run, List.of(place), half(matrix, word, false))),
        Stmts.when(
            Exprs.lt(Exprs.add(col, 1), Exprs.i32(columns)),
            new Stmt.Store(run, List.of(Exprs.add(place, 1)), half(matrix, word, true))));
  }

  private static Expr half(Buffer matrix, Expr word, boolean high) {
    boolean half = matrix.dtype() == DType.F16;
    Expr wide =
        new Expr.Call(
            high
                ? half ? Intrinsics.UNPACK_HIGH_F16X2 : Intrinsics.UNPACK_HIGH_BF16X2
                : half ? Intrinsics.UNPACK_LOW_F16X2 : Intrinsics.UNPACK_LOW_BF16X2,
            List.of(word),
            Type.F32);
    return Exprs.cast(matrix.dtype(), wide);
  }

  /** Stores the run to eight rows from one on. */
  private Stmt leave(Buffer matrix, Expr row) {
    long columns = matrix.extent(1);
    Buffer run = run(matrix);
    Expr rows = matrix.shape().getFirst();
    Stmt whole =
        pieces(
            ForKind.UNROLLED,
            columns,
            piece -> {
              Expr element = Exprs.mul(piece, VECTOR);
              Buffer words = Buffer.of("words", DType.U32, Scope.LOCAL, 4);
              Expr load =
                  new Expr.Load(run, ThreadCode.ramped(List.of(at(matrix, element)), VECTOR));
              return new Stmt.Alloc(
                  words,
                  Stmts.seq(
                      new Stmt.Store(
                          words,
                          ThreadCode.ramped(List.of(Exprs.i32(0)), 4),
                          new Expr.Bitcast(Type.U32.withLanes(4), load)),
                      Exprs.evaluate(
                          VectorIntrinsics.STORE_GLOBAL_X4,
                          new Expr.AddressOf(matrix, place(row, element, columns)),
                          new Expr.AddressOf(words, List.of(Exprs.i32(0))))));
            });
    Stmt some =
        pieces(
            ForKind.SERIAL,
            ROWS * columns,
            element -> {
              List<Expr> place = place(row, element, columns);
              return new Stmt.If(
                  Exprs.lt(place.getFirst(), rows),
                  new Stmt.Store(matrix, place, new Expr.Load(run, List.of(at(matrix, element)))),
                  null);
            });
    return new Stmt.If(Exprs.lt(Exprs.add(row, ROWS - 1), rows), whole, some);
  }

  /** Gives so many pieces to the lanes in turn. */
  private Stmt pieces(ForKind kind, long count, Function<Expr, Stmt> body) {
    return Stmts.loop(
        kind,
        "v",
        Math.ceilDiv(count, LANES),
        v -> {
          Expr piece = Exprs.add(Exprs.mul(v, LANES), code.lane());
          Stmt one = body.apply(piece);
          return count % LANES == 0
              ? one
              : new Stmt.If(Exprs.lt(piece, Exprs.i32(count)), one, null);
        });
  }

  private static List<Expr> place(Expr row, Expr element, long columns) {
    return List.of(Exprs.add(row, Exprs.div(element, columns)), Exprs.mod(element, columns));
  }
}
