package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.copy.TransposedCopy;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * When transposed tiles are loaded ahead, and how many steps: LoweringTest sees that they are right
 * then.
 */
class CopyingThreadsTest {
  private static final Buffer MATRIX = Buffer.of("B", DType.F32, Scope.GLOBAL, 256, 128);

  /**
   * The code of a loop over steps whose tiles threads transpose.
   *
   * @param step the number in the matrix of the step in a loop
   * @param around what becomes of a loop's body
   */
  private static String code(
      int registers, Set<Buffer> written, UnaryOperator<Expr> step, UnaryOperator<Stmt> around) {
    Buffer tile = Buffer.of("Bs", DType.F32, Scope.SHARED, 32, 64);
    Buffer ring = SwizzledTile.ring(Objects.requireNonNull(SwizzledTile.transposed(tile)), 2);
    Stmt loop =
        Stmts.loop(
            ForKind.SERIAL,
            "k",
            8,
            k ->
                around.apply(
                    new Stmt.TileCopy(
                        new Region(
                            ring, List.of(Range.at(Exprs.mod(k, 2)), Range.of(32), Range.of(64))),
                        new Region(
                            MATRIX,
                            List.of(
                                new Range(Exprs.mul(step.apply(k), 32), Exprs.i32(32)),
                                new Range(Exprs.i32(0), Exprs.i32(64)))),
                        Attrs.NONE.with(ChooseMovement.BY, TransposedCopy.TRANSPOSED))));
    CopyingThreads threads =
        new CopyingThreads(
            Map.of(ring, SwizzledTile.operands(ring)), Var.index("t"), 128, registers, written);
    return IrPrinter.text(threads.lowered(loop));
  }

  private static boolean isAhead(String code) {
    assertThat(code).contains("Bs_next[");
    return code.indexOf("Bs_next[") < code.indexOf("for k");
  }

  /** A step takes 18 registers. Of eight, two at a time leave none over, three leave some. */
  @ParameterizedTest
  @CsvSource({"56, 1", "72, 2", "152, 3"})
  void tilesAreLoadedAhead(int registers, int steps) {
    String code = code(registers, Set.of(), k -> k, body -> body);
    assertThat(isAhead(code)).isTrue();
    assertThat(code.split("alloc Bs_next", -1)).as(code).hasSize(steps + 1);
    assertThat(code.split("min\\(k(_[12])? \\+ " + steps + ", 7\\)", -1))
        .as(code)
        .hasSize(steps + 1);
    assertThat(code.split("if k_[12] < 8", -1)).as(code).hasSize(steps == 3 ? 3 : 1);
  }

  @Test
  void notIfRegistersHoldNoStep() {
    assertThat(isAhead(code(40, Set.of(), k -> k, body -> body))).isFalse();
  }

  @Test
  void notWhatTheKernelWrites() {
    assertThat(isAhead(code(152, Set.of(MATRIX), k -> k, body -> body))).isFalse();
  }

  @Test
  void notAheadOfAWaitForTheLaunchBefore() {
    UnaryOperator<Stmt> waiting =
        body -> Stmts.seq(Exprs.evaluate(HopperIntrinsics.AWAIT_PREVIOUS), body);
    assertThat(isAhead(code(152, Set.of(), k -> k, waiting))).isFalse();
  }

  @Test
  void notWhatIsKnownOnlyInAStep() {
    Var looked = Var.index("looked");
    UnaryOperator<Stmt> looking = body -> new Stmt.Let(looked, Exprs.i32(3), body);
    assertThat(isAhead(code(152, Set.of(), k -> looked, looking))).isFalse();
  }
}
