package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * What the lowering of every tile statement shares: the thread, the layouts and the registers that
 * stand for fragments.
 */
public final class ThreadCode {
  /** No digit of a fragment's registers. */
  static final int NO_DIGIT = -1;

  private final Var thread;
  private final int threads;
  private final Map<Buffer, FragmentLayout> layouts;
  private final Map<Buffer, Buffer> registers = new HashMap<>();
  private final Map<Buffer, Buffer> turned = new HashMap<>();

  public ThreadCode(Var thread, int threads, Map<Buffer, FragmentLayout> layouts) {
    this.thread = thread;
    this.threads = threads;
    this.layouts = layouts;
  }

  public Var thread() {
    return thread;
  }

  public int threads() {
    return threads;
  }

  public int warps() {
    return threads / 32;
  }

  public Expr lane() {
    return Exprs.mod(thread, 32);
  }

  public Expr warp() {
    return Exprs.div(thread, 32);
  }

  public FragmentLayout layout(Buffer fragment) {
    FragmentLayout layout = layouts.get(fragment);
    if (layout == null) {
      throw new LoweringException("fragment " + fragment.name() + " has no layout");
    }
    return layout;
  }

  /** The registers of one thread that hold its part of a fragment. */
  public Buffer registers(Buffer fragment) {
    return registers.computeIfAbsent(
        fragment, f -> Buffer.of(f.name(), f.dtype(), Scope.LOCAL, layout(f).registers()));
  }

  /** A value in all registers of a fragment. */
  public Stmt fill(Buffer fragment, Expr value) {
    Buffer all = registers(fragment);
    return Stmts.loop(
        ForKind.UNROLLED, "r", all.extent(0), r -> new Stmt.Store(all, List.of(r), value));
  }

  /** The same elements of an M-major tile by columns and rows, so that a vector is of rows. */
  Buffer turned(Buffer tile) {
    return turned.computeIfAbsent(tile, MMajor::turned);
  }

  /** By M-major tile, what stands for it in the code. */
  public Map<Buffer, Buffer> turned() {
    return turned;
  }

  /** Runs {@code body} on the threads below {@code used} only. */
  public Stmt onThreads(int used, Stmt body) {
    return used >= threads ? body : new Stmt.If(Exprs.lt(thread, Exprs.i32(used)), body, null);
  }

  /**
   * Spreads {@code count} pieces of work over the threads, neighbouring pieces on neighbouring
   * threads.
   *
   * @param body code for the piece with this number
   */
  public Stmt spread(long count, Function<Expr, Stmt> body) {
    long rounds = Math.ceilDiv(count, threads);
    boolean even = count % threads == 0;
    return Stmts.loop(
        rounds <= 16 ? ForKind.UNROLLED : ForKind.SERIAL,
        "it",
        rounds,
        it -> {
          Var piece = Var.index("piece");
          Expr value = Exprs.add(Exprs.mul(it, threads), thread);
          Stmt inner = body.apply(piece);
          Stmt guarded = even ? inner : new Stmt.If(Exprs.lt(piece, Exprs.i32(count)), inner, null);
          return new Stmt.Let(piece, value, guarded);
        });
  }

  /** A visit of one run of registers that hold neighbouring columns of one row. */
  public record Run(Expr row, Expr col, Expr register, int length) {}

  /**
   * Visits every element that the thread holds, in runs of neighbouring columns.
   *
   * @param runs whether the innermost digit may be taken as one run, otherwise runs have length 1
   */
  public Stmt overFragment(FragmentLayout layout, boolean runs, Function<Run, Stmt> body) {
    Digit inner = layout.registerDigits().getFirst();
    boolean run = runs && inner.colStep() == 1 && inner.rowStep() == 0 && inner.extent() > 1;
    return overRuns(layout, run ? 0 : NO_DIGIT, body);
  }

  /**
   * Visits every element that the thread holds, those of one digit of its registers at once.
   *
   * @param digit whose elements are one run; {@link #NO_DIGIT} if each element is
   */
  Stmt overRuns(FragmentLayout layout, int digit, Function<Run, Stmt> body) {
    Var row0 = Var.index("row");
    Var col0 = Var.index("col");
    List<Digit> digits = layout.registerDigits();
    int length = digit == NO_DIGIT ? 1 : (int) digits.get(digit).extent();
    Run first = new Run(row0, col0, Exprs.i32(0), length);
    Stmt loops = digitLoops(digits, digits.size() - 1, digit, first, body);
    Stmt bound =
        new Stmt.Let(
            row0,
            layout.rowOfThread(thread),
            new Stmt.Let(col0, layout.colOfThread(thread), loops));
    return onThreads(layout.threads(), bound);
  }

  /** Registers from an element to the next of a digit. */
  static long registerStep(List<Digit> digits, int digit) {
    return digits.subList(0, digit).stream().mapToLong(Digit::extent).reduce(1, (a, b) -> a * b);
  }

  private static Stmt digitLoops(
      List<Digit> digits, int index, int atOnce, Run at, Function<Run, Stmt> body) {
    if (index < 0) {
      return body.apply(at);
    }
    if (index == atOnce) {
      return digitLoops(digits, index - 1, atOnce, at, body);
    }
    Digit digit = digits.get(index);
    long registerStep = registerStep(digits, index);
    return Stmts.loop(
        ForKind.UNROLLED,
        "r" + index,
        digit.extent(),
        value ->
            digitLoops(
                digits,
                index - 1,
                atOnce,
                new Run(
                    Exprs.add(at.row(), Exprs.mul(value, digit.rowStep())),
                    Exprs.add(at.col(), Exprs.mul(value, digit.colStep())),
                    Exprs.add(at.register(), Exprs.mul(value, registerStep)),
                    at.length()),
                body));
  }

  /** Moves {@code lanes} neighbouring elements in one access. */
  public static Stmt move(
      Buffer to, List<Expr> toIndices, Buffer from, List<Expr> fromIndices, int lanes) {
    return new Stmt.Store(
        to, ramped(toIndices, lanes), new Expr.Load(from, ramped(fromIndices, lanes)));
  }

  public static List<Expr> ramped(List<Expr> indices, int lanes) {
    if (lanes == 1) {
      return indices;
    }
    List<Expr> result = new java.util.ArrayList<>(indices);
    result.set(result.size() - 1, new Expr.Ramp(indices.getLast(), 1, lanes));
    return result;
  }

  /** Registers for {@code lanes} elements on their way, filled by the body. */
  public static Stmt withTemporary(
      String name, DType dtype, int lanes, Function<Buffer, Stmt> body) {
    Buffer temporary = Buffer.of(name, dtype, Scope.LOCAL, lanes);
    return new Stmt.Alloc(temporary, body.apply(temporary));
  }

  /** Whether a value is read from global memory. */
  public static boolean comesFromMemory(Expr value) {
    boolean[] found = {false};
    Walk.expressions(
        value,
        e -> found[0] |= e instanceof Expr.Load load && load.buffer().scope() == Scope.GLOBAL);
    return found[0];
  }

  /** Fills each element of a register array. */
  public static Stmt each(Buffer array, BiFunction<Expr, Type, Expr> value) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "v",
        array.extent(0),
        v -> new Stmt.Store(array, List.of(v), value.apply(v, Type.of(array.dtype()))));
  }
}
