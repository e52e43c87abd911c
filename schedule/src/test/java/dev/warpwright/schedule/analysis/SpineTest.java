package dev.warpwright.schedule.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.schedule.Functions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The ways through what is around a deep network are those that a walk finds. */
final class SpineTest {
  private static final long SEED = Long.getLong("seed", 20261124);
  private static final int DEEP = 300;

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final List<Buffer> buffers = new ArrayList<>();
  private final List<Var> vars = new ArrayList<>();

  private Buffer buffer(String name) {
    return Buffer.of(name, DType.F32, Scope.GLOBAL, List.of(Exprs.i32(8), Exprs.i32(8)));
  }

  /** Allocations and loops around each other, and nests inside the innermost of them. */
  private Stmt deep() {
    for (int i = 0; i < DEEP; i++) {
      buffers.add(buffer("b" + i));
    }
    List<Stmt> nests = new ArrayList<>();
    for (int i = 1; i < DEEP; i++) {
      Buffer from = buffers.get(i - 1);
      nests.add(
          Functions.elementwise(
              buffers.get(i), at -> Exprs.add(new Expr.Load(from, at), Exprs.f32(1))));
    }
    Stmt made = new Stmt.Seq(nests);
    for (Buffer buffer : buffers.reversed()) {
      made = new Stmt.Alloc(buffer, made);
      if (random.nextInt(20) == 0) {
        Var v = new Var("v" + vars.size(), Type.I32);
        vars.add(v);
        made = new Stmt.For(v, Exprs.i32(0), Exprs.i32(4), ForKind.SERIAL, null, Attrs.NONE, made);
      }
    }
    return made;
  }

  private static List<Stmt> there(@Nullable List<Stmt> path) {
    return Objects.requireNonNull(path);
  }

  /** The way, found by walking. */
  private static List<Stmt> walked(Stmt root, Object wanted) {
    List<Stmt> path = new ArrayList<>();
    assertThat(walk(root, wanted, path)).isTrue();
    return path;
  }

  private static boolean walk(Stmt s, Object wanted, List<Stmt> path) {
    path.add(s);
    if (s == wanted
        || s instanceof Stmt.Alloc alloc && alloc.buffer() == wanted
        || s instanceof Stmt.For loop && loop.var() == wanted
        || s instanceof Stmt.Block block && block.name().equals(wanted)) {
      return true;
    }
    for (Stmt child : Tree.children(s)) {
      if (walk(child, wanted, path)) {
        return true;
      }
    }
    path.removeLast();
    return false;
  }

  private static Stmt without(Stmt root, Stmt old) {
    return Tree.tidy(Tree.replace(root, old, Stmt.Seq.EMPTY));
  }

  private static void same(List<Stmt> path, List<Stmt> walked) {
    assertThat(path).as("seed %d", SEED).hasSize(walked.size());
    for (int i = 0; i < path.size(); i++) {
      assertThat(path.get(i)).isSameAs(walked.get(i));
      assertThat(Tree.indexOn(path, walked.get(i))).isEqualTo(i);
    }
    assertThat(Tree.indexOn(path, Stmt.Seq.EMPTY)).isEqualTo(-1);
    assertThat(Tree.loops(path)).isEqualTo(Tree.loops(walked));
  }

  @Test
  void findsWhatAWalkFinds() {
    Stmt root = deep();
    assertThat(Spine.of(root)).isNotNull();
    PrimFunc func = new PrimFunc("f", List.of(), root, Attrs.NONE);
    for (int i = 1; i < DEEP; i += 37) {
      Buffer buffer = buffers.get(i);
      List<Stmt> alloc = there(Tree.pathToAlloc(func, buffer));
      same(alloc, walked(root, buffer));
      assertThat(Tree.buffer(func, buffer.name())).isSameAs(buffer);
      // A block has the name of the buffer that it writes, and is inside.
      List<Stmt> block = there(Tree.pathToBlock(func, buffer.name()));
      same(block, walked(root, buffer.name()));
      same(there(Tree.pathTo(root, block.getLast())), block);
      same(there(Tree.pathTo(root, alloc.getLast())), alloc);
      assertThat(Tree.common(alloc, block)).isEqualTo(alloc.size());
      assertThat(Tree.common(block, new ArrayList<>(block))).isEqualTo(block.size());
    }
    for (Var v : vars) {
      same(there(Tree.pathToLoop(func, v)), walked(root, v));
    }
    assertThat(Tree.pathToBlock(func, "b" + DEEP)).isNull();
    assertThat(Tree.pathToAlloc(func, buffer("b1"))).isNull();
    assertThat(Tree.freshName(func, "b7")).isEqualTo("b7_1");
  }

  @Test
  void exchangesAndTidies() {
    Stmt root = deep();
    PrimFunc func = new PrimFunc("f", List.of(), root, Attrs.NONE);
    List<Stmt> path = there(Tree.pathToLoop(func, vars.getLast()));
    Stmt.For loop = (Stmt.For) path.getLast();
    Stmt shorter = Tree.replace(root, loop, loop.body());
    assertThat(Tree.pathToLoop(func.withBody(shorter), loop.var())).isNull();
    assertThat(Tree.loops(there(Tree.pathToBlock(func.withBody(shorter), "b7"))))
        .hasSize(Tree.loops(there(Tree.pathToBlock(func, "b7"))).size() - 1);
    assertThat(Tree.tidy(shorter)).isSameAs(shorter);

    Stmt sequence = path.getLast();
    while (!(sequence instanceof Stmt.Seq)) {
      sequence = Tree.children(sequence).getFirst();
    }
    Stmt nest = ((Stmt.Seq) sequence).stmts().get(5);
    Stmt without = without(root, nest);
    assertThat(Tree.blocks(without)).hasSize(DEEP - 2);
    assertThat(Tree.intermediates(func.withBody(without))).isEqualTo(buffers);
    // What is around nothing goes, all of it.
    assertThat(without(root, sequence)).isEqualTo(Stmt.Seq.EMPTY);
    assertThat(Tree.tidy(Stmts.alloc(buffers, Stmt.Seq.EMPTY))).isEqualTo(Stmt.Seq.EMPTY);
  }
}
