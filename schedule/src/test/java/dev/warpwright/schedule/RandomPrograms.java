package dev.warpwright.schedule;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;

/** Small programs to schedule: those of {@link Samples}, a network, and random ones. */
final class RandomPrograms {
  private final SplittableRandom random;
  private final List<Param> params = new ArrayList<>();
  private final List<Stmt> nests = new ArrayList<>();

  /** What may be read, all of it with the same rows; the last one is read by the next nest. */
  private final List<Buffer> made = new ArrayList<>();

  private RandomPrograms(SplittableRandom random) {
    this.random = random;
  }

  static PrimFunc next(SplittableRandom random) {
    ScalarParam m = Functions.rows();
    return switch (random.nextInt(9)) {
      case 0 -> Samples.matmul(size(random), size(random), size(random));
      case 1 -> Samples.chain(size(random), size(random));
      case 2 -> Samples.chainOfRows(size(random));
      case 3 -> Samples.centred(size(random), size(random));
      case 4 -> Samples.twoResults(size(random), size(random));
      case 5 -> Functions.mlp(DType.F16, m.var(), m, size(random), size(random), size(random));
      default -> new RandomPrograms(random).program();
    };
  }

  private static int size(SplittableRandom random) {
    return random.nextInt(1, 8);
  }

  /** One to four nests; each reads the result of the one before it, and may be others. */
  private PrimFunc program() {
    boolean symbolic = random.nextBoolean();
    ScalarParam m = Functions.rows();
    Expr rows = symbolic ? m.var() : Exprs.i32(size(random));
    Buffer x = buffer("x", List.of(rows, Exprs.i32(size(random))));
    params.add(x);
    made.add(x);
    int count = random.nextInt(1, 5);
    for (int n = 0; n < count; n++) {
      nest(n, n == count - 1);
    }
    if (symbolic) {
      params.add(m);
    }
    return Functions.function(params, nests.toArray(Stmt[]::new));
  }

  private void nest(int n, boolean last) {
    Buffer from = made.getLast();
    Buffer other = made.get(random.nextInt(made.size()));
    Expr rows = from.shape().getFirst();
    boolean flat = from.rank() == 1;
    switch (flat ? 0 : random.nextInt(3)) {
      case 0 -> {
        List<Expr> shape = flat ? other.shape() : from.shape();
        boolean fits = other.rank() == 1 || other.shape().equals(shape);
        Function<List<Expr>, Expr> value =
            at -> {
              Expr twice = Exprs.mul(load(from, at), Exprs.f32(2));
              return fits ? Exprs.add(twice, load(other, at)) : twice;
            };
        nests.add(Functions.elementwise(result(n, last, shape), value));
      }
      case 1 -> {
        Expr columns = Exprs.i32(size(random));
        boolean transposed = random.nextBoolean();
        Expr depth = from.shape().get(1);
        Buffer w = buffer("w" + n, transposed ? List.of(columns, depth) : List.of(depth, columns));
        params.add(w);
        Buffer out = result(n, last, List.of(rows, columns));
        nests.add(Functions.product(out, from, w, transposed));
      }
      default -> nests.add(Functions.rowSum(result(n, last, List.of(rows)), from));
    }
  }

  /** The element at as many of the indices as the buffer has dimensions. */
  private static Expr load(Buffer buffer, List<Expr> at) {
    return new Expr.Load(buffer, at.subList(0, buffer.rank()));
  }

  private Buffer result(int n, boolean last, List<Expr> shape) {
    Buffer out = buffer(last ? "y" : "t" + n, shape);
    made.add(out);
    if (last) {
      params.add(out);
    }
    return out;
  }

  private static Buffer buffer(String name, List<Expr> shape) {
    return Buffer.of(name, DType.F32, Scope.GLOBAL, shape);
  }
}
