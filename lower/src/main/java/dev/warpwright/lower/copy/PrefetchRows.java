package dev.warpwright.lower.copy;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads an item ahead what an item begins with: the few inputs of each row that a thread reads from
 * global memory into registers, in a loop over items with {@code prefetch = 1}. What memory takes
 * to answer is no item's time any more (docs/decisions/0121-rows-an-item-ahead.md).
 *
 * <pre>{@code
 *                                      x_row_next[0] = 0 < n ? x[row(0), 0] : 0
 * mbarrier.wait(&full[0], 0)           mbarrier.wait(&full[0], 0)
 * for item in n {                      for item in n {
 *   let first = row(item)                let first = row(item)
 *   x_row[0] = x[first, 0]        →      x_row[0] = x_row_next[0]
 *                                        let first_next = row(item + 1)
 *                                        x_row_next[0] = item + 1 < n ? x[first_next, 0] : 0
 *   … f(x_row[0]) …                      … f(x_row[0]) …
 * }                                    }
 * }</pre>
 *
 * <p>Requires nothing: what is read of memory that the kernel writes, or depends on more than the
 * item's number, stays where it is, and so do rows that take too many registers. Stands behind
 * {@code LowerTiles}, which decides what a thread reads. What tile copies read, {@code
 * PrefetchItems} reads ahead.
 */
public final class PrefetchRows extends Rewriter {
  private static final String ATTRIBUTE = "prefetch";

  /** Registers; longer rows are copied as tiles. */
  private static final int MOST = 16;

  /** What the kernel may write: all whose address is taken counts. */
  private final Set<Buffer> touched = new HashSet<>();

  /** The loop over items that is looked at; they are not nested. */
  private Stmt.For loop =
      Stmt.For.of(ForKind.SERIAL, Var.index("item"), Exprs.i32(0), Stmt.Seq.EMPTY);

  private final Map<Var, Expr> lets = new LinkedHashMap<>();
  private final Map<Buffer, Buffer> next = new LinkedHashMap<>();
  private final List<Stmt.Store> reads = new ArrayList<>();

  /** Whether something else stands ahead of what follows. */
  private boolean stopped;

  private PrefetchRows(Kernel kernel) {
    Walk.all(
        kernel.body(),
        s -> touched.addAll(Leaves.of(s).writes()),
        e -> {
          if (e instanceof Expr.AddressOf address) {
            touched.add(address.buffer());
          }
        });
  }

  /** Reads ahead where a loop asks for it. */
  public static Kernel apply(Kernel kernel, PassListener listener) {
    Stmt body = new PrefetchRows(kernel).stmt(kernel.body());
    return body == kernel.body() ? kernel : listener.tell("PrefetchRows", kernel.withBody(body));
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (s instanceof Stmt.For f && f.attrs().has(ATTRIBUTE)) {
      return ahead(f, List.of());
    }
    return s instanceof Stmt.Seq(List<Stmt> stmts) ? sequence(stmts, s) : super.stmt(s);
  }

  /** The first item's reads stand ahead of waits: neither needs the other. */
  private Stmt sequence(List<Stmt> stmts, Stmt whole) {
    int at = 0;
    while (at < stmts.size()
        && !(stmts.get(at) instanceof Stmt.For f && f.attrs().has(ATTRIBUTE))) {
      at++;
    }
    if (at == stmts.size()) {
      return super.stmt(whole);
    }
    int waits = at;
    while (waits > 0 && isWait(stmts.get(waits - 1))) {
      waits--;
    }
    return Stmts.seq(
        stmt(Stmts.seq(stmts.subList(0, waits))),
        ahead((Stmt.For) stmts.get(at), stmts.subList(waits, at)),
        stmt(Stmts.seq(stmts.subList(at + 1, stmts.size()))));
  }

  private static boolean isWait(Stmt s) {
    return switch (s) {
      case Stmt.Evaluate(Expr.Call call) -> call.op() == HopperIntrinsics.MBARRIER_WAIT;
      case Stmt.For f -> isWait(f.body());
      default -> false;
    };
  }

