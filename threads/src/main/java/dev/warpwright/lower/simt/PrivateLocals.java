package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes local buffers as small as what one thread holds. An index into one is {@code base + Σ
 * coefficient · loop variable}, where the base is the same everywhere, however it depends on the
 * thread: it says which part is the thread's, and is left out. What is left is numbered without
 * gaps:
 *
 * <pre>{@code
 * alloc acc: f32[128] local;  acc[tx / 8 * 16 + i * 64 + j]   (i in 2, j in 4)
 * →
 * alloc acc: f32[8] local;    acc[i * 4 + j]
 * }</pre>
 */
final class PrivateLocals {
  private PrivateLocals() {}

  /**
   * Rewrites every local buffer that has an index with more than loop variables of one thread.
   *
   * @throws LoweringException if threads do not agree on which part is whose
   */
  static Stmt apply(Stmt body) {
    Map<Buffer, List<Use>> uses = new IdentityHashMap<>();
    new Collector(uses).stmt(body);
    Map<Buffer, Part> parts = new IdentityHashMap<>();
    uses.forEach((buffer, all) -> parts.put(buffer, Part.of(buffer, all)));
    return new Exchange(parts).stmt(body);
  }

  /** Indices of one access, with the extents of the loops of the thread around it. */
  private record Use(List<Expr> indices, Map<Var, Long> loops) {}

  /** One loop variable of an index. */
  private record Digit(Var var, long coefficient, long extent) {}

  /** The digits of an index, largest coefficient first. */
  private static List<Digit> digitsOf(Affine form, Map<Var, Long> loops) {
    List<Digit> digits = new ArrayList<>();
    form.coefficients().forEach((v, c) -> digits.add(new Digit(v, c, loops.getOrDefault(v, 0L))));
    digits.sort(Comparator.comparingLong(Digit::coefficient).reversed());
    return digits;
  }

  /**
   * What of a dimension belongs to a thread.
   *
   * @param base where it starts; null if the whole dimension is every thread's
   * @param digits coefficient and extent of each digit, largest first; null if indices differ, and
   *     everything from the base on is kept
   * @param extent number of elements that are kept
   */
  private record Kept(@Nullable Expr base, @Nullable List<long[]> digits, long extent) {
    static Kept of(Buffer buffer, int d, List<Use> uses) {
      boolean ofThread =
          uses.stream().allMatch(use -> isOfLoops(use.indices().get(d), use.loops().keySet()));
      boolean linear =
          uses.stream()
              .allMatch(use -> Affine.of(use.indices().get(d), use.loops().keySet()).isPresent());
      if (ofThread && !linear) {
        return new Kept(null, null, buffer.extent(d));
      }
      List<List<Digit>> all = new ArrayList<>();
      Expr base = null;
      long extent = 0;
      long leastOffset = Long.MAX_VALUE;
      List<Long> offsets = new ArrayList<>();
      for (Use use : uses) {
        Affine form = form(buffer, use.indices().get(d), use.loops());
        base = base == null ? form.base() : base;
        if (!(new Simplifier(Bounds.NONE).expr(Exprs.sub(form.base(), base))
            instanceof Expr.IntImm offset)) {
          throw new LoweringException(
              "threads do not agree on who holds which part of the local buffer " + buffer.name());
        }
        offsets.add(offset.value());
        leastOffset = Math.min(leastOffset, offset.value());
        all.add(digitsOf(form, use.loops()));
      }
      boolean same = offsets.stream().distinct().count() == 1 && sameDigits(all);
      if (same && separate(all.getFirst())) {
        List<long[]> kept =
            all.getFirst().stream().map(g -> new long[] {g.coefficient(), g.extent()}).toList();
        return new Kept(
            base, kept, kept.stream().mapToLong(g -> g[1]).reduce(1, Math::multiplyExact));
      }
      for (int i = 0; i < all.size(); i++) {
        long last = offsets.get(i) - leastOffset;
        for (Digit g : all.get(i)) {
          if (g.coefficient() < 0) {
            throw new LoweringException("a local buffer is indexed downwards: " + buffer.name());
          }
          last += g.coefficient() * (g.extent() - 1);
        }
        extent = Math.max(extent, last + 1);
      }
      return new Kept(Exprs.add(Objects.requireNonNull(base), leastOffset), null, extent);
    }

