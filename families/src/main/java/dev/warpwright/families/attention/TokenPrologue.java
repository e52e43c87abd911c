package dev.warpwright.families.attention;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.LoadsFirst;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.List;

/**
 * Lets the warpgroup that multiplies a step's queries make them, and the new rows of both caches:
 * the launch between projections and attention, which is mostly a wait, is left out.
 *
 * <pre>{@code
 * init barriers                            init barriers;  Qs behind the group's rows = 0
 * consumers {                              consumers {
 *   wait full                                Qs = queries;  K[place] = key;  V[place] = value
 *                                            fences;  bar.sync;  one arrives at full
 *   …                                        …
 * }                                    →   }
 * producer {                               producer {
 *   expect full;  Q -> Qs
 *   for t in tiles {                         for t in tiles {
 *                                              if it is the last { wait full }
 *     K[t], V[t - 1] -> ring                   K[t], V[t - 1] -> ring
 *   }                                        }
 * }                                        }
 * }</pre>
 *
 * <p>Tiles go forwards: only the last one, in which the new place is, waits for it. Behind that
 * barrier TMA reads what other threads of the block wrote to global memory, for which each of them
 * has a proxy fence.
 */
final class TokenPrologue extends Rewriter {
  /** Elements of queries that a thread holds beside each other. */
  private static final int MOST_TURNS = 16;

  private static final int GROUP = 128;
  private static final int PANEL = 64;

  /** Elements of 16 bytes. */
  private static final int VECTOR = 8;

  /** Of the consumers, which meet there behind it, too. */
  private static final int BARRIER = 1;

  private final Kernel kernel;
  private final Attention attention;
  private final NewToken token;
  private final Expr thread;
  private final Expr head;
  private final Buffer queries;
  private final Buffer keys;
  private final Buffer values;

  /** What was copied to {@code queries}. */
  private final Buffer copied;

  /** Where the producer said that queries are there. */
  private final Expr full;

  /** Where it waited until it could copy them. */
  private final Buffer free;

  private boolean cleared;
  private boolean parted;
  private boolean producing;
  private boolean waiting;

  private TokenPrologue(Kernel kernel, Attention attention, NewToken token) {
    this.kernel = kernel;
    this.attention = attention;
    this.token = token;
    this.thread = kernel.binding(ThreadAxis.THREAD_X).orElseThrow().var();
    this.head = kernel.binding(ThreadAxis.BLOCK_X).orElseThrow().var();
    this.keys = parameter("K");
    this.values = parameter("V");
    this.copied = parameter("Q");
    List<Expr.Call> before = new ArrayList<>();
    Walk.statements(
        kernel.body(),
        s -> {
          boolean done = !before.isEmpty() && addresses(before.getLast(), copied);
          if (!done && s instanceof Stmt.Evaluate(Expr.Call call)) {
            if (call.op() == HopperIntrinsics.MBARRIER_WAIT || addresses(call, copied)) {
              before.add(call);
            }
          }
        });
    // It waits until the tile is free, and copies.
    Expr.Call copy = before.getLast();
    this.queries = buffer(copy.args().getFirst());
    this.full = copy.args().get(2);
    this.free = buffer(before.get(before.size() - 2).args().getFirst());
  }

  /** Whether an attention's kernel of a configuration can. */
  static boolean fits(Attention attention, AttentionConfig config, NewToken token) {
    return config.isForWarpgroups()
        && config.tileRows() == AttentionConfig.GROUP_ROWS
        && config.splits() == 1
        && config.blocks() == 0
        && attention.tokens() == 1
        && !attention.causal()
        && !attention.isPaged()
        && attention.group() <= AttentionConfig.GROUP_ROWS
        && attention.group() * attention.headSize() <= MOST_TURNS * GROUP
        && token.place() < attention.keys()
        && token.place() >= (attention.keys() - 1) / config.tileKeys() * config.tileKeys();
  }

  /**
   * The kernel without the parameter Q; further ones are what the formulas read.
   *
   * @param kernel that copies queries, and goes through tiles of keys forwards
   */
  static Kernel of(Kernel kernel, Attention attention, NewToken token) {
    return new TokenPrologue(kernel, attention, token).whole();
  }

