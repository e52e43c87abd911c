package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.FragmentOrder;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.VectorIntrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The instructions of a warp's product: step of K by step of K, by 16 columns, which one access to
 * shared memory brings for all of the warp's rows; or to memory, where weights are read through L1
 * and L2 because shared memory has no place for them.
 */
final class WarpProducts {
  private static final int ROWS = 16;
  private static final int COLUMNS = 8;
  private static final int A_REGISTERS = 4;
  private static final int B_REGISTERS = 2;
  private static final int SUMS = 4;

  private final ThreadCode code;
  private final PackedFragments packed;
  private final Map<Buffer, Buffer> flat;

  /**
   * Makes products.
   *
   * @param flat by tile in shared memory, its elements in their order
   */
  WarpProducts(ThreadCode code, PackedFragments packed, Map<Buffer, Buffer> flat) {
    this.code = code;
    this.packed = packed;
    this.flat = flat;
  }

  Stmt product(Stmt.TileMma mma) {
    Buffer c = mma.c().buffer();
    Buffer ordered = mma.b().buffer();
    boolean inMemory = ordered.scope() == Scope.GLOBAL && FragmentOrder.is(ordered);
    Buffer weights = inMemory ? ordered : flat.get(ordered);
    Intrinsic multiply =
        Intrinsics.find(String.valueOf(mma.attrs().getString("instr"))).orElse(null);
    if (!FragmentOrder.isFor(mma) || multiply == null || weights == null) {
      throw new LoweringException(
          "the GEMM into "
              + c.name()
              + " is none of a warp, of operands in registers and ordered weights");
    }
    Region a = mma.a();
    Region b = mma.b();
    Range rows = b.ranges().get(b.ranges().size() - 2);
    Range depth = b.ranges().getLast();
    FragmentLayout layout = code.layout(c);
    long tiles = layout.rows() / ROWS;
    long columns = layout.cols();
    long steps = Guards.extent(depth) / FragmentOrder.BLOCK;
    if (!mma.c().equals(Region.whole(c))
        || a.tile().size() != 2
        || !a.tile().get(0).equals(Range.of(layout.rows()))
        || Guards.extent(a.tile().get(1)) != Guards.extent(depth)
        || Guards.extent(rows) != columns
        || columns % FragmentOrder.BLOCK != 0
        || Guards.extent(depth) % FragmentOrder.BLOCK != 0
        || !isOfBlocks(a.tile().get(1).min())
        || !isOfBlocks(rows.min())
        || !isOfBlocks(depth.min())) {
      throw new LoweringException("the operands of the GEMM into " + c.name() + " do not fit");
    }
    Buffer sums = code.registers(c);
    Buffer operand = packed.registers(a.buffer());
    long stepsOfA = a.buffer().extent(1) / FragmentOrder.BLOCK;
    Operands operands = new Operands(multiply, sums, operand, tiles, columns, stepsOfA);
    Expr first = Exprs.div(a.tile().get(1).min(), FragmentOrder.BLOCK);
    return inMemory
        ? fromMemory(operands, b, steps, first)
        : fromShared(operands, weights, b, steps, first);
  }

  /**
   * What instructions are made of.
   *
   * @param tiles of 16 rows
   * @param columns of the accumulators
   * @param steps of the first operand
   */
  private record Operands(
      Intrinsic multiply, Buffer sums, Buffer a, long tiles, long columns, long steps) {
    /** The products of 16 columns in one step, of which the registers from there on are B's. */
    Stmt multiply(Expr step, Expr j, Buffer b, Expr register) {
      return Stmts.loop(
          ForKind.UNROLLED,
          "ni",
          2,
          ni ->
              Stmts.loop(
                  ForKind.UNROLLED,
                  "mi",
                  tiles,
                  mi ->
                      Exprs.evaluate(
                          multiply,
                          at(sums, sum(mi, j, ni, columns)),
                          at(a, element(mi, step, steps)),
                          at(b, Exprs.add(register, Exprs.mul(ni, B_REGISTERS))))));
    }
  }

