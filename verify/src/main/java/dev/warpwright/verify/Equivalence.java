package dev.warpwright.verify;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Why a mutant without findings and with the same results may be as good as the original: what
 * differs between the two texts decides it, and what has to hold then is tried.
 */
public enum Equivalence {
  /** Nothing but barriers, waits, fences, arrivals and the order of counters differs. */
  ORDER(
      "only order is lost that other barriers and waits give too",
      "The two kernels are the same but for barriers, waits, fences, arrivals, commits and the"
          + " order of counters, so every thread accesses the same elements. Pairs of accesses that"
          + " nothing orders are reported in whatever order they happen; none is, in the usual"
          + " orders and in four more at random."),
  /** Only the layouts of buffers differ. */
  LAYOUT(
      "only banks change",
      "The two kernels are the same but for the layouts of their buffers, and access them by"
          + " coordinates: elements lie elsewhere in shared memory, in other banks."),
  /** Values differ that nothing depends on. */
  VALUES(
      "no result depends on it",
      "Indices, predicates or values differ. On four more sets of random data, too, there are no"
          + " findings, and every result has the same bits as the original's: what differs is"
          + " padding, is written again, or is the same value. The same was tried at other shapes,"
          + " which differ in tails, stages and divisibility, at most three: those that the kernel"
          + " takes, where it has such a statement (the same one of as many, else the first like"
          + " it) and executes it. With how many mutants that was done stands below; where it was"
          + " not, one shape is all that is known.");

  /** How many sets of data, or orders, are tried beside the usual ones. */
  static final int MORE = 4;

  private static final Pattern LAYOUT_TEXT = Pattern.compile(" layout \\([^ ]*| align \\d+");

  private static final Set<String> ORDERING =
      Set.of(
          "cluster.sync",
          "cluster.sync.relaxed",
          "bulk.commit",
          "bulk.wait",
          "bulk.wait.read",
          "wgmma.fence",
          "wgmma.commit",
          "wgmma.wait");

  private final String text;
  private final String rule;

  Equivalence(String text, String rule) {
    this.text = text;
    this.rule = rule;
  }

  /** In a few words. */
  public String text() {
    return text;
  }

  /** What has to hold, in full. */
  public String rule() {
    return rule;
  }

  /** What differs between a kernel and a mutant of it. */
  static Equivalence between(Kernel kernel, Kernel mutant) {
    String one = IrPrinter.text(kernel);
    String other = IrPrinter.text(mutant);
    if (LAYOUT_TEXT.matcher(one).replaceAll("").equals(LAYOUT_TEXT.matcher(other).replaceAll(""))) {
      return LAYOUT;
    }
    return withoutOrder(kernel).equals(withoutOrder(mutant)) ? ORDER : VALUES;
  }

  /** The text without what only orders accesses. */
  private static String withoutOrder(Kernel kernel) {
    Stmt body =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (s instanceof Stmt.Evaluate(Expr.Call call)) {
              if (call.op() == CounterIntrinsics.RED_RELEASE
                  && call.args().getFirst() instanceof Expr.AddressOf(var buffer, var indices)) {
                return new Stmt.Store(
                    buffer,
                    indices,
                    new Expr.Binary(
                        BinaryOp.ADD, new Expr.Load(buffer, indices), call.args().get(1)));
              }
              if (call.op() instanceof TargetIntrinsic op && orders(op)) {
                return Stmt.Seq.EMPTY;
              }
            }
            Stmt rest = super.stmt(s);
            return rest instanceof Stmt.If(_, var then, var otherwise)
                    && isEmpty(then)
                    && (otherwise == null || isEmpty(otherwise))
                ? Stmt.Seq.EMPTY
                : rest;
          }

          @Override
          public Expr expr(Expr e) {
            return e instanceof Expr.Call call
                    && call.op() == CounterIntrinsics.LOAD_ACQUIRE
                    && call.args().getFirst() instanceof Expr.AddressOf(var buffer, var indices)
                ? new Expr.Load(buffer, indices)
                : super.expr(e);
          }
        }.stmt(kernel.body());
    return IrPrinter.text(kernel.withBody(body));
  }

  private static boolean isEmpty(Stmt s) {
    return s instanceof Stmt.Seq seq && seq.stmts().stream().allMatch(Equivalence::isEmpty);
  }

  private static boolean orders(TargetIntrinsic op) {
    return switch (op.effect()) {
      case TargetIntrinsic.Computes _ -> false;
      case TargetIntrinsic.Synchronises _ -> true;
      case TargetIntrinsic.Drives(var unit) ->
          switch (unit) {
            case MBARRIER, NAMED_BARRIER, REGISTER_FILE, PROXY, LAUNCHES -> true;
            case BULK_COPY, WARPGROUP_MMA, CLUSTER -> ORDERING.contains(op.text());
            case COUNTER, CLOCK, CACHE -> false;
          };
    };
  }
}
