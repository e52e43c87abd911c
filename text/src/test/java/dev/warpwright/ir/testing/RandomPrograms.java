package dev.warpwright.ir.testing;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Makes random programs that are well formed and mean the same on every executor, bit for bit: no
 * access is out of bounds, nothing is read before it is written, no two iterations that may run at
 * once touch the same element, and no function is used whose rounding is open. Values stay small.
 *
 * <p>Every program has the parameters {@code x: f32[M, K]}, {@code y: f32[M, N]} (the output, every
 * element of which is written) and {@code M}; a PrimFunc has weights too.
 */
public final class RandomPrograms {
  /** Greatest row count that the programs are meant for. */
  public static final int MAX_ROWS = 64;

  private final RandomGenerator random;

  /**
   * Programs are decided by the generator alone: the same seed gives the same programs.
   *
   * @param random where the choices come from
   */
  public RandomPrograms(RandomGenerator random) {
    this.random = random;
  }

  private static ScalarParam rows() {
    return new ScalarParam(Var.index("M"), 1, MAX_ROWS);
  }

  private static Buffer matrix(String name, Expr rows, long columns) {
    return Buffer.of(name, DType.F32, Scope.GLOBAL, List.of(rows, Exprs.i32(columns)));
  }

  /** A chain of matrix products and element-wise blocks over M rows. */
  public PrimFunc primFunc() {
    ScalarParam m = rows();
    int width = random.nextInt(1, 12);
    Buffer x = matrix("x", m.var(), width);
    List<Buffer> weights = new ArrayList<>();
    List<Buffer> between = new ArrayList<>();
    List<Stmt> stages = new ArrayList<>();
    Buffer from = x;
    int depth = random.nextInt(1, 5);
    Buffer y = x;
    for (int stage = 0; stage < depth; stage++) {
      boolean last = stage == depth - 1;
      boolean product = random.nextBoolean();
      int next = product ? random.nextInt(1, 12) : width;
      Buffer to = matrix(last ? "y" : "h" + stage, m.var(), next);
      if (product) {
        Buffer w = matrix("w" + stage, Exprs.i32(width), next);
        weights.add(w);
        stages.add(product(from, w, to, m.var(), width, next, stage));
      } else {
        stages.add(map(from, to, m.var(), next, stage));
      }
      if (last) {
        y = to;
      } else {
        between.add(to);
      }
      from = to;
      width = next;
    }
    List<Param> params = new ArrayList<>();
    params.add(x);
    params.addAll(weights);
    params.add(y);
    params.add(m);
    return new PrimFunc("random", params, Stmts.alloc(between, Stmts.seq(stages)), Attrs.NONE);
  }

  private static Stmt product(
      Buffer from, Buffer w, Buffer to, Var m, int width, int columns, int stage) {
    Var i = Var.index("i");
    Var j = Var.index("j");
    Var k = Var.index("k");
    Var vi = Var.index("vi");
    Var vj = Var.index("vj");
    Var vk = Var.index("vk");
    Stmt block =
        new Stmt.Block(
            "product" + stage,
            List.of(
                new IterVar(vi, m, IterVar.Kind.SPATIAL, i),
                new IterVar(vj, Exprs.i32(columns), IterVar.Kind.SPATIAL, j),
                new IterVar(vk, Exprs.i32(width), IterVar.Kind.REDUCE, k)),
            null,
            List.of(point(from, vi, vk), point(w, vk, vj)),
            List.of(point(to, vi, vj)),
            new Stmt.Store(to, List.of(vi, vj), Exprs.f32(0)),
            new Stmt.Store(
                to,
                List.of(vi, vj),
                Exprs.fma(Exprs.load(from, vi, vk), Exprs.load(w, vk, vj), Exprs.load(to, vi, vj))),
            Attrs.NONE);
    return serial(i, m, serial(j, Exprs.i32(columns), serial(k, Exprs.i32(width), block)));
  }

  private Stmt map(Buffer from, Buffer to, Var m, int columns, int stage) {
    Var i = Var.index("i");
    Var j = Var.index("j");
    Var vi = Var.index("vi");
    Var vj = Var.index("vj");
    ValueMaker maker = new ValueMaker(random, List.of(vi, vj));
    maker.add(Exprs.load(from, vi, vj));
    Stmt block =
        new Stmt.Block(
            "map" + stage,
            List.of(
                new IterVar(vi, m, IterVar.Kind.SPATIAL, i),
                new IterVar(vj, Exprs.i32(columns), IterVar.Kind.SPATIAL, j)),
            null,
            List.of(point(from, vi, vj)),
            List.of(point(to, vi, vj)),
            null,
            new Stmt.Store(to, List.of(vi, vj), maker.bounded(3)),
            Attrs.NONE);
    return serial(i, m, serial(j, Exprs.i32(columns), block));
  }

  private static Region point(Buffer buffer, Var row, Var column) {
    return new Region(buffer, List.of(Range.at(row), Range.at(column)));
  }

  private static Stmt serial(Var v, Expr extent, Stmt body) {
    return Stmt.For.of(ForKind.SERIAL, v, extent, body);
  }

  /** A host kernel: a parallel loop over rows around loops, conditions, lets and vectors. */
  public Kernel hostKernel() {
    ScalarParam m = rows();
    Buffer x = matrix("x", m.var(), 8L * random.nextInt(1, 4));
    Buffer y = matrix("y", m.var(), 8L * random.nextInt(1, 4));
    Var row = Var.index("row");
    Stmt body = new BodyMaker(random, x, y, row, m.var(), Scope.SHARED).body();
    return new Kernel(
        "random_host",
        Kernel.Kind.HOST,
        List.of(x, y, m),
        List.of(),
        Stmt.For.of(ForKind.PARALLEL, row, m.var(), body),
        Attrs.NONE);
  }