    private static boolean sameDigits(List<List<Digit>> all) {
      List<Digit> first = all.getFirst();
      for (List<Digit> other : all) {
        if (other.size() != first.size()) {
          return false;
        }
        for (int i = 0; i < first.size(); i++) {
          if (other.get(i).coefficient() != first.get(i).coefficient()
              || other.get(i).extent() != first.get(i).extent()) {
            return false;
          }
        }
      }
      return true;
    }

    /** Whether each digit starts above all that the smaller ones sum to. */
    private static boolean separate(List<Digit> digits) {
      long reach = 0;
      for (Digit g : digits.reversed()) {
        if (g.coefficient() <= reach) {
          return false;
        }
        reach += g.coefficient() * (g.extent() - 1);
      }
      return true;
    }

    Expr index(Buffer buffer, Expr old, Map<Var, Long> loops) {
      if (base == null) {
        return old;
      }
      Affine form = form(buffer, old, loops);
      if (digits == null) {
        return new Simplifier(Bounds.NONE).expr(Exprs.sub(form.toExpr(), base));
      }
      Expr index = Exprs.i32(0);
      long weight = extent;
      for (Digit g : digitsOf(form, loops)) {
        weight /= g.extent();
        index = Exprs.add(index, Exprs.mul(g.var(), weight));
      }
      return index;
    }
  }

  /** Whether an index depends on nothing but loops of the thread. */
  private static boolean isOfLoops(Expr index, Set<Var> loops) {
    boolean[] only = {true};
    Walk.expressions(index, e -> only[0] &= !(e instanceof Var v) || loops.contains(v));
    return only[0];
  }

  private static Affine form(Buffer buffer, Expr index, Map<Var, Long> loops) {
    return Affine.of(index, loops.keySet())
        .orElseThrow(
            () ->
                new LoweringException(
                    "an index of the local buffer " + buffer.name() + " is not linear: " + index));
  }

  /** A buffer's part for one thread. */
  private record Part(Buffer buffer, List<Kept> dimensions) {
    static Part of(Buffer buffer, List<Use> uses) {
      List<Kept> kept = new ArrayList<>();
      for (int d = 0; d < buffer.rank(); d++) {
        kept.add(Kept.of(buffer, d, uses));
      }
      return new Part(
          buffer.withShape(kept.stream().map(k -> Exprs.i32(k.extent())).toList()), kept);
    }

    List<Expr> indices(List<Expr> indices, Map<Var, Long> loops) {
      List<Expr> result = new ArrayList<>();
      for (int d = 0; d < indices.size(); d++) {
        result.add(dimensions.get(d).index(buffer, indices.get(d), loops));
      }
      return result;
    }
  }

  /** Knows the loops around what it visits. */
  private abstract static class InLoops extends Rewriter {
    final Map<Var, Long> loops = new HashMap<>();

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.For loop && loop.extent() instanceof Expr.IntImm extent) {
        loops.put(loop.var(), extent.value());
        Stmt result = super.stmt(s);
        loops.remove(loop.var());
        return result;
      }
      return super.stmt(s);
    }
  }

  private static final class Collector extends InLoops {
    private final Map<Buffer, List<Use>> uses;

    Collector(Map<Buffer, List<Use>> uses) {
      this.uses = uses;
    }

    private void add(Buffer buffer, List<Expr> indices) {
      if (buffer.scope() == Scope.LOCAL) {
        uses.computeIfAbsent(buffer, b -> new ArrayList<>())
            .add(new Use(indices, Map.copyOf(loops)));
      }
    }

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.Store store) {
        add(store.buffer(), store.indices());
      }
      return super.stmt(s);
    }

    @Override
    public Expr expr(Expr e) {
      if (e instanceof Expr.Load load) {
        add(load.buffer(), load.indices());
      }
      return super.expr(e);
    }
  }

  private static final class Exchange extends InLoops {
    private final Map<Buffer, Part> parts;

    Exchange(Map<Buffer, Part> parts) {
      this.parts = parts;
    }

    @Override
    protected Buffer buffer(Buffer buffer) {
      Part part = parts.get(buffer);
      return part == null ? buffer : part.buffer();
    }

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.Store(Buffer buffer, List<Expr> indices, Expr value)
          && parts.get(buffer) instanceof Part part) {
        return new Stmt.Store(part.buffer(), part.indices(indices, loops), expr(value));
      }
      return super.stmt(s);
    }

    @Override
    public Expr expr(Expr e) {
      if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
          && parts.get(buffer) instanceof Part part) {
        return new Expr.Load(part.buffer(), part.indices(indices, loops));
      }
      return super.expr(e);
    }
  }
}
