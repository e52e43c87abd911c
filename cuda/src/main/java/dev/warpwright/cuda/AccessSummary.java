package dev.warpwright.cuda;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Intrinsic.Access;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a kernel does to its buffers and variables, as far as their declarations need to know.
 *
 * @param written buffers that it writes
 * @param vectorAccessed buffers that it reads or writes by vectors, or whose elements share
 *     registers of instructions
 * @param used variables that it mentions
 * @param functions names of the CUDA functions of its intrinsics
 */
record AccessSummary(
    Set<Buffer> written, Set<Buffer> vectorAccessed, Set<Var> used, Set<String> functions) {

  private static final int REGISTER_BYTES = 4;

  static AccessSummary of(Kernel kernel) {
    AccessSummary summary =
        new AccessSummary(new HashSet<>(), new HashSet<>(), new HashSet<>(), new HashSet<>());
    Walk.all(kernel.body(), summary::note, summary::note);
    return summary;
  }

  boolean writes(Buffer buffer) {
    return written.contains(buffer);
  }

  boolean isVectorAccessed(Buffer buffer) {
    return vectorAccessed.contains(buffer);
  }

  boolean uses(Var var) {
    return used.contains(var);
  }

  private void note(Stmt s) {
    if (s instanceof Stmt.Store store) {
      written.add(store.buffer());
      if (!store.value().type().isScalar()) {
        vectorAccessed.add(store.buffer());
      }
    }
  }

  private void note(Expr e) {
    switch (e) {
      case Var v -> used.add(v);
      case Expr.Load l when !l.type().isScalar() -> vectorAccessed.add(l.buffer());
      case Expr.Call c when c.op() instanceof Intrinsic intrinsic -> {
        if (intrinsic instanceof TargetIntrinsic target) {
          functions.add(target.function());
          functions.add(target.guardedFunction());
        }
        noteOperands(intrinsic, c.args());
      }
      default -> {}
    }
  }

  private void noteOperands(Intrinsic intrinsic, List<Expr> args) {
    List<Intrinsic.Operand> operands = intrinsic.operands();
    if (operands.size() != args.size()) {
      throw new IllegalArgumentException(
          intrinsic.text() + " takes " + operands.size() + " operands, not " + args.size());
    }
    for (int i = 0; i < args.size(); i++) {
      Access access = operands.get(i).access();
      // The matrix that a bulk store writes to is no operand of the instruction: its map is.
      boolean mapped = HopperIntrinsics.isTmaStore(intrinsic) && i == 0;
      if (args.get(i) instanceof Expr.AddressOf a
          && (access == Access.WRITE || access == Access.READ_WRITE || mapped)) {
        written.add(a.buffer());
      }
      if (args.get(i) instanceof Expr.AddressOf(Buffer buffer, var _)
          && buffer.scope() == Scope.LOCAL
          && buffer.dtype().bytes() < REGISTER_BYTES) {
        // Instructions take registers, in which such elements lie by twos.
        vectorAccessed.add(buffer);
      }
    }
  }
}
