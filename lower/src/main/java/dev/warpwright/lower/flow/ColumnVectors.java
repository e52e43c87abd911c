package dev.warpwright.lower.flow;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.ThreadCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a map over a fragment reads of rows that are the same for all of the fragment's rows, a bias
 * or the weights of a few inputs: each thread reads what belongs to its columns once, by vectors,
 * ahead of the map, and not once for each of its rows.
 *
 * <pre>{@code
 * tile.map (r, n) { h[r, n] = f(acc[r, n] + b[q(n)]) }   →   alloc b_columns: f32[16] local
 *                                                            b_columns[0 .. 4] = b[col * 4 .. + 4] …
 *                                                            h… = f(acc… + b_columns[…])
 * }</pre>
 */
final class ColumnVectors {
  private static final int LANES = 4;

  private final Stmt.TileMap map;
  private final FragmentLayout layout;
  private final Part part;
  private final List<Digit> columns = new ArrayList<>();
  private final Map<Expr.Load, Buffer> vectors = new LinkedHashMap<>();

  /** Of a thread that holds a row's first columns, how far its first column is from theirs. */
  private final Set<Long> offsets = new HashSet<>();

  /** What a part of a map reads so. */
  ColumnVectors(Stmt.TileMap map, Part part) {
    this.map = map;
    this.layout = part.layout();
    this.part = part;
    for (Digit digit : layout.registerDigits()) {
      if (digit.colStep() != 0 && digit.rowStep() == 0 && digit.extent() > 1) {
        columns.add(digit);
      }
    }
    for (int t = 0; t < layout.threads(); t++) {
      offsets.add(layout.col(t, 0));
    }
    Walk.expressions(
        map.stores().getFirst().value(),
        e -> {
          if (e instanceof Expr.Load load && isColumn(load)) {
            vectors.computeIfAbsent(
                load,
                l -> Buffer.of(l.buffer().name() + "_columns", DType.F32, Scope.LOCAL, count()));
          }
        });
  }

  /**
   * A fragment in parts, a map of each behind the other, so that what it reads of columns takes no
   * more than {@link Lowering#COLUMN_REGISTERS} registers at a time: a formula of four inputs and
   * 240 columns reads 240 weights a thread.
   */
  static List<Part> parts(Stmt.TileMap map, FragmentLayout layout) {
    Part whole = Part.whole(layout);
    ColumnVectors all = new ColumnVectors(map, whole);
    long held = all.vectors.size() * all.count();
    return held <= Lowering.COLUMN_REGISTERS
        ? List.of(whole)
        : Part.split(layout, Math.ceilDiv(held, Lowering.COLUMN_REGISTERS));
  }

  /** Elements of a row that a thread holds. */
  private long count() {
    return columns.stream().mapToLong(Digit::extent).reduce(1, (a, b) -> a * b);
  }

  private boolean isColumn(Expr.Load load) {
    Buffer buffer = load.buffer();
    if (buffer.scope() != Scope.GLOBAL
        || buffer.dtype() != DType.F32
        || buffer.layout() != null
        || !buffer.hasConstantShape()) {
      return false;
    }
    int last = load.indices().size() - 1;
    for (int d = 0; d < last; d++) {
      if (!(load.indices().get(d) instanceof Expr.IntImm)) {
        return false;
      }
    }
    Set<Var> vars = new HashSet<>();
    boolean[] pure = {fixed(load).stream().allMatch(e -> CopyLowering.multipleOf(e, LANES))};
    Walk.expressions(
        moving(load),
        e -> {
          if (e instanceof Var v) {
            vars.add(v);
          }
          pure[0] &= !(e instanceof Expr.Load) && !(e instanceof Expr.Call);
        });
    return pure[0] && vars.equals(Set.of(map.vars().get(1)));
  }

  /** Terms of a load's column that are the same all over the map: where its window begins. */
  private List<Expr> fixed(Expr.Load load) {
    return terms(load).stream().filter(e -> !isMoving(e)).toList();
  }

  /** The rest of its column. */
  private Expr moving(Expr.Load load) {
    return terms(load).stream().filter(this::isMoving).reduce(Exprs.i32(0), Exprs::add);
  }

  private boolean isMoving(Expr term) {
    boolean[] found = {false};
    Walk.expressions(term, e -> found[0] |= e instanceof Var v && map.vars().contains(v));
    return found[0];
  }

  private static List<Expr> terms(Expr.Load load) {
    List<Expr> terms = new ArrayList<>();
    split(load.indices().getLast(), terms);
    return terms;
  }

