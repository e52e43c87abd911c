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
  public static @Nullable Expr first(List<Var> vars, List<Expr> indices) {
    if (vars.size() != 2
        || indices.size() != 2
        || indices.get(0) != vars.get(0)
        || !(indices.get(1) instanceof Expr.Binary(BinaryOp op, Expr a, Expr b))
        || op != BinaryOp.ADD) {
      return null;
    }
    Var column = vars.get(1);
    Expr first = b == column ? a : a == column ? b : null;
    return first == null || mentionsPoint(vars, first) ? null : first;
  }

  private static boolean mentionsPoint(List<Var> vars, Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, inner -> found[0] |= inner instanceof Var v && vars.contains(v));
    return found[0];
  }

  /** The fragments of which a map uses a window, each with the window's first column. */
  static Map<Buffer, Expr> of(Stmt.TileMap map) {
    Map<Buffer, Expr> windows = new HashMap<>();
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
    return windows;
  }

  private static void add(
      Stmt.TileMap map, Buffer buffer, List<Expr> indices, Map<Buffer, Expr> windows) {
    Expr first = buffer.scope() == Scope.FRAGMENT ? first(map.vars(), indices) : null;
    if (first != null) {
      windows.put(buffer, first);
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
    int last = outermost(window);
    Digit columns = digits.get(last);
    if (columns.extent() * columns.colStep() != window.cols()
        || fragment.extent(0) != window.rows()
        || fragment.extent(1) % columns.colStep() != 0
        || digits.subList(last + 1, digits.size()).stream().anyMatch(d -> d.extent() > 1)) {
      throw refusal(fragment);
    }
    digits.set(last, new Digit(fragment.extent(1) / columns.colStep(), 0, columns.colStep()));
    return new FragmentLayout(
        fragment.extent(0), fragment.extent(1), window.threadDigits(), digits);
  }

  /** The number of registers in front of those of a window. */
  public static Expr registers(Buffer fragment, FragmentLayout layout, Expr first) {
    int last = outermost(layout);
    Digit columns = layout.registerDigits().get(last);
    if (!CopyLowering.multipleOf(first, Math.toIntExact(columns.colStep()))) {
      throw refusal(fragment);
    }
    long before =
        layout.registerDigits().subList(0, last).stream()
            .mapToLong(Digit::extent)
            .reduce(1, Math::multiplyExact);
    return Exprs.mul(Exprs.div(first, columns.colStep()), before);
  }

  private static int outermost(FragmentLayout layout) {
    int last = layout.registerDigits().size() - 1;
    while (last > 0
        && (layout.registerDigits().get(last).colStep() == 0
            || layout.registerDigits().get(last).extent() == 1)) {
      last--;
    }
    return last;
  }

  private static LoweringException refusal(Buffer fragment) {
    return new LoweringException(
        "the columns of fragment "
            + fragment.name()
            + " that a map uses are no registers next to each other");
  }
}
