package dev.warpwright.lower.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoopPassesTest {
  private static final Buffer A = Buffer.of("A", DType.F32, Scope.GLOBAL, 13, 32);
  private static final Buffer B = Buffer.of("B", DType.F32, Scope.GLOBAL, 32);
  private static final Buffer C = Buffer.of("C", DType.F32, Scope.GLOBAL, 13, 32);

  /** C[i, j] = Σₖ A[i, k] · B[j] over a tiled loop with a predicate. */
  private static PrimFunc blocked() {
    Var io = Var.index("io");
    Var ii = Var.index("ii");
    Var j = Var.index("j");
    Var k = Var.index("k");
    Var vi = Var.index("vi");
    Var vj = Var.index("vj");
    Var vk = Var.index("vk");
    Expr row = Exprs.add(Exprs.mul(io, 4), ii);
    Stmt block =
        new Stmt.Block(
            "C",
            List.of(
                new IterVar(vi, Exprs.i32(13), IterVar.Kind.SPATIAL, row),
                new IterVar(vj, Exprs.i32(32), IterVar.Kind.SPATIAL, j),
                new IterVar(vk, Exprs.i32(32), IterVar.Kind.REDUCE, k)),
            Exprs.lt(row, Exprs.i32(13)),
            List.of(),
            List.of(),
            new Stmt.Store(C, List.of(vi, vj), Exprs.f32(0)),
            new Stmt.Store(
                C,
                List.of(vi, vj),
                Exprs.fma(Exprs.load(A, vi, vk), Exprs.load(B, vj), Exprs.load(C, vi, vj))),
            Attrs.NONE);
    Stmt nest = loop(ForKind.SERIAL, j, 32, loop(ForKind.SERIAL, k, 32, block));
    nest = loop(ForKind.SERIAL, io, 4, loop(ForKind.UNROLLED, ii, 4, nest));
    return new PrimFunc("f", List.of(A, B, C), nest, Attrs.NONE);
  }

  private static Stmt loop(ForKind kind, Var v, long extent, Stmt body) {
    return Stmt.For.of(kind, v, Exprs.i32(extent), body);
  }

  @Test
  void blocksBecomeLoops() {
    PrimFunc before = blocked();
    PrimFunc after = LowerBlocks.apply(before);
    assertThat(count(after.body(), Stmt.Block.class)).isZero();
    assertSame(before, after);
  }

  @Test
  void unrolledLoopsAreWrittenOutWithTheirOwnNames() {
    Var u = Var.index("u");
    Var t = new Var("t", Type.F32);
    Var j = Var.index("j");
    Stmt body =
        loop(
            ForKind.UNROLLED,
            u,
            3,
            loop(
                ForKind.SERIAL,
                j,
                32,
                new Stmt.Let(
                    t,
                    Exprs.add(Exprs.load(A, u, j), Exprs.f32(1)),
                    new Stmt.Store(C, List.of(u, j), Exprs.mul(t, t)))));
    PrimFunc before = new PrimFunc("f", List.of(A, C), body, Attrs.NONE);
    PrimFunc after = before.withBody(UnrollLoops.apply(body));
    assertThat(count(after.body(), Stmt.For.class)).isEqualTo(3);
    assertThat(((Stmt.Seq) after.body()).stmts().stream().map(s -> ((Stmt.For) s).var()).distinct())
        .hasSize(3);
    assertSame(before, after);
  }

  @Test
  void vectorizedLoopsBecomeVectors() {
    Var i = Var.index("i");
    Var j = Var.index("j");
    Var t = new Var("t", Type.F32);
    Stmt body =
        loop(
            ForKind.SERIAL,
            i,
            13,
            loop(
                ForKind.VECTORIZED,
                j,
                32,
                new Stmt.Let(
                    t,
                    Exprs.add(Exprs.load(A, i, j), Exprs.load(B, i)),
                    new Stmt.Store(
                        C,
                        List.of(i, j),
                        new Expr.Select(
                            Exprs.lt(t, Exprs.f32(0)),
                            Exprs.mul(t, Exprs.load(B, j)),
                            new Expr.Cast(Type.F32, j))))));
    PrimFunc before = new PrimFunc("f", List.of(A, B, C), body, Attrs.NONE);
    assertThatThrownBy(() -> VectorizeLoops.apply(body)).hasMessageContaining("guards a load");
    Stmt plain = replaceSelect(body, t, j);
    PrimFunc scalar = before.withBody(plain);
    PrimFunc after = before.withBody(VectorizeLoops.apply(plain));
    assertThat(count(after.body(), Stmt.For.class)).isEqualTo(1);
    assertSame(scalar, after);
  }

  private static Stmt replaceSelect(Stmt body, Var t, Var j) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        return e instanceof Expr.Select
            ? new Expr.Select(
                Exprs.lt(t, Exprs.f32(0)), Exprs.mul(t, t), new Expr.Cast(Type.F32, j))
            : super.expr(e);
      }
    }.stmt(body);
  }

  @Test
  void whatCannotBeVectorizedIsRefusedWithTheReason() {
    Var j = Var.index("j");
    refused(j, new Stmt.Store(B, List.of(Exprs.i32(0)), Exprs.f32(1)), "same element of B");
    refused(
        j, new Stmt.Store(B, List.of(Exprs.mul(j, 2)), Exprs.f32(1)), "not consecutive elements");
    refused(
        j,
        Stmts.when(Exprs.lt(j, Exprs.i32(3)), new Stmt.Store(B, List.of(j), Exprs.f32(1))),
        "a condition depends on it");
  }

  private static void refused(Var j, Stmt body, String reason) {
    Stmt.For loop = (Stmt.For) loop(ForKind.VECTORIZED, j, 8, body);
    assertThat(VectorizeLoops.refusal(loop)).contains(reason);
    assertThatThrownBy(() -> VectorizeLoops.apply(loop))
        .hasMessageContaining("cannot vectorize the loop over j")
        .hasMessageContaining(reason);
  }

  private static void assertSame(PrimFunc before, PrimFunc after) {
    Arguments want = run(before);
    Arguments got = run(after);
    before.buffers().forEach(b -> assertThat(got.get(b).sameBits(want.get(b))).isTrue());
  }

  private static Arguments run(PrimFunc func) {
    Arguments arguments = Arguments.random(func.params(), 17);
    Interpreter.of(func, Options.CHECKED).run(arguments);
    return arguments;
  }

  private static long count(Stmt body, Class<? extends Stmt> type) {
    int[] count = new int[1];
    Walk.statements(body, s -> count[0] += type.isInstance(s) ? 1 : 0);
    return count[0];
  }
}
