package dev.warpwright.lower.flow;

import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import java.util.ArrayList;
import java.util.List;

/**
 * Some columns of a fragment: the same threads, and of each the registers from some number on.
 *
 * @param layout of these columns alone
 * @param column the first of them
 * @param register the first that holds them
 */
record FragmentPart(FragmentLayout layout, long column, long register) {
  /** All of a fragment. */
  static FragmentPart whole(FragmentLayout layout) {
    return new FragmentPart(layout, 0, 0);
  }

  /**
   * A fragment in about so many parts of whole groups of {@link #GROUP} steps, in order; whole
   * where its outermost digit moves rows.
   */
  static List<FragmentPart> split(FragmentLayout layout, long parts) {
    List<Digit> digits = layout.registerDigits().stream().filter(d -> d.extent() > 1).toList();
    Digit outer = digits.getLast();
    long each = Math.ceilDiv(outer.extent(), parts * GROUP) * GROUP;
    if (outer.rowStep() != 0 || outer.extent() <= each) {
      return List.of(whole(layout));
    }
    long registers = layout.registers() / outer.extent();
    List<FragmentPart> split = new ArrayList<>();
    for (long first = 0; first < outer.extent(); first += each) {
      long extent = Math.min(each, outer.extent() - first);
      List<Digit> some = new ArrayList<>(digits);
      some.set(digits.size() - 1, new Digit(extent, 0, outer.colStep()));
      long columns = layout.cols() / outer.extent() * extent;
      split.add(
          new FragmentPart(
              new FragmentLayout(layout.rows(), columns, layout.threadDigits(), some),
              first * outer.colStep(),
              first * registers));
    }
    return split;
  }

  /** Steps whose columns one vector of four elements may read: a step has two. */
  private static final int GROUP = 2;
}