  private Stmt fromShared(Operands operands, Buffer weights, Region b, long steps, Expr first) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "kk",
        steps,
        kk ->
            Stmts.loop(
                ForKind.UNROLLED,
                "j",
                operands.columns() / FragmentOrder.BLOCK,
                j -> {
                  Buffer held = Buffer.of("b", DType.U32, Scope.LOCAL, 2L * B_REGISTERS);
                  Stmt products = operands.multiply(Exprs.add(first, kk), j, held, Exprs.i32(0));
                  return new Stmt.Alloc(
                      held, Stmts.seq(load(held, weights, b, kk, j, code.thread()), products));
                }));
  }

  /**
   * The weights of the next step are on their way while one is multiplied, and no more than those:
   * the compiler would keep as many as there are registers, and then some.
   */
  private Stmt fromMemory(Operands operands, Region b, long steps, Expr first) {
    long blocks = operands.columns() / FragmentOrder.BLOCK;
    long each = blocks * 2 * B_REGISTERS;
    Buffer held = Buffer.of("b", DType.U32, Scope.LOCAL, Math.min(2, steps) * each);
    List<Stmt> stmts = new ArrayList<>();
    stmts.add(step(held, b, 0, each, blocks));
    for (long k = 0; k < steps; k++) {
      if (k + 1 < steps) {
        stmts.add(step(held, b, k + 1, each, blocks));
      }
      Expr set = Exprs.i32(k % 2 * each);
      Expr step = Exprs.add(first, Exprs.i32(k));
      stmts.add(
          Stmts.loop(
              ForKind.UNROLLED,
              "j",
              blocks,
              j -> {
                Expr register = Exprs.add(set, Exprs.mul(j, 2L * B_REGISTERS));
                return operands.multiply(step, j, held, register);
              }));
      stmts.add(Exprs.evaluate(Intrinsics.SYNC_WARP));
    }
    return new Stmt.Alloc(held, Stmts.seq(stmts));
  }

  private Stmt step(Buffer held, Region b, long k, long each, long blocks) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "j",
        blocks,
        j ->
            loadFromMemory(
                held,
                Exprs.add(Exprs.i32(k % 2 * each), Exprs.mul(j, 2L * B_REGISTERS)),
                b,
                Exprs.i32(k),
                j,
                code.thread()));
  }

  private static boolean isOfBlocks(Expr first) {
    return CopyLowering.multipleOf(first, FragmentOrder.BLOCK);
  }

  private static Expr sum(Expr mi, Expr j, Expr ni, long columns) {
    Expr column = Exprs.add(Exprs.mul(j, 2), ni);
    return Exprs.mul(Exprs.add(Exprs.mul(mi, columns / COLUMNS), column), SUMS);
  }

  private static Expr element(Expr mi, Expr step, long steps) {
    return Exprs.mul(Exprs.add(Exprs.mul(mi, steps), step), A_REGISTERS);
  }

  private static Expr at(Buffer registers, Expr index) {
    return new Expr.AddressOf(registers, List.of(index));
  }

  /** The same from memory, for weights that have no place in shared memory. */
  private static Stmt loadFromMemory(
      Buffer held, Expr register, Region b, Expr kk, Expr j, Expr lane) {
    Expr row = Exprs.add(Exprs.mul(j, FragmentOrder.BLOCK), Exprs.div(lane, 4));
    Expr k = Exprs.add(Exprs.mul(kk, FragmentOrder.BLOCK), Exprs.mul(Exprs.mod(lane, 4), 2));
    return Exprs.evaluate(
        VectorIntrinsics.LOAD_X4,
        at(held, register),
        new Expr.AddressOf(b.buffer(), Guards.indices(b, List.of(row, k))));
  }

  /** The registers of two column tiles, in one access. */
  private static Stmt load(Buffer held, Buffer weights, Region b, Expr kk, Expr j, Expr lane) {
    Buffer tile = b.buffer();
    int rank = tile.rank();
    long rows = tile.extent(rank - 2);
    Expr block = Exprs.add(Exprs.div(b.ranges().get(rank - 2).min(), FragmentOrder.BLOCK), j);
    Expr step = Exprs.add(Exprs.div(b.ranges().get(rank - 1).min(), FragmentOrder.BLOCK), kk);
    Expr element = FragmentOrder.element(rows, block, step, lane);
    if (rank == 3) {
      long each = rows * tile.extent(2);
      element = Exprs.add(Exprs.mul(b.ranges().getFirst().min(), each), element);
    }
    Type words = Type.U32.withLanes(2 * B_REGISTERS);
    List<Expr> from = ThreadCode.ramped(List.of(element), FragmentOrder.LANES);
    return new Stmt.Store(
        held,
        ThreadCode.ramped(List.of(Exprs.i32(0)), 2 * B_REGISTERS),
        new Expr.Bitcast(words, new Expr.Load(weights, from)));
  }
}