  private static void split(Expr e, List<Expr> into) {
    if (e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b) && op == BinaryOp.ADD) {
      split(a, into);
      split(b, into);
    } else {
      into.add(e);
    }
  }

  /** The column, relative to the thread's first, of its element of that number in a row. */
  private long column(long number) {
    long column = part.column();
    for (Digit digit : columns) {
      column += number % digit.extent() * digit.colStep();
      number /= digit.extent();
    }
    return column;
  }

  private long at(Expr.Load load, long column) {
    return ScalarEval.eval(moving(load), Map.of(map.vars().get(1), column));
  }

  /** How many elements from that number on lie next to each other, for every thread. */
  private int lanes(Expr.Load load, long number) {
    int lanes = load.buffer().alignment() >= 4 * LANES ? LANES : 1;
    int last = load.buffer().rank() - 1;
    while (lanes > 1
        && (count() % lanes != 0
            || load.buffer().extent(last) % lanes != 0
            || !areNeighbours(load, number, lanes))) {
      lanes /= 2;
    }
    return lanes;
  }

  private boolean areNeighbours(Expr.Load load, long number, int lanes) {
    for (long offset : offsets) {
      long first = at(load, offset + column(number));
      if (first % lanes != 0) {
        return false;
      }
      for (int i = 1; i < lanes; i++) {
        if (at(load, offset + column(number + i)) != first + i) {
          return false;
        }
      }
    }
    return true;
  }

  /** The map's code behind the reads that it needs. */
  Stmt around(ThreadCode code, Stmt body) {
    if (vectors.isEmpty()) {
      return body;
    }
    Var first = Var.index("first");
    List<Stmt> stmts = new ArrayList<>();
    vectors.forEach(
        (load, vector) -> {
          for (long number = 0; number < count(); ) {
            int lanes = lanes(load, number);
            List<Expr> place = new ArrayList<>(load.indices());
            Expr window = fixed(load).stream().reduce(Exprs.i32(0), Exprs::add);
            place.set(place.size() - 1, Exprs.add(window, index(load, first, number)));
            stmts.add(
                ThreadCode.move(vector, List.of(Exprs.i32(number)), load.buffer(), place, lanes));
            number += lanes;
          }
        });
    stmts.add(body);
    return Stmts.alloc(
        List.copyOf(vectors.values()),
        new Stmt.Let(first, layout.colOfThread(code.thread()), Stmts.seq(stmts)));
  }

  /** Where the element is: a multiple of the thread's first column, where it is one. */
  private Expr index(Expr.Load load, Var first, long number) {
    long origin = at(load, column(number));
    long step = 0;
    for (long offset : offsets) {
      if (offset != 0) {
        step = (at(load, offset + column(number)) - origin) / offset;
      }
    }
    for (long offset : offsets) {
      if (at(load, offset + column(number)) != origin + step * offset) {
        return new Substituted(Exprs.add(first, Exprs.i32(column(number)))).expr(moving(load));
      }
    }
    return Exprs.add(Exprs.mul(first, step), Exprs.i32(origin));
  }

  /** The map's second variable at another place. */
  private final class Substituted extends Rewriter {
    private final Expr column;

    Substituted(Expr column) {
      this.column = column;
    }

    @Override
    public Expr expr(Expr e) {
      return e == map.vars().get(1) ? column : super.expr(e);
    }
  }

  /** A value of the map for the element in that register. */
  Expr of(Expr value, Expr register) {
    Expr own = Exprs.sub(register, Exprs.i32(part.register()));
    return RowInputs.loaded(value, own, vectors, layout, columns);
  }

  /**
   * Some columns of a fragment: the same threads, and of each the registers from some number on.
   *
   * @param layout of these columns alone
   * @param column the first of them
   * @param register the first that holds them
   */
  record Part(FragmentLayout layout, long column, long register) {
    /** All of a fragment. */
    static Part whole(FragmentLayout layout) {
      return new Part(layout, 0, 0);
    }

    /**
     * A fragment in about so many parts of whole groups of {@link #GROUP} steps, in order; whole
     * where its outermost digit moves rows.
     */
    static List<Part> split(FragmentLayout layout, long parts) {
      List<Digit> digits = layout.registerDigits().stream().filter(d -> d.extent() > 1).toList();
      Digit outer = digits.getLast();
      long each = Math.ceilDiv(outer.extent(), parts * GROUP) * GROUP;
      if (outer.rowStep() != 0 || outer.extent() <= each) {
        return List.of(whole(layout));
      }
      long registers = layout.registers() / outer.extent();
      List<Part> split = new ArrayList<>();
      for (long first = 0; first < outer.extent(); first += each) {
        long extent = Math.min(each, outer.extent() - first);
        List<Digit> some = new ArrayList<>(digits);
        some.set(digits.size() - 1, new Digit(extent, 0, outer.colStep()));
        long columns = layout.cols() / outer.extent() * extent;
        split.add(
            new Part(
                new FragmentLayout(layout.rows(), columns, layout.threadDigits(), some),
                first * outer.colStep(),
                first * registers));
      }
      return split;
    }

    /** Steps whose columns one vector of four elements may read: a step has two. */
    private static final int GROUP = 2;
  }
}
