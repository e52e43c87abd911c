package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A map that makes one element of two of a fragment, which lie a group apart in groups that take
 * turns: the epilogue of a gated linear unit.
 *
 * <pre>{@code
 * tile.map (i in 64, j in 32) { C[i, j] = f(acc[i, j / 8 * 16 + j % 8]) * acc[i, j / 8 * 16 + j % 8 + 8] }
 * }</pre>
 *
 * <p>Where a thread has the elements of both groups at the same place, it has them in registers
 * that are one weight apart, and the points of the map are spread over threads as the fragment is,
 * with one register for two. The groups may be of rows instead.
 *
 * @param map the map, its variables in the order of the fragment's dimensions
 * @param dimension that has half of the fragment's elements
 * @param group how many elements follow each other in a group
 * @param fragment the layout of the fragment
 * @param digit of the fragment's registers that tells the groups
 */
public record HalvedMap(
    Stmt.TileMap map, int dimension, long group, FragmentLayout fragment, int digit) {
  /**
   * The map as such a one.
   *
   * @param layout of the fragment that it reads
   * @return null if its points are those of the fragment, or a window of them
   * @throws LoweringException if they are not, and the elements of a point are not one thread's
   */
  static @Nullable HalvedMap of(Stmt.TileMap map, FragmentLayout layout) {
    if (map.vars().size() != 2) {
      return null;
    }
    long rows = extent(map, 0);
    long columns = extent(map, 1);
    boolean halfRows = 2 * rows == layout.rows() && columns == layout.cols();
    boolean halfColumns = rows == layout.rows() && 2 * columns == layout.cols();
    if (!halfRows && !halfColumns) {
      return null;
    }
    int dimension = halfRows ? 0 : 1;
    long group = group(map, dimension);
    if (group < 1) {
      return null;
    }
    for (int d = 0; d < layout.registerDigits().size(); d++) {
      Digit digit = layout.registerDigits().get(d);
      if (step(digit, dimension) == group && digit.extent() % 2 == 0) {
        HalvedMap halved = new HalvedMap(map, dimension, group, layout, d);
        halved.check();
        return halved;
      }
    }
    throw refusal(map, "its elements are other threads'");
  }

  private static long extent(Stmt.TileMap map, int dimension) {
    if (map.extents().get(dimension) instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw refusal(map, "its extents are not constant");
  }

  private static long step(Digit digit, int dimension) {
    return dimension == 0 ? digit.rowStep() : digit.colStep();
  }

  private static LoweringException refusal(Stmt.TileMap map, String why) {
    return new LoweringException(
        "map to "
            + map.stores().getFirst().buffer().name()
            + " has half as many points as its fragment elements: "
            + why);
  }

  /** The distance of the two elements that the first point is made of; 0 if it is made of one. */
  private static long group(Stmt.TileMap map, int dimension) {
    List<Long> places = new ArrayList<>();
    Walk.expressions(
        map.stores().getFirst().value(),
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
              && buffer.scope() == Scope.FRAGMENT) {
            places.add(at(map, dimension, indices, 0));
          }
        });
    return places.stream().mapToLong(Long::longValue).max().orElse(0);
  }

  /** Where an access is in the halved dimension, for a point. */
  private static long at(Stmt.TileMap map, int dimension, List<Expr> indices, long point) {
    Var own = map.vars().get(dimension);
    int other = 1 - dimension;
    boolean[] foreign = {indices.size() != 2 || indices.get(other) != map.vars().get(other)};
    if (!foreign[0]) {
      Walk.expressions(
          indices.get(dimension), e -> foreign[0] |= e instanceof Var var && var != own);
    }
    if (foreign[0]) {
      throw refusal(map, "it is used at " + indices);
    }
    return ScalarEval.eval(indices.get(dimension), Map.of(own, point));
  }

  /** Whether each thread has both elements of its points in the registers that are computed. */
  private void check() {
    FragmentLayout own = layout();
    for (int r = 0; r < own.registers(); r++) {
      for (int second = 0; second < 2; second++) {
        int register = Math.toIntExact(register(r, second));
        for (int t = 0; t < own.threads(); t++) {
          long row = own.row(t, r);
          long col = own.col(t, r);
          long wantRow = dimension == 0 ? place(row, second) : row;
          long wantCol = dimension == 1 ? place(col, second) : col;
          if (fragment.row(t, register) != wantRow || fragment.col(t, register) != wantCol) {
            throw refusal(map, "its elements are other threads'");
          }
        }
      }
    }
  }

  private long place(long point, int second) {
    return point / group * 2 * group + point % group + second * group;
  }

  /** Which threads' registers the points of the map belong to. */
  FragmentLayout layout() {
    List<Digit> registers = new ArrayList<>();
    for (int d = 0; d < fragment.registerDigits().size(); d++) {
      Digit each = fragment.registerDigits().get(d);
      registers.add(
          d == digit ? new Digit(each.extent() / 2, each.rowStep(), each.colStep()) : half(each));
    }
    return new FragmentLayout(
        dimension == 0 ? fragment.rows() / 2 : fragment.rows(),
        dimension == 1 ? fragment.cols() / 2 : fragment.cols(),
        fragment.threadDigits().stream().map(this::half).toList(),
        registers);
  }

  /** Steps over several groups are half as long. */
  private Digit half(Digit each) {
    return step(each, dimension) <= group
        ? each
        : dimension == 0
            ? new Digit(each.extent(), each.rowStep() / 2, each.colStep())
            : new Digit(each.extent(), each.rowStep(), each.colStep() / 2);
  }

  private long weight() {
    long weight = 1;
    for (int d = 0; d < digit; d++) {
      weight *= fragment.registerDigits().get(d).extent();
    }
    return weight;
  }

  private long register(long register, int second) {
    long weight = weight();
    return register / weight * 2 * weight + register % weight + second * weight;
  }

  /** The fragment's register for a register of the map's layout, by where it is used. */
  Expr register(Expr register, List<Expr> indices) {
    long points = dimension == 0 ? fragment.rows() / 2 : fragment.cols() / 2;
    long first = at(map, dimension, indices, 0);
    int second = first == group ? 1 : 0;
    for (long point = 0; point < points; point++) {
      if (at(map, dimension, indices, point) != place(point, second)) {
        throw refusal(map, "it is used at " + indices);
      }
    }
    long weight = weight();
    return Exprs.add(
        Exprs.add(Exprs.mul(Exprs.div(register, weight), 2 * weight), Exprs.mod(register, weight)),
        second * weight);
  }
}
