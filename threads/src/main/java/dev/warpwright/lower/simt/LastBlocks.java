package dev.warpwright.lower.simt;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lets blocks work on parts of the same thing, and the last of them, whichever that is, go on with
 * what follows:
 *
 * <pre>{@code
 * bind y: blockIdx.y { alloc part: f32[P, n] global
 *   bind z: blockIdx.z in P { part[z, …] = … }
 *   use part }
 * →
 * bind y: blockIdx.y { bind z: blockIdx.z in P {
 *   part[y, z, …] = …                            (a parameter, scratch memory)
 *   barrier; one thread: turn = counters[y]++; barrier
 *   if turn == P-1 { counters[y] = 0; use part } } }
 * }</pre>
 *
 * <p>Taking a number releases what all threads of the block wrote, for the barrier before it, and
 * acquires what those with lower numbers released. Nobody waits, so no order of blocks can lead to
 * a deadlock; and the order in which parts are used does not depend on who is last. The counters
 * are zero again after each launch. Where the elements of a part have a layout, it is in the index:
 * the parameter has none.
 *
 * <p>Guarantees: every loop bound to a block index is around everything, no global memory is
 * allocated inside.
 */
final class LastBlocks {
  private static final String COUNTERS = "counters";

  private final Map<ThreadAxis, Expr> threads = new EnumMap<>(ThreadAxis.class);
  private final Map<Buffer, Buffer> hoisted = new IdentityHashMap<>();
  private final Map<Buffer, List<Expr>> prefixes = new IdentityHashMap<>();
  private final List<Param> params = new ArrayList<>();

  private LastBlocks() {}

  /**
   * Rewrites a function; one whose blocks share nothing stays as it is.
   *
   * @throws LoweringException if global memory is allocated otherwise than for what the blocks of
   *     one loop share
   */
  static PrimFunc apply(PrimFunc func) {
    boolean[] shares = {false};
    Walk.statements(
        func.body(),
        s -> shares[0] |= s instanceof Stmt.Alloc a && a.buffer().scope() == Scope.GLOBAL);
    return shares[0] ? new LastBlocks().share(func) : func;
  }

  private PrimFunc share(PrimFunc func) {
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.For loop && loop.axis() != null && !loop.axis().isBlock()) {
            threads.putIfAbsent(loop.axis(), loop.extent());
          }
        });
    Stmt body = new Indexed().stmt(around(func.body(), List.of()));
    List<Param> all = new ArrayList<>(func.params());
    all.addAll(params);
    return new PrimFunc(func.name(), all, body, func.attrs().with("zero", COUNTERS));
  }

  /** What is inside loops over blocks. */
  private Stmt around(Stmt s, List<Stmt.For> blocks) {
    return switch (s) {
      case Stmt.For loop when isOfBlocks(loop) -> {
        List<Stmt.For> inner = new ArrayList<>(blocks);
        inner.add(loop);
        yield loop.withBody(around(loop.body(), inner));
      }
      case Stmt.Alloc(Buffer buffer, Stmt inner) when buffer.scope() == Scope.GLOBAL -> {
        hoist(buffer, blocks);
        yield around(inner, blocks);
      }
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> new Stmt.Alloc(buffer, around(inner, blocks));
      case Stmt.Seq(List<Stmt> stmts)
          when stmts.size() > 1 && stmts.getFirst() instanceof Stmt.For loop && isOfBlocks(loop) ->
          loop.withBody(Stmts.seq(loop.body(), last(loop, blocks, stmts.subList(1, stmts.size()))));
      default ->
          throw new LoweringException(
              "blocks share memory, but there is no loop over them that fills it, with what the"
                  + " last one does behind it");
    };
  }

  private static boolean isOfBlocks(Stmt.For loop) {
    return loop.axis() != null && loop.axis().isBlock();
  }

  /** A copy of a buffer for each tile, as a parameter. */
  private void hoist(Buffer buffer, List<Stmt.For> blocks) {
    List<Expr> shape = new ArrayList<>(blocks.stream().map(Stmt.For::extent).toList());
    Layout layout = buffer.layout();
    shape.addAll(layout == null ? buffer.shape() : List.of(Exprs.i32(layout.cosize())));
    Buffer all = Buffer.of(buffer.name(), buffer.dtype(), Scope.GLOBAL, shape);
    hoisted.put(buffer, all);
    prefixes.put(buffer, blocks.stream().<Expr>map(Stmt.For::var).toList());
    params.add(all);
  }

  private Stmt last(Stmt.For parts, List<Stmt.For> blocks, List<Stmt> rest) {
    Buffer counters =
        Buffer.of(
            COUNTERS, DType.U32, Scope.GLOBAL, blocks.stream().map(Stmt.For::extent).toList());
    params.add(counters);
    List<Expr> tile = blocks.stream().<Expr>map(Stmt.For::var).toList();
    Buffer turn = Buffer.of("turn", DType.U32, Scope.SHARED, 1);
    List<Expr> only = List.of(Exprs.i32(0));
    Expr taken =
        new Expr.Call(
            CounterIntrinsics.ATOMIC_ADD,
            List.of(new Expr.AddressOf(counters, tile), Exprs.constant(Type.U32, 1)),
            Type.U32);
    Stmt barrier = Exprs.evaluate(Intrinsics.SYNC_THREADS);
    Stmt reset = first(new Stmt.Store(counters, tile, Exprs.constant(Type.U32, 0)));
    List<Stmt> finish = new ArrayList<>(List.of(reset));
    finish.addAll(rest);
    Expr others = Exprs.cast(DType.U32, Exprs.add(parts.extent(), -1));
    return new Stmt.Alloc(
        turn,
        Stmts.seq(
            barrier,
            first(new Stmt.Store(turn, only, taken)),
            barrier,
            new Stmt.If(Exprs.eq(new Expr.Load(turn, only), others), Stmts.seq(finish), null)));
  }

  /** What the first thread of a block does. */
  private Stmt first(Stmt s) {
    Stmt nest = s;
    List<Stmt.For> loops = new ArrayList<>();
    for (Map.Entry<ThreadAxis, Expr> axis : threads.entrySet()) {
      Var t = Var.index("t");
      nest = new Stmt.If(Exprs.eq(t, Exprs.i32(0)), nest, null);
      loops.add(
          new Stmt.For(
              t,
              Exprs.i32(0),
              axis.getValue(),
              ForKind.THREAD_BOUND,
              axis.getKey(),
              Attrs.NONE,
              Stmt.Seq.EMPTY));
    }
    for (Stmt.For loop : loops) {
      nest = loop.withBody(nest);
    }
    return nest;
  }

  /** Puts the tile before the indices of what was a tile's own. */
  private final class Indexed extends Rewriter {
    @Override
    public Stmt stmt(Stmt s) {
      return s instanceof Stmt.Store(Buffer buffer, List<Expr> indices, Expr value)
              && hoisted.get(buffer) instanceof Buffer all
          ? new Stmt.Store(all, with(buffer, indices), expr(value))
          : super.stmt(s);
    }

    @Override
    public Expr expr(Expr e) {
      return e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
              && hoisted.get(buffer) instanceof Buffer all
          ? new Expr.Load(all, with(buffer, indices))
          : super.expr(e);
    }

    private List<Expr> with(Buffer buffer, List<Expr> indices) {
      List<Expr> all = new ArrayList<>(prefixes.getOrDefault(buffer, List.of()));
      List<Expr> own = indices.stream().map(this::expr).toList();
      Layout layout = buffer.layout();
      all.addAll(layout == null ? own : List.of(layout.offset(own)));
      return all;
    }
  }
}
