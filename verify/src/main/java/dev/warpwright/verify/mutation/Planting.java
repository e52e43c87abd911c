package dev.warpwright.verify.mutation;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.text.Printed;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Rewrites one place of a kernel at a time. */
final class Planting {
  private static final int MAX_STAGES = 8;

  private Planting() {}

  static List<Mutant> plant(Kernel kernel, Mutation mutation) {
    Function<Stmt, List<Stmt>> changes = mutation.changes().apply(kernel);
    Predicate<Stmt> definedAt = mutation.definedAt().apply(kernel);
    List<Stmt> statements = new ArrayList<>();
    List<List<Stmt>> variants = new ArrayList<>();
    new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        statements.add(s);
        variants.add(changes.apply(s));
        return super.stmt(s);
      }
    }.stmt(kernel.body());
    Printed printed = new IrPrinter().print(kernel);
    List<Mutant> mutants = new ArrayList<>();
    for (int place = 0; place < statements.size(); place++) {
      Stmt original = statements.get(place);
      if (variants.get(place).isEmpty()) {
        continue;
      }
      int line = printed.line(original).orElse(0);
      String text =
          line == 0
              ? IrPrinter.text(original).lines().findFirst().orElse("")
              : printed.text().lines().skip(line - 1L).findFirst().orElse("");
      Kernel trap = with(kernel, place, Stmts.seq(trap(), original));
      for (Stmt variant : variants.get(place)) {
        mutants.add(
            new Mutant(
                mutation,
                with(kernel, place, variant),
                line,
                text.strip(),
                definedAt.test(original),
                trap));
      }
    }
    return mutants;
  }

  /** A loop over nothing divided by zero: a finding wherever it is executed. */
  private static Stmt trap() {
    Var unused = new Var("trapped", Type.I32);
    return Stmt.For.of(
        ForKind.SERIAL,
        unused,
        new Expr.Binary(BinaryOp.DIV, Exprs.i32(0), Exprs.i32(0)),
        Stmt.Seq.EMPTY);
  }

  private static Kernel with(Kernel kernel, int place, Stmt replacement) {
    Stmt body =
        new Rewriter() {
          private int next;

          @Override
          public Stmt stmt(Stmt s) {
            return next++ == place ? replacement : super.stmt(s);
          }
        }.stmt(kernel.body());
    return kernel.withBody(body);
  }

  /** The statement with one of its own expressions changed, once for each change. */
  static List<Stmt> inExpressions(Stmt root, Function<Expr, @Nullable Expr> change) {
    List<Stmt> variants = new ArrayList<>();
    int places = new OneExpression(root, -1, change).count();
    for (int place = 0; place < places; place++) {
      OneExpression rewriter = new OneExpression(root, place, change);
      Stmt changed = rewriter.stmt(root);
      if (rewriter.changed) {
        variants.add(changed);
      }
    }
    return variants;
  }

  private static final class OneExpression extends Rewriter {
    private final Stmt root;
    private final int place;
    private final Function<Expr, @Nullable Expr> change;
    private int next;
    private boolean changed;

    OneExpression(Stmt root, int place, Function<Expr, @Nullable Expr> change) {
      this.root = root;
      this.place = place;
      this.change = change;
    }

    int count() {
      stmt(root);
      return next;
    }

    @Override
    public Stmt stmt(Stmt s) {
      return s == root ? super.stmt(s) : s;
    }

    @Override
    public Expr expr(Expr e) {
      if (next++ == place) {
        Expr other = change.apply(e);
        if (other != null) {
          changed = true;
          return other;
        }
      }
      return super.expr(e);
    }
  }

  /** Whether the statement is a call of one of these intrinsics, by the beginning of the name. */
  static Expr.@Nullable Call call(Stmt s, String... names) {
    if (s instanceof Stmt.Evaluate(Expr.Call call)) {
      for (String name : names) {
        if (call.op().text().startsWith(name)) {
          return call;
        }
      }
    }
    return null;
  }

  /** Calls of exactly this intrinsic are left out. */
  static Function<Stmt, List<Stmt>> without(String name) {
    return s -> isCall(s, name) ? List.of(Stmt.Seq.EMPTY) : List.of();
  }

  static boolean isCall(Stmt s, String name) {
    return s instanceof Stmt.Evaluate(Expr.Call call) && call.op().text().equals(name);
  }

  /** Calls of intrinsics whose name begins so have another argument. */
  static Function<Stmt, List<Stmt>> argument(
      String name, int index, Function<Expr, @Nullable Expr> change) {
    return s -> {
      Expr.Call call = call(s, name);
      if (call == null || index >= call.args().size()) {
        return List.of();
      }
      Expr changed = change.apply(call.args().get(index));
      return changed == null ? List.of() : List.of(withArgument(call, index, changed));
    };
  }

  static Stmt withArgument(Expr.Call call, int index, Expr argument) {
    List<Expr> args = new ArrayList<>(call.args());
    args.set(index, argument);
    return new Stmt.Evaluate(new Expr.Call(call.op(), args, call.type()));
  }

  /** The next stage of a ring in shared memory, for an address in one. */
  static @Nullable Expr nextStage(Expr e) {
    if (e instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices)
        && buffer.scope() == Scope.SHARED
        && buffer.hasConstantShape()
        && buffer.rank() > (buffer.dtype() == dev.warpwright.ir.type.DType.MBARRIER ? 0 : 2)
        && buffer.extent(0) > 1
        && buffer.extent(0) <= MAX_STAGES) {
      List<Expr> moved = new ArrayList<>(indices);
      moved.set(0, Exprs.mod(Exprs.add(indices.getFirst(), 1), buffer.extent(0)));
      return new Expr.AddressOf(buffer, moved);
    }
    return null;
  }

  /** Another constant for a constant argument. */
  static Function<Expr, @Nullable Expr> plus(long more) {
    return e ->
        e instanceof Expr.IntImm imm && imm.value() + more >= 0
            ? new Expr.IntImm(imm.type(), imm.value() + more)
            : null;
  }

  /** A first thread index of the kernel that is no block index, if there is one. */
  static @Nullable Var thread(Kernel kernel) {
    return kernel.bindings().stream()
        .filter(b -> !b.axis().isBlock())
        .map(b -> b.var())
        .findFirst()
        .orElse(null);
  }

  /** Statements that satisfy the condition are done by one thread of each warp only. */
  static Function<Kernel, Function<Stmt, List<Stmt>>> byOneThread(Predicate<Stmt> which) {
    return kernel -> {
      Var thread = thread(kernel);
      return s ->
          thread != null && which.test(s)
              ? List.of(Stmts.when(Exprs.eq(Exprs.mod(thread, 32), Exprs.i32(0)), s))
              : List.of();
    };
  }
}
