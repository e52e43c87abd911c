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
import dev.warpwright.ir.type.DType;
import dev.warpwright.schedule.Functions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What is sought in a deep network is looked for in the nests that hold it, and in no others. */
final class LongSequenceTest {
  private static final long SEED = Long.getLong("seed", 20261123);
  private static final int STAGES = 400;

  private final List<Buffer> buffers = new ArrayList<>();

  private Stmt.For nest(int from, int to) {
    Buffer source = buffers.get(from);
    return (Stmt.For)
        Functions.elementwise(
            buffers.get(to), at -> Exprs.add(new Expr.Load(source, at), Exprs.f32(1)));
  }

  /** A nest for each buffer but the first: it reads the one before. */
  private List<Stmt> chain() {
    for (int i = 0; i <= STAGES; i++) {
      buffers.add(
          Buffer.of("b" + i, DType.F32, Scope.GLOBAL, List.of(Exprs.i32(64), Exprs.i32(8))));
    }
    List<Stmt> nests = new ArrayList<>();
    for (int i = 1; i <= STAGES; i++) {
      nests.add(nest(i - 1, i));
    }
    return nests;
  }

  private static Stmt.For parallel(Stmt.For f) {
    return new Stmt.For(
        f.var(), f.min(), f.extent(), ForKind.PARALLEL, f.axis(), f.attrs(), f.body());
  }

  private static LongSequence known(Stmt.Seq seq) {
    return Objects.requireNonNull(LongSequence.of(seq));
  }

  @Test
  void nothingElseIsLookedInto() {
    Stmt.Seq seq = new Stmt.Seq(chain());
    Stmt.For some = (Stmt.For) seq.stmts().get(200);
    assertThat(Sought.of(buffers.get(200)).children(seq))
        .containsExactly(seq.stmts().get(199), some);
    assertThat(Sought.loop(some.var()).children(seq)).containsExactly(some);
    assertThat(Sought.of(some.body()).children(seq)).containsExactly(some);
    assertThat(Sought.name("b201").children(seq)).containsExactly(some);
    assertThat(Sought.name("b").children(seq)).isEmpty();
    assertThat(known(seq).mayBeParallel()).isEmpty();
    List<Stmt> rewritten = new ArrayList<>();
    Sought.rewritten(
        seq,
        List.of(Sought.of(buffers.get(7)), Sought.of(some)),
        s -> {
          rewritten.add(s);
          return s;
        });
    assertThat(rewritten).containsExactly(seq.stmts().get(6), seq.stmts().get(7), some);

    PrimFunc func = new PrimFunc("f", List.copyOf(buffers), seq, Attrs.NONE);
    assertThat(Tree.pathToLoop(func, some.var())).containsExactly(seq, some);
    assertThat(Tree.freshName(func, "b201")).isEqualTo("b201_1");
    assertThat(Tree.freshName(func, "b")).isEqualTo("b");
  }

  /** Statements come, go and change as primitives have it; what is known is brought up to date. */
  @Test
  void whatIsKnownFollowsEveryChange() {
    SplittableRandom random = new SplittableRandom(SEED);
    List<Stmt> now = chain();
    Stmt.Seq seq = new Stmt.Seq(now);
    LongSequence first = known(seq);
    for (int round = 0; round < 300; round++) {
      Stmt.Seq before = seq;
      now = new ArrayList<>(now);
      int at = random.nextInt(now.size());
      Stmt.For made = nest(random.nextInt(STAGES), random.nextInt(STAGES));
      switch (random.nextInt(5)) {
        case 0 -> now.remove(at);
        case 1 -> now.add(at, made);
        case 2 -> now.set(at, made);
        // The very same once more, and one in parallel.
        case 3 -> now.add(at, now.get(random.nextInt(now.size())));
        default -> now.set(at, parallel(made));
      }
      seq = new Stmt.Seq(now);
      assertThat(known(seq)).as("it is not made anew").isSameAs(first);
      assertThat(before).isNotSameAs(seq);
      for (int look = 0; look < 5; look++) {
        Buffer buffer = buffers.get(random.nextInt(buffers.size()));
        assertThat(Sought.of(buffer).children(seq))
            .as("seed %d, round %d", SEED, round)
            .usingElementComparator((a, b) -> a == b ? 0 : 1)
            .isEqualTo(now.stream().filter(s -> mentions(s, buffer)).toList());
      }
      assertThat(known(seq).mayBeParallel())
          .usingElementComparator((a, b) -> a == b ? 0 : 1)
          .isEqualTo(now.stream().filter(s -> ((Stmt.For) s).kind() == ForKind.PARALLEL).toList());
    }
  }

  private static boolean mentions(Stmt nest, Buffer buffer) {
    return Accesses.of(nest).stream().anyMatch(access -> access.buffer() == buffer);
  }

  @Test
  void tidyingLooksAtWhatMayBeUntidyOnly() {
    List<Stmt> stmts = chain();
    stmts.set(77, ((Stmt.For) stmts.get(77)).withBody(Stmt.Seq.EMPTY));
    Stmt.Seq seq = new Stmt.Seq(stmts);
    List<Stmt> rewritten = new ArrayList<>();
    Stmt tidied =
        known(seq)
            .tidied(
                seq,
                s -> {
                  rewritten.add(s);
                  return s;
                });
    assertThat(rewritten).containsExactly(stmts.get(77));
    assertThat(tidied).isSameAs(seq);
    List<Stmt> rest = new ArrayList<>(stmts);
    rest.remove(77);
    assertThat(Tree.tidy(seq)).isEqualTo(new Stmt.Seq(rest));
    // What is empty already goes, too; what is left is tidy.
    stmts.set(77, Stmt.Seq.EMPTY);
    Stmt without = Tree.tidy(new Stmt.Seq(stmts));
    assertThat(without).isEqualTo(new Stmt.Seq(rest));
    assertThat(Tree.tidy(without)).isSameAs(without);
  }
}