  private Buffer parameter(String name) {
    return kernel.buffers().stream()
        .filter(buffer -> buffer.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private Kernel whole() {
    Stmt body = stmt(kernel.body());
    List<Param> params = new ArrayList<>(kernel.params());
    params.remove(copied);
    Walk.expressions(
        body,
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> _)
              && buffer.scope() == Scope.GLOBAL
              && !params.contains(buffer)) {
            params.add(buffer);
          }
        });
    return Simplify.kernel(
        new Kernel(kernel.name(), kernel.kind(), params, kernel.bindings(), body, kernel.attrs()));
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Evaluate(Expr.Call call) when call.op() == Intrinsics.SYNC_THREADS && !cleared -> {
        cleared = true;
        yield Stmts.seq(clear(), s);
      }
      case Stmt.Evaluate(Expr.Call call) when isOfCopy(call) -> Stmt.Seq.EMPTY;
      case Stmt.Alloc(Buffer buffer, Stmt body) when buffer == free -> stmt(body);
      case Stmt.If(Expr condition, Stmt then, Stmt otherwise) when otherwise != null && !parted -> {
        parted = true;
        Stmt consumers = Stmts.seq(made(), stmt(then));
        producing = true;
        Stmt producer = stmt(otherwise);
        producing = false;
        // Where there are few tiles, all of them wait.
        yield new Stmt.If(
            condition, consumers, waiting ? producer : Stmts.seq(untilMade(), producer));
      }
      case Stmt.For loop when producing && !waiting && loop.kind() == ForKind.SERIAL -> {
        waiting = true;
        Expr last = Exprs.sub(loop.extent(), Exprs.i32(1));
        yield new Stmt.For(
            loop.var(),
            loop.min(),
            loop.extent(),
            loop.kind(),
            loop.axis(),
            loop.attrs(),
            Stmts.seq(Stmts.when(Exprs.eq(loop.var(), last), untilMade()), loop.body()));
      }
      default -> super.stmt(s);
    };
  }

  /** Of the copy of queries, and of barriers only for it: consumers meet behind what they made. */
  private boolean isOfCopy(Expr.Call call) {
    return addresses(call, copied)
        || addresses(call, free)
        || (call.op() == HopperIntrinsics.MBARRIER_WAIT
                || call.op() == HopperIntrinsics.MBARRIER_ARRIVE_EXPECT_TX)
            && call.args().getFirst().equals(full);
  }

  private Stmt untilMade() {
    return Exprs.evaluate(HopperIntrinsics.MBARRIER_WAIT, full, Exprs.i32(0));
  }

  /** Zeros of the tile's rows that are no queries, by all threads before the roles part. */
  private Stmt clear() {
    int d = attention.headSize();
    int vectors = (AttentionConfig.GROUP_ROWS - attention.group()) * d / VECTOR;
    int threads = kernel.threadsPerBlock();
    Buffer zero = local("zero", attention.type(), VECTOR);
    Stmt zeros =
        Stmts.loop(
            ForKind.UNROLLED,
            "v",
            VECTOR,
            v ->
                new Stmt.Store(
                    zero, List.of(v), Exprs.zero(new Expr.Load(zero, List.of(v)).type())));
    Expr lanes = new Expr.Ramp(Exprs.i32(0), 1, VECTOR);
    Stmt stores =
        Stmts.loop(
            ForKind.UNROLLED,
            "q",
            Math.ceilDiv(vectors, threads),
            q -> {
              Expr vector = Exprs.add(Exprs.mul(q, threads), thread);
              Expr row = Exprs.add(Exprs.div(vector, d / VECTOR), attention.group());
              Expr column = Exprs.mul(Exprs.mod(vector, d / VECTOR), VECTOR);
              List<Expr> place = new ArrayList<>(place(row, column));
              place.add(new Expr.Ramp(place.removeLast(), 1, VECTOR));
              return Stmts.when(
                  Exprs.lt(vector, Exprs.i32(vectors)),
                  new Stmt.Store(queries, place, new Expr.Load(zero, List.of(lanes))));
            });
    return Stmts.alloc(
        List.of(zero),
        Stmts.seq(zeros, stores, Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC)));
  }

  /**
   * Where an element of the tile of queries is in shared memory, in panels if there are several.
   */
  private List<Expr> place(Expr row, Expr column) {
    return attention.headSize() == PANEL
        ? List.of(Exprs.i32(0), row, column)
        : List.of(Exprs.i32(0), Exprs.div(column, PANEL), row, Exprs.mod(column, PANEL));
  }

  /** Queries and the new rows of the caches; all that they are made of is asked for at once. */
  private Stmt made() {
    int d = attention.headSize();
    int all = attention.group() * d;
    int turns = Math.ceilDiv(all, GROUP);
    Expr entry = Exprs.div(head, attention.kvHeads());
    Expr ofEntry = Exprs.mod(head, attention.kvHeads());
    Buffer query = local("query", attention.type(), turns);
    Buffer added = local("added", attention.type(), 2);
    Expr inRow = Exprs.lt(thread, Exprs.i32(d));
    Expr column = Exprs.add(Exprs.mul(ofEntry, d), thread);
    List<Stmt> stmts = new ArrayList<>();
    stmts.add(
        turns(
            turns,
            all,
            (q, e) ->
                LoadsFirst.of(
                    token.query().at(entry, Exprs.add(Exprs.mul(ofEntry, all), e)),
                    bounds(q, turns).assuming(Exprs.lt(e, Exprs.i32(all))),
                    made -> new Stmt.Store(query, List.of(q), made))));
    stmts.add(
        Stmts.when(
            inRow,
            Stmts.seq(
                added(added, 0, token.key().at(entry, column)),
                added(added, 1, token.value().at(entry, column)))));
    stmts.add(
        turns(
            turns,
            all,
            (q, e) ->
                new Stmt.Store(
                    queries,
                    place(Exprs.div(e, d), Exprs.mod(e, d)),
                    new Expr.Load(query, List.of(q)))));
    List<Expr> row = List.of(head, Exprs.i32(token.place()), thread);
    stmts.add(
        Stmts.when(
            inRow,
            Stmts.seq(
                new Stmt.Store(keys, row, new Expr.Load(added, List.of(Exprs.i32(0)))),
                new Stmt.Store(values, row, new Expr.Load(added, List.of(Exprs.i32(1)))))));
    stmts.add(Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC));
    stmts.add(Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC_GLOBAL));
    stmts.add(Exprs.evaluate(HopperIntrinsics.BAR_SYNC, Exprs.i32(BARRIER), Exprs.i32(GROUP)));
    stmts.add(
        Stmts.when(
            Exprs.eq(thread, Exprs.i32(0)),
            Exprs.evaluate(HopperIntrinsics.MBARRIER_ARRIVE, full)));
    return Stmts.alloc(List.of(query, added), Stmts.seq(stmts));
  }

  private Stmt added(Buffer added, int nth, Expr element) {
    return LoadsFirst.of(
        element,
        bounds(Exprs.i32(0), 1).assuming(Exprs.lt(thread, Exprs.i32(attention.headSize()))),
        made -> new Stmt.Store(added, List.of(Exprs.i32(nth)), made));
  }

  /** What is known of a consumer in one of its turns. */
  private Bounds bounds(Expr turn, int turns) {
    Bounds bounds = Simplify.ofKernel(kernel).assuming(Exprs.lt(thread, Exprs.i32(GROUP)));
    return turn instanceof Var q ? bounds.withRange(q, Exprs.i32(0), Exprs.i32(turns)) : bounds;
  }

  private interface Turn {
    Stmt of(Expr turn, Expr element);
  }

  /** Each thread's elements of the group's queries. */
  private Stmt turns(int turns, int all, Turn each) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "q",
        turns,
        q -> {
          Expr e = Exprs.add(Exprs.mul(q, GROUP), thread);
          return Stmts.when(Exprs.lt(e, Exprs.i32(all)), each.of(q, e));
        });
  }

  private static Buffer local(String name, DType type, long elements) {
    return new Buffer(name, type, List.of(Exprs.i32(elements)), Scope.LOCAL, null, 16);
  }

  private static Buffer buffer(Expr address) {
    return ((Expr.AddressOf) address).buffer();
  }

  private static boolean addresses(Expr.Call call, Buffer buffer) {
    return call.args().stream()
        .anyMatch(e -> e instanceof Expr.AddressOf at && at.buffer() == buffer);
  }
}
