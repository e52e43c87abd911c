package dev.warpwright.ir.visit;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Op;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Rebuilds a tree bottom-up. Override {@link #expr(Expr)} or {@link #stmt(Stmt)} and call {@code
 * super} to descend; override {@link #buffer(Buffer)} to exchange buffers. What did not change is
 * returned as the same instance.
 */
public class Rewriter {
  /** A rewriter that changes nothing until methods are overridden. */
  public Rewriter() {}

  private final Map<Pipe, Pipe> pipes = new HashMap<>();

  /**
   * {@return the buffer to use instead, for every mention}
   *
   * @param buffer as it stands
   */
  protected Buffer buffer(Buffer buffer) {
    return buffer;
  }

  /**
   * Rewrites what stands where variables run from 0 to extents. Override it to know them there.
   *
   * @param <T> of what is rewritten
   * @param vars of the box
   * @param extents one for each variable
   * @param rewrite gives what stands there
   * @return what {@code rewrite} gives
   */
  protected <T> T under(List<Var> vars, List<Expr> extents, Supplier<T> rewrite) {
    return rewrite.get();
  }

  private <T> T inReduction(Stmt.TileReduce r, Supplier<T> rewrite) {
    return under(r.vars(), r.extents(), () -> under(r.reduceVars(), r.reduceExtents(), rewrite));
  }

  private Stmt body(Role role) {
    Var instance = role.instance();
    return instance == null
        ? stmt(role.body())
        : under(List.of(instance), List.of(Exprs.i32(role.instances())), () -> stmt(role.body()));
  }

  /**
   * {@return an expression rewritten, from the inside out}
   *
   * @param e any expression
   */
  public Expr expr(Expr e) {
    return switch (e) {
      case Var v -> v;
      case Expr.IntImm imm -> imm;
      case Expr.FloatImm imm -> imm;
      case Expr.Binary(BinaryOp op, Expr a, Expr b) -> {
        Expr newA = expr(a);
        Expr newB = expr(b);
        yield newA == a && newB == b ? e : new Expr.Binary(op, newA, newB);
      }
      case Expr.Unary(UnaryOp op, Expr a) -> {
        Expr newA = expr(a);
        yield newA == a ? e : new Expr.Unary(op, newA);
      }
      case Expr.Select(Expr c, Expr t, Expr f) -> {
        Expr newC = expr(c);
        Expr newT = expr(t);
        Expr newF = expr(f);
        yield newC == c && newT == t && newF == f ? e : new Expr.Select(newC, newT, newF);
      }
      case Expr.Cast(Type type, Expr a) -> {
        Expr newA = expr(a);
        yield newA == a ? e : new Expr.Cast(type.withLanes(newA.type().lanes()), newA);
      }
      case Expr.Bitcast(Type type, Expr a) -> {
        Expr newA = expr(a);
        yield newA == a ? e : new Expr.Bitcast(type, newA);
      }
      case Expr.Load(Buffer buffer, List<Expr> indices) -> {
        Buffer newBuffer = buffer(buffer);
        List<Expr> newIndices = exprs(indices);
        yield newBuffer == buffer && newIndices == indices
            ? e
            : new Expr.Load(newBuffer, newIndices);
      }
      case Expr.AddressOf(Buffer buffer, List<Expr> indices) -> {
        Buffer newBuffer = buffer(buffer);
        List<Expr> newIndices = exprs(indices);
        yield newBuffer == buffer && newIndices == indices
            ? e
            : new Expr.AddressOf(newBuffer, newIndices);
      }
      case Expr.Ramp(Expr base, long stride, int lanes) -> {
        Expr newBase = expr(base);
        yield newBase == base ? e : new Expr.Ramp(newBase, stride, lanes);
      }
      case Expr.Broadcast(Expr value, int lanes) -> {
        Expr newValue = expr(value);
        yield newValue == value ? e : new Expr.Broadcast(newValue, lanes);
      }
      case Expr.Call(Op op, List<Expr> args, Type type) -> {
        List<Expr> newArgs = exprs(args);
        yield newArgs == args ? e : new Expr.Call(op, newArgs, type);
      }
    };
  }

  /**
   * {@return a statement rewritten, from the inside out}
   *
   * @param s any statement
   */
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> {
        List<Stmt> newStmts = each(stmts, this::stmt);
        yield newStmts == stmts ? s : new Stmt.Seq(newStmts);
      }
      case Stmt.For f -> {
        Expr min = expr(f.min());
        Expr extent = expr(f.extent());
        Stmt body = stmt(f.body());
        yield min == f.min() && extent == f.extent() && body == f.body()
            ? s
            : new Stmt.For(f.var(), min, extent, f.kind(), f.axis(), f.attrs(), body);
      }
      case Stmt.While(Expr condition, Stmt body) -> {
        Expr newCondition = expr(condition);
        Stmt newBody = stmt(body);
        yield newCondition == condition && newBody == body
            ? s
            : new Stmt.While(newCondition, newBody);
      }
      case Stmt.If(Expr condition, Stmt then, Stmt otherwise) -> {
        Expr newCondition = expr(condition);
        Stmt newThen = stmt(then);
        Stmt newOtherwise = otherwise == null ? null : stmt(otherwise);
        yield newCondition == condition && newThen == then && newOtherwise == otherwise
            ? s
            : new Stmt.If(newCondition, newThen, newOtherwise);
      }
      case Stmt.Let(Var v, Expr value, Stmt body) -> {
        Expr newValue = expr(value);
        Stmt newBody = stmt(body);
        yield newValue == value && newBody == body ? s : new Stmt.Let(v, newValue, newBody);
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) -> {
        Buffer newBuffer = buffer(buffer);
        Stmt newBody = stmt(body);
        yield newBuffer == buffer && newBody == body ? s : new Stmt.Alloc(newBuffer, newBody);
      }
      case Stmt.Store store -> store(store);
      case Stmt.Evaluate(Expr.Call call) -> {
        Expr newCall = expr(call);
        yield newCall == call ? s : new Stmt.Evaluate((Expr.Call) newCall);
      }
      case Stmt.Comment comment -> comment;
      case Stmt.Block b -> block(b);
      case Stmt.TileCopy(Region to, Region from, Attrs attrs) -> {
        Region newTo = region(to);
        Region newFrom = region(from);
        yield newTo == to && newFrom == from ? s : new Stmt.TileCopy(newTo, newFrom, attrs);
      }
      case Stmt.TileFill(Region to, Expr value, Attrs attrs) -> {
        Region newTo = region(to);
        Expr newValue = expr(value);
        yield newTo == to && newValue == value ? s : new Stmt.TileFill(newTo, newValue, attrs);
      }
      case Stmt.TileMma(
              Region c,
              Region a,
              Region b,
              boolean transposeA,
              boolean transposeB,
              Attrs attrs) -> {
        Region newC = region(c);
        Region newA = region(a);
        Region newB = region(b);
        yield newC == c && newA == a && newB == b
            ? s
            : new Stmt.TileMma(newC, newA, newB, transposeA, transposeB, attrs);
      }
      case Stmt.TileMap m -> {
        List<Expr> extents = exprs(m.extents());
        List<Stmt.Store> stores = under(m.vars(), m.extents(), () -> each(m.stores(), this::store));
        yield extents == m.extents() && stores == m.stores()
            ? s
            : new Stmt.TileMap(m.vars(), extents, stores, m.attrs());
      }
      case Stmt.TileReduce r -> {
        List<Expr> extents = exprs(r.extents());
        List<Expr> reduceExtents = exprs(r.reduceExtents());
        Buffer to = buffer(r.to());
        List<Expr> indices = inReduction(r, () -> exprs(r.indices()));
        Expr value = inReduction(r, () -> expr(r.value()));
        yield extents == r.extents()
                && reduceExtents == r.reduceExtents()
                && to == r.to()
                && indices == r.indices()
                && value == r.value()
            ? s
            : new Stmt.TileReduce(
                r.op(),
                r.vars(),
                extents,
                r.reduceVars(),
                reduceExtents,
                to,
                indices,
                value,
                r.attrs());
      }
      case Stmt.Flow flow -> flow(flow);
    };
  }

  /**
   * {@return the pipe to use instead, for every mention: another one where its buffers are
   * exchanged}
   *
   * @param pipe as it stands
   */
  protected Pipe pipe(Pipe pipe) {
    return pipes.getOrDefault(pipe, pipe);
  }

  private Stmt flow(Stmt.Flow s) {
    return switch (s) {
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) -> {
        List<Buffer> newBuffers = each(pipe.buffers(), this::buffer);
        if (newBuffers != pipe.buffers()) {
          pipes.put(pipe, pipe.withBuffers(newBuffers));
        }
        Pipe newPipe = pipe(pipe);
        Stmt newBody = stmt(body);
        yield newPipe == pipe && newBody == body ? s : new Stmt.Flow.PipeScope(newPipe, newBody);
      }
      case Stmt.Flow.Produce(Pipe pipe, Stmt body) -> {
        Pipe newPipe = pipe(pipe);
        Stmt newBody = stmt(body);
        yield newPipe == pipe && newBody == body ? s : new Stmt.Flow.Produce(newPipe, newBody);
      }
      case Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt body) -> {
        Pipe newPipe = pipe(pipe);
        Stmt newBody = stmt(body);
        yield newPipe == pipe && newBody == body
            ? s
            : new Stmt.Flow.Consume(newPipe, peek, newBody);
      }
      case Stmt.Flow.Skip(Pipe pipe, Expr count) -> {
        Pipe newPipe = pipe(pipe);
        Expr newCount = expr(count);
        yield newPipe == pipe && newCount == count ? s : new Stmt.Flow.Skip(newPipe, newCount);
      }
      case Stmt.Flow.Roles(List<Role> roles) -> {
        List<Role> newRoles = each(roles, role -> role.withBody(body(role)));
        yield newRoles == roles ? s : new Stmt.Flow.Roles(newRoles);
      }
      case Stmt.Flow.Signal(Buffer counter, List<Expr> indices, Expr by) -> {
        Buffer newCounter = buffer(counter);
        List<Expr> newIndices = exprs(indices);
        Expr newBy = expr(by);
        yield newCounter == counter && newIndices == indices && newBy == by
            ? s
            : new Stmt.Flow.Signal(newCounter, newIndices, newBy);
      }
      case Stmt.Flow.Await(Buffer counter, List<Expr> indices, Expr atLeast) -> {
        Buffer newCounter = buffer(counter);
        List<Expr> newIndices = exprs(indices);
        Expr newAtLeast = expr(atLeast);
        yield newCounter == counter && newIndices == indices && newAtLeast == atLeast
            ? s
            : new Stmt.Flow.Await(newCounter, newIndices, newAtLeast);
      }
      case Stmt.Flow.Combine c -> {
        Buffer newSums = buffer(c.sums());
        List<Expr> numbers = List.of(c.slot(), c.part(), c.parts());
        List<Expr> newNumbers = exprs(numbers);
        Stmt newBody = stmt(c.body());
        yield newSums == c.sums() && newNumbers == numbers && newBody == c.body()
            ? s
            : new Stmt.Flow.Combine(
                newSums,
                newNumbers.get(0),
                newNumbers.get(1),
                newNumbers.get(2),
                c.attrs(),
                newBody);
      }
      case Stmt.Flow.AwaitPrevious wait -> wait;
      case Stmt.Flow.SignalNext next -> next;
    };
  }

  /**
   * {@return a store, of a map's or by itself}
   *
   * @param store as it stands
   */
  protected Stmt.Store store(Stmt.Store store) {
    Buffer newBuffer = buffer(store.buffer());
    List<Expr> newIndices = exprs(store.indices());
    Expr newValue = expr(store.value());
    return newBuffer == store.buffer() && newIndices == store.indices() && newValue == store.value()
        ? store
        : new Stmt.Store(newBuffer, newIndices, newValue);
  }

  private Stmt block(Stmt.Block b) {
    return block(b, b.predicate() == null ? null : expr(b.predicate()));
  }

  /**
   * {@return the block rewritten, with another predicate}
   *
   * @param b as it stands
   * @param predicate instead of the block's; null for none
   */
  protected final Stmt block(Stmt.Block b, @Nullable Expr predicate) {
    List<IterVar> iterVars =
        each(
            b.iterVars(),
            iv -> {
              Expr extent = expr(iv.extent());
              Expr binding = expr(iv.binding());
              return extent == iv.extent() && binding == iv.binding()
                  ? iv
                  : new IterVar(iv.var(), extent, iv.kind(), binding);
            });
    return inBlock(b, predicate, () -> rebuilt(b, iterVars, predicate));
  }

  /**
   * Rewrites what stands in a block, where its predicate holds. Override it to know that.
   *
   * @param <T> of what is rewritten
   * @param b as it stands
   * @param predicate rewritten; null for none
   * @param rewrite gives what stands there
   * @return what {@code rewrite} gives
   */
  protected <T> T inBlock(Stmt.Block b, @Nullable Expr predicate, Supplier<T> rewrite) {
    return rewrite.get();
  }

  private Stmt rebuilt(Stmt.Block b, List<IterVar> iterVars, @Nullable Expr predicate) {
    List<Region> reads = each(b.reads(), this::region);
    List<Region> writes = each(b.writes(), this::region);
    @Nullable Stmt init = b.init() == null ? null : stmt(b.init());
    Stmt body = stmt(b.body());
    return iterVars == b.iterVars()
            && predicate == b.predicate()
            && reads == b.reads()
            && writes == b.writes()
            && init == b.init()
            && body == b.body()
        ? b
        : new Stmt.Block(b.name(), iterVars, predicate, reads, writes, init, body, b.attrs());
  }

  /**
   * {@return a region of a buffer rewritten}
   *
   * @param region as it stands
   */
  public Region region(Region region) {
    Buffer newBuffer = buffer(region.buffer());
    List<Range> newRanges =
        each(
            region.ranges(),
            range -> {
              Expr min = expr(range.min());
              Expr extent = expr(range.extent());
              return min == range.min() && extent == range.extent()
                  ? range
                  : new Range(min, extent);
            });
    return newBuffer == region.buffer() && newRanges == region.ranges()
        ? region
        : new Region(newBuffer, newRanges);
  }

  /**
   * {@return the expressions rewritten; the same list if none changed}
   *
   * @param list as they stand
   */
  protected final List<Expr> exprs(List<Expr> list) {
    return each(list, this::expr);
  }

  /**
   * {@return every element rewritten; the same list if none changed}
   *
   * @param <T> of the elements
   * @param list as they stand
   * @param rewrite gives the new element, or the same
   */
  protected static <T> List<T> each(List<T> list, UnaryOperator<T> rewrite) {
    List<T> changed = null;
    for (int i = 0; i < list.size(); i++) {
      T old = list.get(i);
      T rewritten = rewrite.apply(old);
      if (rewritten != old && changed == null) {
        changed = new ArrayList<>(list);
      }
      if (changed != null) {
        changed.set(i, rewritten);
      }
    }
    return changed == null ? list : List.copyOf(changed);
  }
}
