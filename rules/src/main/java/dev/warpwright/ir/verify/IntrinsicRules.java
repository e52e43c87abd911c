package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.verify.Verifier.Findings;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Calls of intrinsics: operands, and that the threads of a collective call are together. */
final class IntrinsicRules {
  private final Findings findings;
  private final @Nullable Convergence convergence;
  private final boolean host;

  /** Whether layouts are those of the hardware already; in tile programs, panels are one matrix. */
  private final boolean threads;

  /**
   * Rules.
   *
   * @param kernel in whose threads the calls are; null above the Kernel level
   */
  IntrinsicRules(Findings findings, @Nullable Kernel kernel) {
    this.findings = findings;
    this.convergence =
        kernel == null || kernel.kind() == Kernel.Kind.HOST ? null : new Convergence(kernel);
    this.host = kernel != null && kernel.kind() == Kernel.Kind.HOST;
    this.threads = kernel != null;
  }

  void check(Expr.Call call, Intrinsic intrinsic, Place place) {
    String name = intrinsic.text();
    if (host) {
      wrong(call, name + " does not run in a host kernel");
    }
    List<Intrinsic.Operand> operands = intrinsic.operands();
    if (call.args().size() != operands.size()) {
      wrong(call, name + " takes " + operands.size() + " operands, not " + call.args().size());
      return;
    }
    boolean fit = true;
    for (int i = 0; i < operands.size(); i++) {
      fit &= operand(call.args().get(i), operands.get(i), name, place);
    }
    String problem = fit && threads ? intrinsic.problem(call) : null;
    if (problem != null) {
      wrong(call, problem);
    }
    Type result = intrinsic.result();
    if (result != null && !result.equals(call.type())) {
      wrong(call, name + " gives " + result + ", not " + call.type());
    }
    if (convergence != null) {
      for (Place.Parting parting : place.parting()) {
        if (convergence.parts(intrinsic, parting, place)) {
          findings.add(
              Rule.CONVERGENCE,
              call,
              "the threads that execute "
                  + name
                  + " together part before it, at "
                  + IrPrinter.text(parting.condition()));
        }
      }
    }
  }

  private void wrong(Object node, String message) {
    findings.add(Rule.INTRINSICS, node, message);
  }

  /** Whether an argument is of the operand's kind and type. */
  private boolean operand(Expr arg, Intrinsic.Operand operand, String name, Place place) {
    String what = "operand '" + operand.name() + "' of " + name;
    if (!operand.isAddress()) {
      DType dtype = operand.dtype();
      if (arg instanceof Expr.AddressOf) {
        wrong(arg, what + " is a value, not an address");
        return false;
      }
      if (!arg.type().isScalar() || (dtype != null && arg.type().dtype() != dtype)) {
        wrong(arg, what + " is of type " + dtype + ", not " + arg.type());
        return false;
      }
      return true;
    }
    if (!(arg instanceof Expr.AddressOf address)) {
      wrong(arg, what + " is an address, not a value of type " + arg.type());
      return false;
    }
    Buffer buffer = address.buffer();
    boolean fits = true;
    // What other blocks of the cluster see, too, is the block's own shared memory.
    Scope own = buffer.scope() == Scope.SHARED_CLUSTER ? Scope.SHARED : buffer.scope();
    if (!operand.scopes().contains(buffer.scope()) && !operand.scopes().contains(own)) {
      fits = false;
      wrong(arg, what + " points into " + operand.scopes() + ", not " + buffer.scope() + " memory");
    }
    DType dtype = operand.dtype();
    if (dtype != null && buffer.dtype() != dtype) {
      fits = false;
      wrong(arg, what + " points at " + dtype + ", not " + buffer.dtype());
    }
    // Without an element type the elements are bytes.
    long bytes = (long) operand.elements() * (dtype == null ? 1 : dtype.bytes());
    if (operand.access() != Intrinsic.Access.NONE
        && buffer.hasConstantShape()
        && buffer.layout() == null) {
      Expr last = address.indices().isEmpty() ? null : address.indices().getLast();
      long rest = buffer.storageElements();
      if (last != null && buffer.rank() == 1) {
        rest -= Math.max(0, place.bounds().of(last).min());
      }
      if (rest * buffer.dtype().bytes() < bytes) {
        findings.add(
            Rule.IN_BOUNDS,
            arg,
            String.format(
                Locale.ROOT,
                "%s covers %d bytes of '%s', which has %d there",
                what,
                bytes,
                buffer.name(),
                rest * buffer.dtype().bytes()));
      }
    }
    return fits;
  }
}
