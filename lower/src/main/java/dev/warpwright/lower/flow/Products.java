package dev.warpwright.lower.flow;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.FoldedFills;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The instructions of a warpgroup's product: K step by K step, 64 rows at a time. */
final class Products {
  private final ThreadCode code;
  private final PackedFragments packed;
  private final Map<Buffer, OperandRing> rings;
  private final FoldedFills fills;
  private final RoleCode.Team team;

  Products(
      ThreadCode code,
      PackedFragments packed,
      Map<Buffer, OperandRing> rings,
      FoldedFills fills,
      RoleCode.Team team) {
    this.team = team;
    this.code = code;
    this.packed = packed;
    this.rings = rings;
    this.fills = fills;
  }

  /** A matrix operand: where it begins, and how far it goes. */
  private record Operand(Region region, Range rows, Range columns) {
    static Operand of(Region region) {
      List<Range> tile = region.tile();
      if (tile.size() != 2) {
        throw new LoweringException("operand " + region.buffer().name() + " is no matrix");
      }
      return new Operand(region, tile.get(0), tile.get(1));
    }

    Buffer buffer() {
      return region.buffer();
    }

    /** What comes before rows and columns. */
    Expr stage() {
      return region.ranges().getFirst().min();
    }
  }

  Stmt product(Stmt.TileMma mma) {
    if (!WarpgroupInstruction.isNamedBy(mma)) {
      throw new LoweringException(
          "the GEMM into " + mma.c().buffer().name() + " names no warpgroup instruction");
    }
    WarpgroupInstruction instruction = WarpgroupInstruction.of(mma, team.groups());
    Operand a = Operand.of(mma.a());
    Operand b = Operand.of(mma.b());
    boolean mnMajorA = instruction.mnMajorA();
    boolean mnMajorB = instruction.mnMajorB();
    long depth = Guards.extent(mnMajorA ? a.rows() : a.columns());
    long depthOfB = Guards.extent(mnMajorB ? b.rows() : b.columns());
    if (!mma.c().equals(Region.whole(mma.c().buffer()))
        || depth != depthOfB
        || depth % instruction.depth() != 0
        || Guards.extent(mnMajorA ? a.columns() : a.rows()) != mma.c().buffer().extent(0)
        || Guards.extent(mnMajorB ? b.columns() : b.rows()) != instruction.columns()) {
      throw new LoweringException(
          "the operands of the GEMM into " + mma.c().buffer().name() + " do not fit");
    }
    Buffer acc = code.registers(mma.c().buffer());
    Expr later = fills.later(mma);
    return Stmts.loop(
        ForKind.UNROLLED,
        "kk",
        depth / instruction.depth(),
        kk ->
            Stmts.loop(
                ForKind.UNROLLED,
                "x",
                instruction.rowTiles(),
                x ->
                    Exprs.evaluate(
                        instruction.intrinsic(),
                        new Expr.AddressOf(
                            acc, List.of(Exprs.mul(x, instruction.elementsPerRowTile()))),
                        a.buffer().scope() == Scope.FRAGMENT
                            ? inRegisters(a, instruction.depth(), kk)
                            : address(a, mma, instruction, mnMajorA, row(instruction, x), kk),
                        address(b, mma, instruction, mnMajorB, Exprs.i32(0), kk),
                        adds(later, kk))));
  }

  /** The first of the warpgroup's rows. */
  private Expr row(WarpgroupInstruction instruction, Expr x) {
    Expr tile = Exprs.add(Exprs.mul(team.part(), instruction.rowTiles()), x);
    return Exprs.mul(tile, WarpgroupInstruction.ROWS);
  }

  private static Expr adds(@Nullable Expr later, Expr kk) {
    return later == null
        ? Exprs.i32(1)
        : Exprs.cast(DType.I32, Exprs.fold(BinaryOp.GT, Exprs.add(later, kk), Exprs.i32(0)));
  }

  /** A step of K of a fragment is four registers. */
  private Expr inRegisters(Operand a, int step, Expr kk) {
    Expr first = a.columns().min();
    if (!a.rows().equals(Range.of(a.buffer().extent(0))) || !CopyLowering.multipleOf(first, step)) {
      throw new LoweringException(
          "fragment " + a.buffer().name() + " is no operand from column " + first + " on");
    }
    Expr number = Exprs.add(Exprs.div(first, step), kk);
    return new Expr.AddressOf(
        packed.registers(a.buffer()), List.of(Exprs.mul(number, WgmmaGemm.A_REGISTERS)));
  }

  /**
   * The address of an operand's part in shared memory.
   *
   * @param across whether it is stored with its rows or columns, not K, contiguous
   * @param first of its rows or columns, that of the product
   */
  private Expr address(
      Operand operand,
      Stmt.TileMma mma,
      WarpgroupInstruction instruction,
      boolean across,
      Expr first,
      Expr kk) {
    OperandRing ring = rings.get(operand.buffer());
    DType wanted = instruction.intrinsic().operands().get(2).dtype();
    if (ring == null || ring.tile().dtype() != wanted) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "operand %s of the GEMM into %s is no tile of %s that a pipe brings",
              operand.buffer().name(),
              mma.c().buffer().name(),
              wanted));
    }
    Expr k = Exprs.mul(kk, instruction.depth());
    Expr row = Exprs.add(operand.rows().min(), across ? k : first);
    Expr column = Exprs.add(operand.columns().min(), across ? first : k);
    return new Expr.AddressOf(ring.ring(), ring.indices(operand.stage(), row, column));
  }
}
