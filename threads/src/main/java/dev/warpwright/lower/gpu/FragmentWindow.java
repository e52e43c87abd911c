package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Columns of a fragment that a map over a narrower one goes over: accumulators of some columns of a
 * layer are packed into those of the next product's operand.
 *
 * <pre>{@code
 * unroll j in 2 { … tile.map (r in 64, c in 128) { h[r, j * 128 + c] = f(acc[r, c]) } }
 * }</pre>
 *
 * <p>A thread holds the same elements of each 8 columns, so a window is the thread's registers from
 * one on.
 */
public final class FragmentWindow {
  private FragmentWindow() {}

  /** The window's first column; null where the indices are the map's own point, or another's. */
  public static @Nullable Expr first(Stmt.TileMap map, Buffer buffer, List<Expr> indices) {
    boolean known = map.vars().size() == 2 && map.extents().get(1) instanceof Expr.IntImm;
    return known
        ? first(map.vars(), ((Expr.IntImm) map.extents().get(1)).value(), buffer, indices)
        : null;
  }

  /**
   * The same of points.
   *
   * @param columns of the points
   */
  public static @Nullable Expr first(
      List<Var> vars, long columns, Buffer buffer, List<Expr> indices) {
    if (vars.size() != 2 || indices.size() != 2 || indices.get(0) != vars.get(0)) {
      return null;
    }
    Var column = vars.get(1);
    if (indices.get(1) == column) {
      return buffer.extent(1) > columns ? Exprs.i32(0) : null;
    }
    if (!(indices.get(1) instanceof Expr.Binary(BinaryOp op, Expr a, Expr b))
        || op != BinaryOp.ADD) {
      return null;
    }
    Expr first = b == column ? a : a == column ? b : null;
    return first == null || mentionsPoint(vars, first) ? null : first;
  }

  private static boolean mentionsPoint(List<Var> vars, Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, inner -> found[0] |= inner instanceof Var v && vars.contains(v));
    return found[0];
  }

  /** The fragments of which a map uses one window, each with the window's first column. */
  static Map<Buffer, Expr> of(Stmt.TileMap map) {
    Map<Buffer, Set<Expr>> windows = new HashMap<>();
    Walk.all(
        map,
        s -> {
          if (s instanceof Stmt.Store store) {
            add(map, store.buffer(), store.indices(), windows);
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            add(map, load.buffer(), load.indices(), windows);
          }
        });
    Map<Buffer, Expr> result = new HashMap<>();
    windows.forEach(
        (buffer, first) -> {
          // Two are the groups of a halved map.
          if (first.size() == 1) {
            result.put(buffer, first.iterator().next());
          }
        });
    return result;
  }

  private static void add(
      Stmt.TileMap map, Buffer buffer, List<Expr> indices, Map<Buffer, Set<Expr>> windows) {
    Expr first = buffer.scope() == Scope.FRAGMENT ? first(map, buffer, indices) : null;
    if (first != null) {
      windows.computeIfAbsent(buffer, b -> new HashSet<>()).add(first);
    }
  }

  /** The fragments that a map uses at its own point. */
  public static Set<Buffer> others(Stmt.TileMap map) {
    Set<Buffer> fragments = new LinkedHashSet<>(FragmentInference.fragments(map));
    fragments.removeAll(of(map).keySet());
    return fragments;
  }

  /** The layout of a fragment of so many columns, of which one with this layout is a window. */
  static FragmentLayout around(FragmentLayout window, Buffer fragment) {
    List<Digit> digits = new ArrayList<>(window.registerDigits());
    int last = outermost(fragment, window);
    Digit columns = digits.get(last);
    if (fragment.extent(0) != window.rows() || fragment.extent(1) % columns.colStep() != 0) {
      throw refusal(fragment);
    }
    digits.set(last, new Digit(fragment.extent(1) / columns.colStep(), 0, columns.colStep()));
    List<Digit> threads = new ArrayList<>(window.threadDigits());
    threads.replaceAll(
        d ->
            d.extent() == 1 && d.colStep() == window.cols()
                ? new Digit(1, d.rowStep(), fragment.extent(1))
                : d);
    return new FragmentLayout(fragment.extent(0), fragment.extent(1), threads, digits);
  }

  /**
   * The fragment's register of what is in a window's.
   *
   * @param layout of the fragment
   * @param window the layout of the fragments at the map's own point
   * @param first column of the window
   * @param register of the window
   */
  public static Expr register(
      Buffer fragment, FragmentLayout layout, FragmentLayout window, Expr first, Expr register) {
    int last = outermost(fragment, layout);
    Digit all = layout.registerDigits().get(last);
    Digit some = window.registerDigits().get(outermost(fragment, window));
    if (some.colStep() != all.colStep()
        || !CopyLowering.multipleOf(first, Math.toIntExact(all.colStep()))) {
      throw refusal(fragment);
    }
    long inner = count(layout.registerDigits().subList(0, last));
    Expr before = Exprs.mul(Exprs.div(first, all.colStep()), inner);
    if (count(layout.registerDigits().subList(last + 1, layout.registerDigits().size())) == 1) {
      return Exprs.add(register, before);
    }
    // What is further out than columns, tiles of rows, lies further apart.
    long columns = inner * some.extent();
    Expr outer = Exprs.mul(Exprs.div(register, columns), inner * all.extent());
    return Exprs.add(Exprs.add(outer, before), Exprs.mod(register, columns));
  }

  private static long count(List<Digit> digits) {
    return digits.stream().mapToLong(Digit::extent).reduce(1, Math::multiplyExact);
  }

  /** The digit of the registers that tells the most distant columns. */
  private static int outermost(Buffer fragment, FragmentLayout layout) {
    for (int d = layout.registerDigits().size() - 1; d >= 0; d--) {
      Digit digit = layout.registerDigits().get(d);
      if (digit.colStep() != 0 && digit.colStep() * digit.extent() == layout.cols()) {
        return d;
      }
    }
    throw refusal(fragment);
  }

  private static LoweringException refusal(Buffer fragment) {
    return new LoweringException(
        "the columns of fragment "
            + fragment.name()
            + " that a map uses are not a window of its registers");
  }
}
