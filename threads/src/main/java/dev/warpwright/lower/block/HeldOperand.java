package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.gpu.MmaInstruction;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The first operand of a product by {@code mma.sync} that its warps hold already: a fragment with
 * the layout of accumulators, of which 16 columns are what one instruction of a depth of 16 takes.
 *
 * <pre>{@code
 * tile.map p[i, j] = bf16(s[i, j])            p[0] = bf16(s[0]) …
 * tile.mma o += p * Vs                    →   a[0] = u32(p[0], p[1]) …
 *                                             ldmatrix.x4.trans(&b[0], &Vs[…]); mma.sync(&o[…], &a[0], &b[0]) …
 * }</pre>
 */
record HeldOperand(Buffer registers, MmaInstruction instruction, long tilesK) {
  /** Elements in a register. */
  private static final int PAIR = 2;

  /**
   * The operand of a product; null if it lies in shared memory.
   *
   * @param sums how the accumulators are held
   * @throws LoweringException if its elements are not where the instruction wants them
   */
  static @Nullable HeldOperand of(
      Stmt.TileMma mma, MmaInstruction instruction, FragmentLayout sums, ThreadCode code) {
    Buffer a = mma.a().buffer();
    if (a.scope() != Scope.FRAGMENT) {
      return null;
    }
    FragmentLayout layout = code.layout(a);
    boolean fits =
        a.dtype() == instruction.operand()
            && a.dtype().bytes() == 2
            && mma.a().equals(Region.whole(a))
            && layout.rows() == sums.rows()
            && layout.registerDigits().size() == 4
            && layout.threadDigits().get(2).equals(sums.threadDigits().get(2))
            && layout.threadDigits().get(3).extent() == 1
            && sums.threadDigits().get(3).extent() == 1;
    if (!fits) {
      throw new LoweringException(
          "the GEMM into "
              + mma.c().buffer().name()
              + " needs "
              + a.name()
              + " whole, as "
              + instruction.operand()
              + ", its rows in the warps of the result's");
    }
    return new HeldOperand(code.registers(a), instruction, layout.registerDigits().get(2).extent());
  }

  /** The registers of 16 rows for one step along K. */
  Stmt load(Buffer to, Expr rowTile, Expr step) {
    int count = instruction.aRegisters();
    Expr first =
        Exprs.add(Exprs.mul(rowTile, 2L * PAIR * tilesK), Exprs.mul(step, (long) PAIR * count));
    return Stmts.loop(
        ForKind.UNROLLED,
        "r",
        count,
        r -> {
          List<Expr> at = ThreadCode.ramped(List.of(Exprs.add(first, Exprs.mul(r, PAIR))), PAIR);
          return new Stmt.Store(
              to,
              List.of(Exprs.add(Exprs.mul(rowTile, count), r)),
              new Expr.Bitcast(Type.U32, new Expr.Load(registers, at)));
        });
  }
}
