package dev.warpwright.cuda;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Pointers of a loop: strength reduction and hoisting of addresses, where nvcc and NVRTC do neither
 * by themselves.
 *
 * <p>In a loop with the attribute {@code items}, over work items, a pointer is incremented in place
 * of an address that is computed for each item: some twenty instructions, which narrow layers of a
 * network notice (12 layers of 32 columns: 40.7 µs for 42.5,
 * docs/benchmarks/2026-11-29-registers-of-accumulators.md).
 *
 * <pre>{@code
 *                                             const float* x_at = &x[bx * 64 + row * 16];
 * for (int turn = 0; turn < n; ++turn) {      for (int turn = 0; turn < n; ++turn) {
 *   … x[(turn * 132 + bx) * 64 + row * 16] →    … *x_at
 *                                               x_at += 8448;
 * }                                           }
 * }</pre>
 *
 * <p>That is for loads and stores whose place in memory is linear in the loop's variable; what
 * unrolled loops inside add is an offset from the pointer.
 *
 * <p>In front of a loop with the attribute {@code pointers} what the loop does not change is added
 * to a pointer to shared memory, and the loop's variable is part of the offset. Of indices in 32
 * bits NVRTC, whose pointers to shared memory have 64, computes each step's address anew (a network
 * by fma took 697 µs for 664).
 *
 * <pre>{@code
 *                                               const float* w_at = &w[layer * 4096 + col];
 * #pragma unroll 16                             #pragma unroll 16
 * for (int k = 0; k < 64; ++k) {             →  for (int k = 0; k < 64; ++k) {
 *   … w[layer * 4096 + k * 64 + col + 32]         … w_at[k * 64 + 32]
 * }                                             }
 * }</pre>
 */
final class LoopPointers {
  /** Each is two registers. */
  private static final int MOST = 4;

  /**
   * Bytes of an element of inputs or results, of one at least: networks whose rows are all f32 take
   * 1 % longer so (64 × 4 in tf32 147.7 µs for 146.0, by fma 667.2 for 664.3), others up to 4 %
   * less.
   */
  private static final int NARROW = 2;

  /** Where an element is: {@code step · variable + base + rest + constant}, in elements. */
  private record Place(long step, Map<Expr, Long> base, Map<Expr, Long> rest, long constant) {}

  /**
   * A pointer.
   *
   * @param begin where it points in the first iteration, in elements
   * @param step elements that an iteration adds; 0 if it stays
   * @param base what of a place the loop does not change
   * @param at the constant of the place where it points
   */
  record Pointer(Buffer buffer, String name, Expr begin, long step, Map<Expr, Long> base, long at) {
    /** Its declaration, in front of the loop. */
    String declared(ExprPrinter exprs, Names names, Facts facts, AccessSummary accesses) {
      return (accesses.writes(buffer) ? "" : "const ")
          + CudaTypes.name(buffer.dtype())
          + "* "
          + name
          + " = &"
          + names.of(buffer)
          + "["
          + exprs.print(facts.simplified(begin))
          + "];";
    }

    private boolean reaches(Buffer other, Place place) {
      return other == buffer && place.step() == step && place.base().equals(base);
    }
  }

  private final Var variable;

  /** Whether pointers are incremented; or else stay where they are. */
  private final boolean items;

  private final Map<Var, Expr> lets = new HashMap<>();
  private final Set<Var> inner = new HashSet<>();
  private final Set<Var> unrolled = new HashSet<>();
  private final List<Pointer> pointers = new ArrayList<>();

  private LoopPointers(Var variable, boolean items) {
    this.variable = variable;
    this.items = items;
    if (!items) {
      unrolled.add(variable);
    }
  }

  /**
   * The pointers of a loop.
   *
   * @return null if it has none
   */
  static @Nullable LoopPointers of(Stmt.For loop, Names names) {
    boolean items = loop.attrs().has(Attrs.ITEMS);
    if (!items && !loop.attrs().has(Attrs.POINTERS) || loop.kind() != ForKind.SERIAL) {
      return null;
    }
    LoopPointers result = new LoopPointers(loop.var(), items);
    Walk.statements(loop.body(), result::enter);
    Map<Buffer, List<Place>> places = new LinkedHashMap<>();
    Walk.all(
        loop.body(),
        s -> {
          if (s instanceof Stmt.Store store) {
            result.add(places, store.buffer(), store.indices());
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            result.add(places, load.buffer(), load.indices());
          }
        });
    if (items && places.keySet().stream().noneMatch(b -> b.dtype().bytes() <= NARROW)) {
      return null;
    }
    places.forEach(
        (buffer, each) -> each.forEach(place -> result.point(buffer, place, loop, names)));
    return result.pointers.isEmpty() || result.pointers.size() > MOST ? null : result;
  }

