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
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.target.intrinsic.VectorIntrinsics;
import java.util.List;

/**
 * Copies an MN-major tile into a stage in which it is K-major. A thread loads vectors of some rows
 * one below the other, and stores each of their columns at once, 16 bytes:
 *
 * <pre>{@code
 * loaded[4 * i + v] = B[k + i, n + v]               vectors of v, four rows i
 * Bs[stage, n + v, k + i] = loaded[4 * i + v]       vectors of i, four columns v
 * }</pre>
 *
 * <p>Bytes are loaded and stored as words, 16 rows of 16 bytes, and transposed four by four.
 *
 * <p>Lanes share out columns and, next to each other, as many chunks of 16 bytes as a vector has
 * columns. So eight lanes that store at once meet all eight chunks of a swizzled row, which is to
 * say all banks, and a warp loads whole sectors. What lies outside of the matrix becomes zero.
 *
 * @param from what is copied, K by rows
 * @param ring where it goes, a transposed ring
 * @param threads that copy
 * @param columns of a vector that is loaded
 * @param together such pieces that a thread has under way at once
 */
public record TransposedCopy(
    Region from, OperandRing ring, int threads, int columns, int together) {
  /** The value of a copy's attribute {@code by} that asks for it. */
  public static final String TRANSPOSED = "transposed";

  private static final int CHUNK = 16;
  private static final int BANKS_OF_CHUNKS = 8;

  /** Words of a chunk. */
  private static final int WORDS = CHUNK / Integer.BYTES;

  /** Registers for the address of a piece. */
  private static final int ADDRESS = 2;

  /**
   * The same of one column, for what is one row's address and its place inside of the matrix, which
   * a vector's columns share. With 4 some kernels spill.
   */
  private static final int ADDRESS_OF_COLUMN = 8;

  /** Steps ahead that cover the way from memory. */
  private static final int MOST_AHEAD = 3;

  /** Registers that a thread needs beside what it has loaded. */
  private static final int OTHER_REGISTERS = 32;

  /**
   * The copy by so many threads.
   *
   * @param registers that each of them has
   */
  public static TransposedCopy of(Region from, OperandRing ring, int threads, int registers) {
    Buffer matrix = from.buffer();
    int bytes = matrix.dtype().bytes();
    int columns = CHUNK / bytes;
    while (columns > 1
        && bytes > 1
        && !(matrix.extent(matrix.rank() - 1) % columns == 0
            && pitch(matrix) % columns == 0
            && ring.tile().extent(0) % columns == 0
            && matrix.alignment() >= columns * bytes
            && CopyLowering.multipleOf(from.ranges().getLast().min(), columns))) {
      columns /= 2;
    }
    long rounds = new TransposedCopy(from, ring, threads, columns, 1).rounds();
    return new TransposedCopy(from, ring, threads, columns, together(rounds, columns, registers));
  }

  /** Elements from a row of a matrix to the next. */
  private static long pitch(Buffer matrix) {
    int last = matrix.rank() - 1;
    long[] row = new long[last + 1];
    row[last - 1] = 1;
    return matrix.layout() == null ? matrix.extent(last) : matrix.layout().offset(row);
  }

  /**
   * Pieces that a thread has under way at once.
   *
   * @param rounds all pieces of a thread
   * @param columns of a vector that is loaded
   * @param registers of the thread
   */
  public static int together(long rounds, int columns, int registers) {
    long each = registers(1, columns);
    long most = Math.clamp((registers - OTHER_REGISTERS) / each, 1, rounds);
    while (rounds % most != 0) {
      most--;
    }
    return Math.toIntExact(most);
  }

  /** Elements of K of a chunk. */
  private int depth() {
    return CHUNK / from.buffer().dtype().bytes();
  }

  private long chunks() {
    return ring.tile().extent(1) / depth();
  }

  private long vectors() {
    return ring.tile().extent(0) / columns;
  }

  /** How many pieces a thread moves. */
  private long rounds() {
    return Math.ceilDiv(chunks() * vectors(), threads);
  }

  /** Chunks next to each other that neighbouring threads have. */
  private long neighbours() {
    long count = Math.min(columns, BANKS_OF_CHUNKS);
    while (chunks() % count != 0 || threads % count != 0) {
      count /= 2;
    }
    return count;
  }

  private boolean isOfBytes() {
    return from.buffer().dtype().bytes() == 1;
  }

  /** What is loaded of the pieces that are under way. */
  public Buffer registers() {
    long elements = (long) together * depth() * columns;
    String name = ring.tile().name() + "_next";
    return isOfBytes()
        ? Buffer.of(name, DType.U32, Scope.LOCAL, elements / Integer.BYTES)
        : Buffer.of(name, from.buffer().dtype(), Scope.LOCAL, elements);
  }

  /**
   * Copies the tile.
   *
   * @param loaded {@link #registers()}
   */
  public Stmt move(Buffer loaded, Var tid, Expr stage) {
    return Stmts.loop(
        ForKind.SERIAL,
        "g",
        rounds() / together,
        g -> {
          Expr first = Exprs.mul(g, together);
          return Stmts.seq(load(loaded, tid, first), store(loaded, tid, stage, first));
        });
  }

  /** The same with all pieces of a thread under way at once. */
  public TransposedCopy whole() {
    return new TransposedCopy(from, ring, threads, columns, Math.toIntExact(rounds()));
  }

  /**
   * Registers of so many pieces and where they come from.
   *
   * @param columns of a vector that is loaded
   */
  public static long registers(long rounds, int columns) {
    int address = Math.max(ADDRESS, ADDRESS_OF_COLUMN / columns);
    return rounds * (CHUNK * columns / Integer.BYTES + address);
  }

  /** Registers that all pieces of a thread take at once. */
  public long wholeRegisters() {
    return registers(rounds(), columns);
  }

  /**
   * Whether so many loaded registers leave a thread enough.
   *
   * @param registers of the thread
   */
  public static boolean fit(long loaded, int registers) {
    return loaded <= registers - OTHER_REGISTERS;
  }

  /**
   * Steps that are loaded ahead: as many as registers hold, one at least, and no more than cover
   * the way from memory.
   *
   * @param loaded registers of a step
   * @param registers of the thread
   */
  public static int ahead(long loaded, int registers) {
    int steps = 1;
    while (steps < MOST_AHEAD && fit((steps + 1) * loaded, registers)) {
      steps++;
    }
    return steps;
  }

  /**
   * Loads {@link #whole()} tiles.
   *
   * @param loaded {@link #registers()}
   */
  public Stmt load(Buffer loaded, Var tid) {
    return load(loaded, tid, Exprs.i32(0));
  }

  /**
   * Stores what is loaded of a {@link #whole()} tile, and loads another one, piece by piece.
   *
   * @param loaded {@link #registers()}
   * @param next what is loaded
   */
  public Stmt storeAndLoad(Buffer loaded, Var tid, Expr stage, Region next) {
    TransposedCopy other = new TransposedCopy(next, ring, threads, columns, together);
    return storing(loaded, tid, Exprs.i32(0), stage, (r, k, n) -> other.load(loaded, r, k, n));
  }

  private Stmt load(Buffer loaded, Var tid, Expr first) {
    return pieces(tid, first, (r, k, n) -> load(loaded, r, k, n));
  }

  private Stmt store(Buffer loaded, Var tid, Expr stage, Expr first) {
    return storing(loaded, tid, first, stage, (r, k, n) -> Stmt.Seq.EMPTY);
  }

  /** Stores pieces, and does something behind each of them. */
  private Stmt storing(Buffer loaded, Var tid, Expr first, Expr stage, Piece behind) {
    String name = ring.tile().name();
    if (isOfBytes()) {
      TransposedBytes bytes = TransposedBytes.of(name, loaded);
      return Stmts.alloc(
          bytes.registers(),
          pieces(
              tid,
              first,
              (r, k, n) ->
                  Stmts.seq(
                      bytes.columns(r, v -> stored(bytes.column(), stage, k, Exprs.add(n, v))),
                      behind.code(r, k, n))));
    }
    Buffer column = Buffer.of(name + "_column", loaded.dtype(), Scope.LOCAL, depth());
    return new Stmt.Alloc(
        column,
        pieces(
            tid,
            first,
            (r, k, n) -> Stmts.seq(store(loaded, column, stage, r, k, n), behind.code(r, k, n))));
  }

  /** Code for a piece: its number among those under way, and its first row and column. */
  private interface Piece {
    Stmt code(Expr number, Expr k, Expr n);
  }

  private Stmt pieces(Var tid, Expr first, Piece body) {
    long neighbours = neighbours();
    return Stmts.loop(
        ForKind.UNROLLED,
        "r",
        together,
        r -> {
          Var vector = Var.index("vector");
          Expr k = Exprs.add(Exprs.mul(Exprs.div(vector, vectors()), neighbours), low(tid));
          Stmt code =
              body.code(r, Exprs.mul(k, depth()), Exprs.mul(Exprs.mod(vector, vectors()), columns));
          long all = chunks() / neighbours * vectors();
          Stmt guarded =
              rounds() * threads / neighbours == all
                  ? code
                  : new Stmt.If(Exprs.lt(vector, Exprs.i32(all)), code, null);
          return new Stmt.Let(
              vector,
              Exprs.add(
                  Exprs.div(tid, neighbours), Exprs.mul(Exprs.add(first, r), threads / neighbours)),
              guarded);
        });
  }

  /** The thread's chunk among neighbours. */
  private Expr low(Var tid) {
    return Exprs.mod(tid, neighbours());
  }

  private Stmt load(Buffer loaded, Expr number, Expr k, Expr n) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "y",
        depth(),
        i -> {
          List<Expr> at = Guards.indices(from, List.of(Exprs.add(k, i), n));
          if (isOfBytes()) {
            Expr word = Exprs.mul(Exprs.add(Exprs.mul(number, depth()), i), WORDS);
            return Exprs.evaluate(
                VectorIntrinsics.LOAD_AROUND_X4,
                new Expr.AddressOf(loaded, List.of(word)),
                new Expr.AddressOf(from.buffer(), StageCopy.clamped(from, at, columns)),
                Exprs.i32(0),
                Exprs.cast(DType.I32, Guards.insideOfGrid(from, at)));
          }
          Expr register = Exprs.mul(Exprs.add(Exprs.mul(number, depth()), i), columns);
          Stmt load = ThreadCode.move(loaded, List.of(register), from.buffer(), at, columns);
          Expr inside = Guards.insideOfGrid(from, at);
          if (Exprs.isConst(inside, 1)) {
            return load;
          }
          Stmt zero =
              Stmts.loop(
                  ForKind.UNROLLED,
                  "v",
                  columns,
                  v ->
                      new Stmt.Store(
                          loaded,
                          List.of(Exprs.add(register, v)),
                          Exprs.zero(Type.of(loaded.dtype()))));
          return new Stmt.If(inside, load, zero);
        });
  }

  private Stmt store(Buffer loaded, Buffer column, Expr stage, Expr number, Expr k, Expr n) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "v",
        columns,
        v ->
            Stmts.seq(
                Stmts.loop(
                    ForKind.UNROLLED,
                    "y",
                    depth(),
                    i -> {
                      Expr row = Exprs.mul(Exprs.add(Exprs.mul(number, depth()), i), columns);
                      return new Stmt.Store(
                          column, List.of(i), Exprs.load(loaded, Exprs.add(row, v)));
                    }),
                ThreadCode.move(
                    ring.ring(),
                    ring.indices(stage, k, Exprs.add(n, v)),
                    column,
                    List.of(Exprs.i32(0)),
                    depth())));
  }

  private Stmt stored(Buffer column, Expr stage, Expr k, Expr n) {
    return Exprs.evaluate(
        VectorIntrinsics.STORE_X4,
        new Expr.AddressOf(ring.ring(), ring.indices(stage, k, n)),
        new Expr.AddressOf(column, List.of(Exprs.i32(0))));
  }
}