  /** The loop behind the first item's reads, and behind what is waited for. */
  private Stmt ahead(Stmt.For items, List<Stmt> waits) {
    loop = items.withAttrs(items.attrs().without(ATTRIBUTE));
    lets.clear();
    next.clear();
    reads.clear();
    stopped = false;
    Stmt rest = loop.withBody(rest(loop.body()));
    Stmt first = reads.isEmpty() ? Stmt.Seq.EMPTY : of(reads, loop.min(), null);
    return Stmts.alloc(List.copyOf(next.values()), Stmts.seq(first, Stmts.seq(waits), rest));
  }

  /** What an item does when its rows are there. */
  private Stmt rest(Stmt s) {
    return switch (s) {
      case Stmt.Let(Var v, Expr value, Stmt body) when isKnown(value) -> {
        lets.put(v, value);
        yield new Stmt.Let(v, value, rest(body));
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) -> new Stmt.Alloc(buffer, rest(body));
      case Stmt.Seq(List<Stmt> stmts) -> rest(stmts);
      default -> {
        stopped = true;
        yield s;
      }
    };
  }

  private Stmt rest(List<Stmt> stmts) {
    List<Stmt> result = new ArrayList<>();
    List<Stmt.Store> own = new ArrayList<>();
    for (Stmt each : stmts) {
      if (!stopped && each instanceof Stmt.Store store && isRead(store)) {
        Buffer ahead = next.computeIfAbsent(store.buffer(), PrefetchRows::ahead);
        Expr there = new Expr.Load(ahead, store.indices());
        result.add(new Stmt.Store(store.buffer(), store.indices(), there));
        own.add(store);
        reads.add(store);
        continue;
      }
      result.add(next(own));
      own.clear();
      result.add(stopped ? each : rest(each));
    }
    result.add(next(own));
    return Stmts.seq(result);
  }

  private Stmt next(List<Stmt.Store> stores) {
    return stores.isEmpty() ? Stmt.Seq.EMPTY : of(stores, Exprs.add(loop.var(), 1), loop.var());
  }

  /**
   * The reads of an item, if there is such an item.
   *
   * @param changed a variable without which a value is known already; null if none is
   */
  private Stmt of(List<Stmt.Store> stores, Expr item, @Nullable Var changed) {
    Expr any = Exprs.lt(Exprs.sub(loop.var(), loop.min()), loop.extent());
    Stmt result = Stmts.seq(stores.stream().map(store -> (Stmt) guarded(store, any)).toList());
    Set<Var> changing = new HashSet<>();
    lets.forEach(
        (v, value) -> {
          if (changed == null || mentions(value, changed, changing)) {
            changing.add(v);
          }
        });
    for (Var v : List.copyOf(lets.keySet()).reversed()) {
      if (changing.contains(v)) {
        result = new Stmt.Let(v, Objects.requireNonNull(lets.get(v)), result);
      }
    }
    return FreshNames.with(loop.var(), item, result);
  }

  private Stmt.Store guarded(Stmt.Store store, Expr any) {
    Buffer ahead = Objects.requireNonNull(next.get(store.buffer()));
    return new Stmt.Store(ahead, store.indices(), Guards.where(any, store.value()));
  }

  private boolean isRead(Stmt.Store store) {
    boolean[] memory = {false};
    Walk.expressions(store.value(), e -> memory[0] |= e instanceof Expr.Load);
    return memory[0]
        && reads.size() < MOST
        && store.buffer().scope() == Scope.LOCAL
        && store.indices().getFirst() instanceof Expr.IntImm
        && isKnown(store.value());
  }

  /** Whether a value follows from the item's number and what does not change. */
  private boolean isKnown(Expr value) {
    boolean[] known = {true};
    Walk.expressions(
        value,
        e ->
            known[0] &=
                switch (e) {
                  case Expr.Load load ->
                      load.buffer().scope() == Scope.GLOBAL && !touched.contains(load.buffer());
                  case Expr.Call _, Expr.AddressOf _ -> false;
                  default -> true;
                });
    return known[0];
  }

  private static boolean mentions(Expr value, Var changed, Set<Var> changing) {
    boolean[] found = {false};
    Walk.expressions(
        value, e -> found[0] |= e == changed || e instanceof Var v && changing.contains(v));
    return found[0];
  }

  private static Buffer ahead(Buffer buffer) {
    return Buffer.of(buffer.name() + "_next", buffer.dtype(), Scope.LOCAL, buffer.extent(0));
  }
}
