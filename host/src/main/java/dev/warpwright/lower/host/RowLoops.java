package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.ExpandMath;
import dev.warpwright.lower.pass.VectorizeLoops;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** Makes the loops over the elements of a tile. */
final class RowLoops {
  /** Lanes of the narrowest vectors, for what is left of a row. */
  private static final int NARROWEST = 4;

  /** So few vectors in a row need no loop. */
  private static final int WRITTEN_OUT = 2;

  private RowLoops() {}

  /** The nest of serial loops over the extents around a body of the loop variables. */
  static Stmt nest(List<String> names, List<Expr> extents, Function<List<Expr>, Stmt> body) {
    return nest(names, extents, 0, List.of(), body);
  }

  private static Stmt nest(
      List<String> names,
      List<Expr> extents,
      int depth,
      List<Expr> outer,
      Function<List<Expr>, Stmt> body) {
    if (depth == extents.size()) {
      return body.apply(outer);
    }
    if (Exprs.isConst(extents.get(depth), 1)) {
      return nest(names, extents, depth + 1, append(outer, Exprs.i32(0)), body);
    }
    Var v = Var.index(names.get(depth));
    return Stmt.For.of(
        ForKind.SERIAL,
        v,
        extents.get(depth),
        nest(names, extents, depth + 1, append(outer, v), body));
  }

  private static List<Expr> append(List<Expr> list, Expr e) {
    return Stream.concat(list.stream(), Stream.of(e)).toList();
  }

  /**
   * A loop over one row: whole vectors, then ever narrower ones, then single elements; single
   * elements throughout where the body cannot be vectorized.
   *
   * @param padded whether the body may run past the extent up to a whole vector
   */
  static Stmt row(String name, Expr extent, int lanes, boolean padded, Function<Expr, Stmt> body) {
    if (!(extent instanceof Expr.IntImm imm)) {
      return symbolicRow(name, extent, lanes, body);
    }
    long n = imm.value();
    if (lanes == 1 || n == 0 || refused(vector(name, Exprs.i32(0), lanes, body))) {
      return Stmts.loop(ForKind.SERIAL, name, n, body);
    }
    if (padded) {
      return vectors(name, 0, (n + lanes - 1) / lanes, lanes, body);
    }
    List<Stmt> parts = new ArrayList<>();
    long done = 0;
    for (int width = lanes; width >= NARROWEST && done < n; width /= 2) {
      long count = (n - done) / width;
      if (count > 0) {
        parts.add(vectors(name, done, count, width, body));
        done += count * width;
      }
    }
    if (done < n) {
      long first = done;
      parts.add(
          Stmts.loop(
              ForKind.SERIAL, name, n - done, v -> body.apply(Exprs.add(Exprs.i32(first), v))));
    }
    return Stmts.seq(parts);
  }

  /** Whole vectors from {@code first} on. */
  private static Stmt vectors(
      String name, long first, long count, int lanes, Function<Expr, Stmt> body) {
    return Stmts.loop(
        count <= WRITTEN_OUT ? ForKind.UNROLLED : ForKind.SERIAL,
        name + "v",
        count,
        v -> vector(name, Exprs.add(Exprs.mul(v, lanes), first), lanes, body));
  }

  private static Stmt symbolicRow(String name, Expr extent, int lanes, Function<Expr, Stmt> body) {
    Stmt.For probe = vector(name, Exprs.i32(0), lanes, body);
    if (refused(probe)) {
      Var v = Var.index(name);
      return Stmt.For.of(ForKind.SERIAL, v, extent, body.apply(v));
    }
    Var block = Var.index(name + "v");
    Var tail = Var.index(name);
    Expr whole = Exprs.div(extent, lanes);
    return Stmts.seq(
        Stmt.For.of(
            ForKind.SERIAL, block, whole, vector(name, Exprs.mul(block, lanes), lanes, body)),
        Stmt.For.of(
            ForKind.SERIAL,
            tail,
            Exprs.mod(extent, lanes),
            body.apply(Exprs.add(Exprs.mul(whole, lanes), tail))));
  }

  static boolean refused(Stmt.For probe) {
    return VectorizeLoops.refusal(probe.withBody(ExpandMath.apply(probe.body()))) != null
        || scattered(probe);
  }

  /** Whether the last dimension of a buffer that is used does not lie consecutively. */
  private static boolean scattered(Stmt s) {
    boolean[] found = {false};
    Walk.all(
        s,
        t -> found[0] |= t instanceof Stmt.Store st && scattered(st.buffer()),
        e -> found[0] |= e instanceof Expr.Load l && scattered(l.buffer()));
    return found[0];
  }

  private static boolean scattered(Buffer buffer) {
    return buffer.layout() != null
        || !switch (buffer.dtype()) {
          case F16, BF16, F32, I32, U32 -> true;
          case F64, I64, U64, I8, U8, BOOL, F8E4M3, F8E5M2, MBARRIER, HANDLE -> false;
        };
  }

  private static Stmt.For vector(String name, Expr base, int lanes, Function<Expr, Stmt> body) {
    Var v = Var.index(name);
    return Stmt.For.of(ForKind.VECTORIZED, v, Exprs.i32(lanes), body.apply(Exprs.add(base, v)));
  }
}
