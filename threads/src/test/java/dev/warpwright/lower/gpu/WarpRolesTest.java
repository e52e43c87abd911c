package dev.warpwright.lower.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Registers move from the threads that copy to those that multiply, and never more than exist. */
final class WarpRolesTest {
  /** The number of registers that a program changes to; those of a launch if it does not. */
  private static int registers(Stmt branch, Intrinsic change, int entry) {
    AtomicInteger registers = new AtomicInteger(entry);
    Walk.statements(
        branch,
        s -> {
          if (s instanceof Stmt.Evaluate(Expr.Call call) && call.op() == change) {
            registers.set((int) ((Expr.IntImm) call.args().getFirst()).value());
          }
        });
    return registers.get();
  }

  private static Stmt branch(WarpRoles roles) {
    return roles.branch(Var.index("tid"), Stmts.seq(), Stmts.seq(), thread -> Stmts.seq());
  }

  /** What ptxas gives each thread under these launch bounds: as tried with CUDA 13.0. */
  @ParameterizedTest
  @CsvSource({"2,1,168", "2,2,80", "2,3,56", "3,1,128", "3,2,64", "4,1,96", "4,2,48"})
  void neitherRoleHasRegistersThatTheLaunchDoesNotGive(int consumers, int minBlocks, int entry) {
    for (WarpRoles.Producer kind : WarpRoles.Producer.values()) {
      for (int accumulators = 2; accumulators <= 256; accumulators += 2) {
        WarpRoles roles = new WarpRoles(consumers, minBlocks, accumulators, kind);
        Stmt branch = branch(roles);
        int producer = registers(branch, HopperIntrinsics.SETMAXNREG_DEC, entry);
        int consumer = registers(branch, HopperIntrinsics.SETMAXNREG_INC, entry);
        String what = roles + ": " + producer + " and " + consumer;
        assertThat(producer).as(what).isBetween(24, entry);
        assertThat(consumer).as(what).isBetween(entry, 240);
        assertThat((producer + consumers * consumer) * 128 * minBlocks)
            .as(what)
            .isLessThanOrEqualTo(GpuTarget.REGISTERS_PER_SM);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 24})
  void whereEachHasEnoughNothingMoves(int accumulators) {
    Stmt branch = branch(new WarpRoles(2, 2, accumulators, WarpRoles.Producer.COPYING));
    assertThat(registers(branch, HopperIntrinsics.SETMAXNREG_DEC, -1)).isEqualTo(-1);
    assertThat(registers(branch, HopperIntrinsics.SETMAXNREG_INC, -1)).isEqualTo(-1);
  }
}