  List<Pointer> pointers() {
    return pointers;
  }

  /**
   * An element by one of the pointers: the pointer and an offset in elements.
   *
   * @return null if none reaches it
   */
  @Nullable Text element(ExprPrinter exprs, Facts facts, Buffer buffer, List<Expr> indices) {
    Place place = place(buffer, indices);
    if (place == null) {
      return null;
    }
    for (Pointer pointer : pointers) {
      if (pointer.reaches(buffer, place)) {
        Expr offset = sum(DType.I32, place.rest(), place.constant() - pointer.at());
        return Text.atom(pointer.name() + "[" + exprs.print(facts.simplified(offset)) + "]");
      }
    }
    return null;
  }

  private void enter(Stmt s) {
    switch (s) {
      case Stmt.Let let when isPlain(let.value()) ->
          lets.put(let.var(), Substitution.ofVars(lets).expr(let.value()));
      case Stmt.Let let -> inner.add(let.var());
      case Stmt.For f -> (f.kind() == ForKind.UNROLLED ? unrolled : inner).add(f.var());
      default -> {}
    }
  }

  private static boolean isPlain(Expr value) {
    boolean[] plain = {value.type().isScalar() && value.type().dtype() == DType.I32};
    Walk.expressions(
        value,
        e ->
            plain[0] &=
                !(e instanceof Expr.Load || e instanceof Expr.Call || e instanceof Expr.AddressOf));
    return plain[0];
  }

  private void add(Map<Buffer, List<Place>> places, Buffer buffer, List<Expr> indices) {
    Place place = place(buffer, indices);
    if (place != null) {
      places.computeIfAbsent(buffer, b -> new ArrayList<>()).add(place);
    }
  }

  private void point(Buffer buffer, Place place, Stmt.For loop, Names names) {
    if (pointers.stream().anyMatch(p -> p.reaches(buffer, place))) {
      return;
    }
    // NVRTC makes more of 32 bits where they are enough.
    DType type = buffer.scope() == Scope.SHARED ? DType.I32 : DType.I64;
    Expr first =
        Exprs.mul(Exprs.cast(type, loop.min()), new Expr.IntImm(Type.of(type), place.step()));
    Expr begin = Exprs.add(sum(type, place.base(), place.constant()), first);
    String name = names.declare(buffer.name() + "_at");
    pointers.add(new Pointer(buffer, name, begin, place.step(), place.base(), place.constant()));
  }

  /** Null where the place is not linear in an item's variable, or does not change with it. */
  private @Nullable Place place(Buffer buffer, List<Expr> indices) {
    if (buffer.scope() != (items ? Scope.GLOBAL : Scope.SHARED)
        || buffer.layout() != null
        || buffer.rank() == 0) {
      return null;
    }
    long step = 0;
    long constant = 0;
    long stride = 1;
    Map<Expr, Long> base = new LinkedHashMap<>();
    Map<Expr, Long> rest = new LinkedHashMap<>();
    for (int d = buffer.rank() - 1; d >= 0; d--) {
      Expr index = FlatIndex.lane(indices, 0).get(d);
      if (!isPlain(index) || d > 0 && !(buffer.shape().get(d) instanceof Expr.IntImm)) {
        return null;
      }
      LinearForm form = LinearForm.of(Substitution.ofVars(lets).expr(index));
      for (Map.Entry<Expr, Long> term : form.terms().entrySet()) {
        long factor = term.getValue() * stride;
        if (items && term.getKey() == variable) {
          step += factor;
        } else if (mentions(term.getKey(), inner)
            || items && mentions(term.getKey(), Set.of(variable))) {
          return null;
        } else {
          (mentions(term.getKey(), unrolled) ? rest : base).merge(term.getKey(), factor, Long::sum);
        }
      }
      constant += form.constant() * stride;
      stride *= d > 0 ? buffer.extent(d) : 1;
    }
    return items && step == 0 ? null : new Place(step, base, rest, constant);
  }

  private static boolean mentions(Expr e, Set<Var> variables) {
    boolean[] found = {false};
    Walk.expressions(e, inside -> found[0] |= inside instanceof Var v && variables.contains(v));
    return found[0];
  }

  private static Expr sum(DType type, Map<Expr, Long> terms, long constant) {
    Expr sum = new Expr.IntImm(Type.of(type), 0);
    for (Map.Entry<Expr, Long> term : terms.entrySet()) {
      Expr factor = new Expr.IntImm(Type.of(type), term.getValue());
      sum = Exprs.add(sum, Exprs.mul(Exprs.cast(type, term.getKey()), factor));
    }
    return Exprs.add(sum, new Expr.IntImm(Type.of(type), constant));
  }
}
