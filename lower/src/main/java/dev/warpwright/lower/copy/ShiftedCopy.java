package dev.warpwright.lower.copy;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.target.intrinsic.VectorIntrinsics;
import java.util.List;

/**
 * Copies of 16 bytes of rows that begin anywhere: the one or two aligned vectors in which the bytes
 * lie are loaded, shifted in registers and stored at once.
 *
 * <pre>{@code
 * back = bytes of A in front of A[row, column], modulo 16
 * ld.global.around.x4(&raw[0], &A[row, column], back, …)
 * ld.global.around.x4(&raw[4], &A[row, column], back - 16, …)       where the 16 bytes reach into it
 * st.shared.shifted.x4(&As[…], &raw[0], back, bytes of the row from there on)
 * }</pre>
 *
 * <p>A vector that reaches beyond the matrix's last byte is not loaded: the few elements that lie
 * in it follow one by one.
 *
 * @param from what is copied, of a matrix that begins at a multiple of 16 bytes
 * @param raw the vectors on their way, {@link #RAW} registers for each 16 bytes
 */
record ShiftedCopy(Region from, OperandRing ring, Buffer raw) {
  private static final int VECTOR = 16;

  /** Registers of two vectors. */
  static final int RAW = 2 * VECTOR / Integer.BYTES;

  /**
   * Where 16 bytes lie.
   *
   * @param inside whether the first of them is in the matrix
   * @param at the element's indices, or others of the matrix if it is not inside
   * @param back bytes from the beginning of its vector on
   * @param count bytes of the row from there on, at most 16; none, or fewer, outside
   * @param ahead bytes of the whole matrix from there on, or more than two vectors
   */
  private record Place(Expr inside, List<Expr> at, Expr back, Expr count, Expr ahead) {
    /** Whether all bytes of so many vectors are the matrix's. */
    Expr has(int vectors) {
      return Exprs.fold(BinaryOp.GE, Exprs.add(ahead, back), Exprs.i32((long) VECTOR * vectors));
    }

    /** Whether bytes lie in the second vector. */
    Expr needsTwo() {
      return Exprs.lt(Exprs.i32(VECTOR), Exprs.add(back, count));
    }
  }

  private Place place(Expr row, Expr column) {
    Buffer buffer = from.buffer();
    int bytes = buffer.dtype().bytes();
    List<Expr> at = Guards.indices(from, List.of(row, column));
    long mask = VECTOR / bytes - 1L;
    Expr line = line(at);
    Expr elements = Exprs.mul(Exprs.bitAnd(line, mask), columns() & mask);
    Expr left = Exprs.mul(Exprs.sub(Exprs.i32(columns()), at.getLast()), bytes);
    // Some rows on, the end is far enough; counted in bytes it may be too far for 32 bits.
    Expr below = Exprs.min(Exprs.sub(Exprs.add(lines(), -1), line), Exprs.i32(linesOfTwo()));
    return new Place(
        Guards.insideOfGrid(from, at),
        StageCopy.clamped(from, at, 1),
        Exprs.mul(Exprs.bitAnd(elements, mask), bytes),
        Guards.mayReachOut(from, buffer.rank() - 1)
            ? Exprs.min(left, Exprs.i32(VECTOR))
            : Exprs.i32(VECTOR),
        endsWithVector()
            ? Exprs.i32(2L * VECTOR)
            : Exprs.add(Exprs.mul(below, columns() * bytes), left));
  }

  private long columns() {
    return from.buffer().extent(from.buffer().rank() - 1);
  }

  /** The row among those of all matrices. */
  private Expr line(List<Expr> at) {
    return at.size() == 2
        ? at.getFirst()
        : Exprs.add(Exprs.mul(at.get(0), from.buffer().shape().get(1)), at.get(1));
  }

  private Expr lines() {
    List<Expr> shape = from.buffer().shape();
    return shape.size() == 2 ? shape.getFirst() : Exprs.mul(shape.get(0), shape.get(1));
  }

  /** Rows that are two vectors long, or longer. */
  private long linesOfTwo() {
    return Math.ceilDiv(2L * VECTOR, columns() * from.buffer().dtype().bytes());
  }

  /** Whether no vector reaches beyond the matrix. */
  private boolean endsWithVector() {
    Buffer buffer = from.buffer();
    return buffer.hasConstantShape()
        && buffer.storageElements() * buffer.dtype().bytes() % VECTOR == 0;
  }

  /** Loads both vectors. */
  StageCopy.Piece load() {
    return (index, row, column) -> {
      Place p = place(row, column);
      Expr source = new Expr.AddressOf(from.buffer(), p.at());
      Expr second = Exprs.and(p.needsTwo(), p.has(2));
      return Stmts.seq(
          vector(index, 0, source, p.back(), Exprs.and(p.inside(), p.has(1))),
          vector(
              index,
              RAW / 2,
              source,
              Exprs.sub(p.back(), Exprs.i32(VECTOR)),
              Exprs.and(p.inside(), second)));
    };
  }

  private Stmt vector(Expr index, int word, Expr source, Expr back, Expr present) {
    return Exprs.evaluate(
        VectorIntrinsics.LOAD_AROUND_X4,
        register(index, word),
        source,
        back,
        Exprs.cast(DType.I32, present));
  }

  private Expr register(Expr index, int word) {
    return new Expr.AddressOf(raw, List.of(Exprs.add(Exprs.mul(index, RAW), word)));
  }

  /** Stores 16 bytes to a stage. */
  StageCopy.Piece store(Expr stage) {
    return (index, row, column) -> {
      Place p = place(row, column);
      return Exprs.evaluate(
          VectorIntrinsics.STORE_SHIFTED_X4,
          new Expr.AddressOf(ring.ring(), ring.indices(stage, row, column)),
          register(index, 0),
          p.back(),
          p.count());
    };
  }

  /** Whether elements of this tile may lie in a vector that reaches beyond the matrix. */
  Expr reachesEnd() {
    if (endsWithVector()) {
      return Exprs.bool(false);
    }
    Expr behind = line(Guards.indices(from, List.of(Exprs.i32(ring.rows()), Exprs.i32(0))));
    return Exprs.lt(Exprs.add(lines(), -linesOfTwo()), behind);
  }

  /** Copies elements one by one that lie in a vector that reaches beyond the matrix. */
  StageCopy.Piece lastElements(Expr stage) {
    Buffer buffer = from.buffer();
    int bytes = buffer.dtype().bytes();
    return (index, row, column) -> {
      Place p = place(row, column);
      Stmt each =
          Stmts.loop(
              ForKind.SERIAL,
              "v",
              VECTOR / bytes,
              v -> {
                Expr element = Exprs.add(column, v);
                Stmt move =
                    ThreadCode.move(
                        ring.ring(),
                        ring.indices(stage, row, element),
                        buffer,
                        Guards.indices(from, List.of(row, element)),
                        1);
                return new Stmt.If(Exprs.lt(Exprs.mul(v, bytes), p.count()), move, null);
              });
      Expr lost =
          Exprs.fold(
              BinaryOp.LT, Exprs.add(p.ahead(), p.back()), end(Exprs.add(p.back(), p.count())));
      return new Stmt.If(Exprs.and(p.inside(), lost), each, null);
    };
  }

  /** The end of the vector in which so many bytes end. */
  private static Expr end(Expr bytes) {
    return Exprs.bitAnd(Exprs.add(bytes, VECTOR - 1), -VECTOR);
  }
}
