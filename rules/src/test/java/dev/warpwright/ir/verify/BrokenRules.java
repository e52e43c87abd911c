package dev.warpwright.ir.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A small table of intrinsics, and programs as text that break one rule. */
final class BrokenRules {
  private BrokenRules() {}

  private record Fake(
      String text, Collective collective, List<Operand> operands, @Nullable Type result)
      implements Intrinsic {
    @Override
    public boolean isBarrier() {
      return operands.isEmpty();
    }

    @Override
    public @Nullable String problem(Expr.Call call) {
      return text.equals("budget") && Exprs.isConst(call.args().getFirst(), 7)
          ? "budget takes no 7"
          : null;
    }
  }

  private static Intrinsic.Operand address(
      String name, @Nullable DType dtype, Scope scope, Intrinsic.Access access, int elements) {
    return new Intrinsic.Operand(name, dtype, Set.of(scope), access, elements);
  }

  private static Intrinsic.Operand value(String name) {
    return new Intrinsic.Operand(name, DType.I32, Set.of(), Intrinsic.Access.NONE, 1);
  }

  private static final Map<String, Intrinsic> TABLE =
      Map.of(
          "sync", new Fake("sync", Intrinsic.Collective.BLOCK, List.of(), null),
          "group", new Fake("group", Intrinsic.Collective.WARPGROUP, List.of(), null),
          "budget", new Fake("budget", Intrinsic.Collective.WARPGROUP, List.of(value("n")), null),
          "sync.named",
              new Fake("sync.named", Intrinsic.Collective.BLOCK, List.of(value("threads")), null),
          "ldmatrix",
              new Fake(
                  "ldmatrix",
                  Intrinsic.Collective.WARP,
                  List.of(
                      address("dst", DType.U32, Scope.LOCAL, Intrinsic.Access.WRITE, 4),
                      address("row", null, Scope.SHARED, Intrinsic.Access.READ, 16)),
                  null),
          "ticket", new Fake("ticket", Intrinsic.Collective.THREAD, List.of(value("n")), Type.I32));

  static final IrParser PARSER = new IrParser(name -> Optional.ofNullable(TABLE.get(name)));

  static void expect(List<Problem> problems, Rule rule, String message) {
    assertThat(problems).extracting(Problem::rule).containsOnly(rule);
    assertThat(problems.getFirst().message()).contains(message);
  }

  static void primFunc(String text, Rule rule, String message) {
    expect(Verifier.verify(PARSER.primFunc("test", text)), rule, message);
  }

  static void kernel(String text, Rule rule, String message) {
    expect(Verifier.verify(PARSER.kernel("test", text)), rule, message);
  }

  static void program(String text, Rule rule, String message) {
    expect(Verifier.verify(PARSER.program("test", text)), rule, message);
  }

  static void valid(String kernel) {
    assertThat(Verifier.verify(PARSER.kernel("test", kernel))).isEmpty();
  }

  static PrimFunc function(List<Buffer> params, Stmt body) {
    return new PrimFunc("f", List.copyOf(params), body, Attrs.NONE);
  }
}
