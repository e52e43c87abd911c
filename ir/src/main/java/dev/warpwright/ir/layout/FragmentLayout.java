package dev.warpwright.ir.layout;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import java.util.List;

/**
 * How a two-dimensional tile is spread over the registers of threads: thread {@code t} holds in its
 * register {@code r} the element (row, column), where t and r are mixed-radix numbers of {@link
 * Digit}s, fastest first, and each digit moves the row and the column. A thread digit that moves
 * neither replicates. Threads at or above {@link #threads()} hold nothing.
 *
 * @param rows extent of the tile
 * @param cols extent of the tile
 */
public record FragmentLayout(
    long rows, long cols, List<Digit> threadDigits, List<Digit> registerDigits) {
  /** One digit: {@code extent} values, each step moves by so many rows and columns. */
  public record Digit(long extent, long rowStep, long colStep) {}

  public FragmentLayout {
    threadDigits = List.copyOf(threadDigits);
    registerDigits = List.copyOf(registerDigits);
  }

  /** Threads that hold elements. */
  public int threads() {
    return (int) threadDigits.stream().mapToLong(Digit::extent).reduce(1, Math::multiplyExact);
  }

  /** Elements that each thread holds. */
  public int registers() {
    return (int) registerDigits.stream().mapToLong(Digit::extent).reduce(1, Math::multiplyExact);
  }

  /** Row contribution of a thread. */
  public Expr rowOfThread(Expr thread) {
    return moved(thread, threadDigits, true);
  }

  /** Column contribution of a thread. */
  public Expr colOfThread(Expr thread) {
    return moved(thread, threadDigits, false);
  }

  private static Expr moved(Expr number, List<Digit> digits, boolean row) {
    Expr sum = Exprs.i32(0);
    long weight = 1;
    for (int i = 0; i < digits.size(); i++) {
      Digit digit = digits.get(i);
      long step = row ? digit.rowStep() : digit.colStep();
      if (step != 0 && digit.extent() > 1) {
        Expr value = Exprs.div(number, weight);
        if (i < digits.size() - 1) {
          value = Exprs.mod(value, digit.extent());
        }
        sum = Exprs.add(sum, Exprs.mul(value, step));
      }
      weight *= digit.extent();
    }
    return sum;
  }

  /** Row of an element. */
  public long row(int thread, int register) {
    return moved(thread, threadDigits, true) + moved(register, registerDigits, true);
  }

  /** Column of an element. */
  public long col(int thread, int register) {
    return moved(thread, threadDigits, false) + moved(register, registerDigits, false);
  }

  private static long moved(long number, List<Digit> digits, boolean row) {
    long sum = 0;
    for (Digit digit : digits) {
      sum += number % digit.extent() * (row ? digit.rowStep() : digit.colStep());
      number /= digit.extent();
    }
    return sum;
  }
}