  /** A grid kernel without intrinsics: each thread works on its own row. */
  public Kernel gridKernel() {
    ScalarParam m = rows();
    Buffer x = matrix("x", m.var(), 8L * random.nextInt(1, 4));
    Buffer y = matrix("y", m.var(), 8L * random.nextInt(1, 4));
    Var block = Var.index("bx");
    Var thread = Var.index("tx");
    int threads = 1 << random.nextInt(6);
    Var row = Var.index("row");
    Stmt body = new BodyMaker(random, x, y, row, m.var(), Scope.LOCAL).body();
    return new Kernel(
        "random_grid",
        Kernel.Kind.GRID,
        List.of(x, y, m),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, block, Exprs.ceilDiv(m.var(), threads)),
            new ThreadBinding(ThreadAxis.THREAD_X, thread, Exprs.i32(threads))),
        new Stmt.Let(
            row,
            Exprs.add(Exprs.mul(block, threads), thread),
            new Stmt.If(Exprs.lt(row, m.var()), body, null)),
        Attrs.NONE);
  }

  /** The body of one row: a scratch buffer is filled, worked on, and copied out. */
  private static final class BodyMaker {
    private final RandomGenerator random;
    private final Buffer x;
    private final Buffer y;
    private final Var row;
    private final Buffer scratch;
    private final int size;
    private final List<Var> vars;
    private int names;

    BodyMaker(RandomGenerator random, Buffer x, Buffer y, Var row, Var m, Scope scope) {
      this.random = random;
      this.x = x;
      this.y = y;
      this.row = row;
      this.size = 8 * random.nextInt(1, 4);
      this.scratch = Buffer.of("scratch", DType.F32, scope, size);
      this.vars = List.of(row, m);
    }

    private Var fresh(String name) {
      return Var.index(name + names++);
    }

    Stmt body() {
      Var fill = fresh("fill");
      Var out = fresh("out");
      List<Stmt> stmts = new ArrayList<>();
      ValueMaker start = maker(with(vars, fill));
      stmts.add(loop(fill, size, store(fill, start.bounded(2))));
      for (int i = random.nextInt(1, 4); i > 0; i--) {
        stmts.add(stmt(vars, 3));
      }
      stmts.add(
          loop(
              out,
              (int) y.extent(1),
              new Stmt.Store(y, List.of(row, out), Exprs.load(scratch, Exprs.mod(out, size)))));
      return new Stmt.Alloc(scratch, Stmts.seq(stmts));
    }

    private static List<Var> with(List<Var> vars, Var v) {
      List<Var> copy = new ArrayList<>(vars);
      copy.add(v);
      return copy;
    }

    private Stmt loop(Var v, int extent, Stmt body) {
      ForKind kind = random.nextInt(4) == 0 ? ForKind.UNROLLED : ForKind.SERIAL;
      return Stmt.For.of(kind, v, Exprs.i32(extent), body);
    }

    private Stmt store(Expr index, Expr value) {
      return new Stmt.Store(scratch, List.of(index), value);
    }

    /** Values from x; scratch joins them once it is filled. */
    private ValueMaker maker(List<Var> visible) {
      ValueMaker maker = new ValueMaker(random, visible);
      maker.add(Exprs.load(x, row, maker.index(x.extent(1))));
      return maker;
    }

    private Stmt stmt(List<Var> visible, int depth) {
      ValueMaker maker = maker(visible);
      maker.add(Exprs.load(scratch, maker.index(size)));
      if (depth == 0) {
        return random.nextInt(3) == 0
            ? vectorStore(maker)
            : store(maker.index(size), maker.bounded(3));
      }
      return switch (random.nextInt(6)) {
        case 0 -> {
          List<Stmt> list = new ArrayList<>();
          for (int i = random.nextInt(1, 4); i > 0; i--) {
            list.add(stmt(visible, depth - 1));
          }
          yield Stmts.seq(list);
        }
        case 1, 2 -> {
          Var v = fresh("i");
          Stmt body = stmt(with(visible, v), depth - 1);
          if (random.nextInt(3) > 0) {
            yield loop(v, random.nextInt(6), body);
          }
          yield new Stmt.For(
              v,
              maker.index(5),
              Exprs.i32(random.nextInt(1, 4)),
              ForKind.SERIAL,
              null,
              Attrs.NONE,
              body);
        }
        case 3 ->
            new Stmt.If(
                maker.condition(2),
                stmt(visible, depth - 1),
                random.nextBoolean() ? stmt(visible, depth - 1) : null);
        case 4 -> {
          Expr value = maker.index(random.nextInt(1, 40));
          Var v = fresh("v");
          yield new Stmt.Let(v, value, stmt(with(visible, v), depth - 1));
        }
        default -> {
          Var v = new Var("f" + names++, Type.F32);
          // A let of a float; what follows may use it.
          Expr value = maker.bounded(2);
          Stmt use = store(maker.index(size), Exprs.max(v, Exprs.f32(-4)));
          yield new Stmt.Let(v, value, use);
        }
      };
    }

    private Stmt vectorStore(ValueMaker maker) {
      int lanes = 4;
      Expr from = new Expr.Ramp(Exprs.mul(maker.index(size / lanes), lanes), 1, lanes);
      Expr to = new Expr.Ramp(Exprs.mul(maker.index(size / lanes), lanes), 1, lanes);
      Expr scale = new Expr.Broadcast(Exprs.f32(random.nextInt(-4, 5) / 4.0), lanes);
      Expr old = new Expr.Load(scratch, List.of(from));
      return new Stmt.Store(scratch, List.of(to), Exprs.mul(old, scale));
    }
  }
}
