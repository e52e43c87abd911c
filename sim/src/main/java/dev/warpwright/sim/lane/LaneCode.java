package dev.warpwright.sim.lane;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.sim.block.Trips;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.call.Stores;
import dev.warpwright.sim.call.WarpCalls;
import dev.warpwright.sim.counter.Unrolling;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.LongExpr;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Straight code of a warp. Statements whose lanes do not see each other are joined and stand in one
 * loop over the lanes; others are executed by all lanes, or by those of a mask, before the next.
 */
final class LaneCode {
  /** About as many bytes as Java compiles with ease. */
  private static final int METHOD_BYTES = 2500;

  private static final ClassDesc CODE = LaneExprs.CODE;
  private static final ClassDesc TRIPS = ClassDesc.ofDescriptor(Trips.class.descriptorString());
  private static final ClassDesc LONG_EXPR =
      ClassDesc.ofDescriptor(LongExpr.class.descriptorString());
  private static final ClassDesc EXEC = ClassDesc.ofDescriptor(Exec.class.descriptorString());
  private static final ClassDesc STRAIGHT =
      ClassDesc.ofDescriptor(WarpNode.Straight.class.descriptorString());
  private static final MethodTypeDesc PART = WarpCodeBuilder.PART;
  private static final int WARP = 1;

  private final CodeBuilder code;
  private final WarpCodeBuilder builder;
  private final Surroundings compiler;
  private final Context context;
  private final LaneScope scope;
  private final LaneExprs exprs;
  private final boolean watched;

  /** The slot of the mask of active lanes. */
  private int mask = 2;

  /**
   * @param watched whether a loop around it goes round until something changes
   */
  LaneCode(CodeBuilder code, WarpCodeBuilder builder, Surroundings compiler, boolean watched) {
    this.code = code;
    this.builder = builder;
    this.compiler = compiler;
    this.context = builder.context();
    this.watched = watched;
    this.scope = new LaneScope(code, builder);
    WarpCalls none = new WarpCalls(context, WarpCode.NOWHERE);
    this.exprs = new LaneExprs(scope, new LaneClosures(builder, WarpCode.NOWHERE, none));
  }

  /**
   * Writes items.
   *
   * @param usedLater whether variables are used elsewhere
   */
  void block(List<LaneItem> items, boolean usedLater) {
    List<LaneGroup> groups = LaneGroup.of(items, context.counts(), METHOD_BYTES);
    int weight = 0;
    for (int g = 0; g < groups.size(); g++) {
      LaneGroup group = groups.get(g);
      if (weight > 0 && weight + group.weight() > METHOD_BYTES) {
        List<LaneItem> rest =
            groups.subList(g, groups.size()).stream().flatMap(r -> r.items().stream()).toList();
        builder.callPart(code, builder.blockMethod(rest, usedLater, watched), mask);
        return;
      }
      weight += group.weight();
      Set<Var> outside = Collections.newSetFromMap(new IdentityHashMap<>());
      for (LaneGroup other : groups.subList(g + 1, groups.size())) {
        outside.addAll(other.effects().variables());
      }
      write(group, v -> usedLater || outside.contains(v));
    }
  }

  /** Whether a variable is used outside a group. */
  private interface UsedOutside {
    boolean test(Var v);
  }

  private void write(LaneGroup group, UsedOutside outside) {
    if (group.laneByLane()) {
      laneByLane(group, outside);
      return;
    }
    switch (group.items().getFirst()) {
      case LaneItem.Assign(Stmt.Let let) -> together(let, let.value(), () -> assign(let, true));
      case LaneItem.Fresh(Stmt.Alloc alloc) -> eachLane(Set.of(), () -> allocate(alloc));
      case LaneItem.Whole(Stmt.For loop) -> loop(loop);
      case LaneItem.Whole(Stmt.If branch) -> branch(branch);
      case LaneItem.Whole(Stmt.Store store) -> store(store);
      case LaneItem.Whole(Stmt.Evaluate e) -> call(compiler.call(e));
      case LaneItem.Whole(Stmt s) ->
          throw new IllegalStateException("not straight: " + s.getClass().getSimpleName());
    }
  }

  private void laneByLane(LaneGroup group, UsedOutside outside) {
    eachLane(
        group.buffers(),
        () -> {
          for (LaneItem item : group.items()) {
            switch (item) {
              case LaneItem.Assign(Stmt.Let let) -> {
                beginOwn(let, let.value());
                assign(let, outside.test(let.var()));
              }
              case LaneItem.Fresh(Stmt.Alloc alloc) -> allocate(alloc);
              case LaneItem.Whole(Stmt s) -> lane(s);
            }
          }
        });
    finishRequests();
  }

  /** A loop over the active lanes. */
  private void eachLane(Set<Buffer> buffers, Runnable body) {
    LaneLoop loop =
        LaneLoop.begin(
            code,
            () ->
                code.aload(WARP)
                    .getfield(WarpCodeBuilder.WARP, "lanes", LaneScope.FRAME.arrayType()),
            mask);
    scope.enter(loop.frame());
    buffers.forEach(scope::open);
    body.run();
    loop.end();
  }

  private void finishRequests() {
    if (context.counts()) {
      code.aload(WARP)
          .invokevirtual(WarpCodeBuilder.WARP, "finishRequests", MethodTypeDesc.of(CD_void));
    }
  }

  /** Begins a statement of one lane, which calls nothing that needs others. */
  private void beginOwn(Stmt s, Expr... values) {
    exprs.begin(LaneClosures.of(builder, s, new WarpCalls(context, s), values));
  }

  /** A statement of which warps do a part together, before their lanes do the rest. */
  private void together(Stmt s, Expr value, Runnable lane) {
    beginTogether(s, value);
    eachLane(LaneGroup.buffers(value), lane);
    finishRequests();
  }

  private void beginTogether(Stmt s, Expr... values) {
    WarpCalls calls = new WarpCalls(context, s);
    exprs.begin(LaneClosures.of(builder, s, calls, values));
    if (calls.hasHoisted()) {
      call(calls::run);
    }
  }

  private void call(WarpNode.Straight straight) {
    scope.fromTable("straights", STRAIGHT, builder.straight(straight));
    code.aload(WARP).iload(mask).invokeinterface(STRAIGHT, "run", PART);
  }

  private void assign(Stmt.Let let, boolean usedOutside) {
    Var v = let.var();
    if (!v.type().isScalar()) {
      scope.elements(
          v.type().lanes(), LaneGroup.vectors(let.value()), () -> assignPlaced(v, let.value()));
    } else if (usedOutside || builder.isFramed(v)) {
      assignPlaced(v, let.value());
    } else {
      exprs.value(let.value());
      code.storeLocal(LaneScope.kind(v.type().dtype()), scope.declare(v));
    }
  }

  private void assignPlaced(Var v, Expr value) {
    scope.place(v);
    exprs.value(value);
    scope.storePlaced(v.type().dtype());
  }

  private void allocate(Stmt.Alloc alloc) {
    scope.fromTable("actions", EXEC, builder.action(builder.allocation(alloc.buffer())));
    code.aload(scope.frame())
        .invokeinterface(EXEC, "run", MethodTypeDesc.of(CD_void, LaneScope.FRAME));
    scope.open(alloc.buffer());
  }

  /** A statement that a lane executes for itself. */
  private void lane(Stmt s) {
    switch (s) {
      case Stmt.Seq seq -> seq.stmts().forEach(this::lane);
      case Stmt.For loop -> laneLoop(loop);
      case Stmt.If i -> {
        beginOwn(i, i.condition());
        Label no = code.newLabel();
        Label end = code.newLabel();
        exprs.condition(i.condition(), no);
        lane(i.then());
        code.goto_(end).labelBinding(no);
        if (i.otherwise() != null) {
          lane(i.otherwise());
        }
        code.labelBinding(end);
      }
      case Stmt.Let let -> {
        beginOwn(let, let.value());
        assign(let, false);
        lane(let.body());
      }
      case Stmt.Alloc alloc -> {
        if (alloc.buffer().scope() == Scope.LOCAL) {
          allocate(alloc);
        }
        lane(alloc.body());
      }
      case Stmt.Store store -> {
        beginOwn(store, operands(store));
        laneStore(store);
      }
      case Stmt.Comment _ -> {}
      case Stmt.Evaluate _ -> throw new IllegalStateException("a call");
      case Stmt.While _,
          Stmt.Block _,
          Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _,
          Stmt.Flow _ ->
          throw new IllegalStateException("not straight: " + s.getClass().getSimpleName());
    }
  }

  private void laneLoop(Stmt.For loop) {
    beginOwn(loop, loop.min(), loop.extent());
    Var v = loop.var();
    int i = scope.declare(v);
    int end = code.allocateLocal(TypeKind.LONG);
    Label next = code.newLabel();
    Label done = code.newLabel();
    exprs.index(loop.min());
    exprs.index(loop.extent());
    int extent = code.allocateLocal(TypeKind.LONG);
    code.lstore(extent).dup2().lstore(i).lload(extent).ladd().lstore(end);
    code.labelBinding(next).lload(i).lload(end).lcmp().ifge(done);
    if (builder.isFramed(v)) {
      scope.place(v);
      code.lload(i).lastore();
    }
    lane(loop.body());
    code.lload(i).lconst_1().ladd().lstore(i).goto_(next).labelBinding(done);
  }

  private static Expr[] operands(Stmt.Store store) {
    List<Expr> all = new ArrayList<>(store.indices());
    all.add(store.value());
    return all.toArray(Expr[]::new);
  }

  private void laneStore(Stmt.Store store) {
    if (store.value().type().isScalar()) {
      TypeKind kind = LaneScope.kind(store.buffer().dtype());
      int value = code.allocateLocal(kind);
      exprs.value(store.value());
      code.storeLocal(kind, value);
      int offset = exprs.access().write(store.buffer(), store.indices());
      put(store.buffer(), offset, false, () -> code.loadLocal(kind, value));
    } else {
      evaluate(store);
      put(store);
    }
  }

  /** Keeps the value of a store, of each element if it is a vector. */
  private void evaluate(Stmt.Store store) {
    boolean real = store.buffer().dtype().isFloat();
    Runnable one =
        () -> {
          pending(real);
          exprs.value(store.value());
          scope.storePlaced(store.buffer().dtype());
        };
    elements(store, store.value(), one);
  }

  /** Stores what was kept. */
  private void put(Stmt.Store store) {
    boolean real = store.buffer().dtype().isFloat();
    Runnable one =
        () -> {
          int offset = exprs.access().write(store.buffer(), store.indices());
          put(
              store.buffer(),
              offset,
              true,
              () -> {
                pending(real);
                if (real) {
                  code.daload();
                } else {
                  code.laload();
                }
              });
        };
    elements(store, new Expr.Load(store.buffer(), store.indices()), one);
  }

  /** Writes an element, and tells the warp if that is a change that someone looks for. */
  private void put(Buffer b, int offset, boolean pending, Runnable value) {
    LaneAccess access = exprs.access();
    if (!watched) {
      access.put(b, offset, pending, value);
      return;
    }
    int before = code.allocateLocal(TypeKind.LONG);
    access.bits(b, offset);
    code.lstore(before);
    access.put(b, offset, pending, value);
    access.bits(b, offset);
    code.lload(before).lcmp().aload(WARP);
    code.invokestatic(CODE, "noteChange", MethodTypeDesc.of(CD_void, CD_int, WarpCodeBuilder.WARP));
  }

  private void elements(Stmt.Store store, Expr accesses, Runnable one) {
    if (store.value().type().isScalar()) {
      one.run();
    } else {
      scope.elements(store.value().type().lanes(), LaneGroup.vectors(accesses), one);
    }
  }

  /** Pushes the place for an element of a store's value. */
  private void pending(boolean real) {
    code.aload(scope.frame());
    ClassDesc type = (real ? CD_double : CD_long).arrayType();
    code.getfield(LaneScope.FRAME, real ? "pendingReals" : "pendingInts", type);
    scope.loadElement();
  }

  /** A store that all lanes evaluate before any of them writes. */
  private void store(Stmt.Store store) {
    beginTogether(store, operands(store));
    eachLane(LaneGroup.buffers(store.value()), () -> evaluate(store));
    finishRequests();
    Set<Buffer> written = LaneGroup.buffers(new Expr.Load(store.buffer(), store.indices()));
    eachLane(written, () -> put(store));
    finishRequests();
    int multiplyAdds = context.counts() ? Stores.multiplyAdds(store) : 0;
    if (multiplyAdds != 0) {
      code.aload(WARP).iload(mask).loadConstant(multiplyAdds);
      code.invokestatic(
          CODE, "multiplyAdds", MethodTypeDesc.of(CD_void, WarpCodeBuilder.WARP, CD_int, CD_int));
    }
  }

  /** A loop that the warp goes round together. */
  private void loop(Stmt.For loop) {
    int slot = context.symbols().slot(loop.var());
    List<LaneItem> body = LaneItem.of(loop.body());
    Label next = code.newLabel();
    Label done = code.newLabel();
    if (loop.min() instanceof Expr.IntImm(var minType, long from)
        && loop.extent() instanceof Expr.IntImm(var extentType, long count)) {
      int i = code.allocateLocal(TypeKind.LONG);
      code.loadConstant(from).lstore(i).labelBinding(next);
      code.lload(i).loadConstant(from + count).lcmp().ifge(done);
      finishRuns(loop, i, from, count);
      code.aload(WARP).iload(mask).loadConstant(slot).lload(i);
      code.invokestatic(
          CODE,
          "setAll",
          MethodTypeDesc.of(CD_void, WarpCodeBuilder.WARP, CD_int, CD_int, CD_long));
      nested(body, mask);
      code.lload(i).lconst_1().ladd().lstore(i).goto_(next).labelBinding(done);
      return;
    }
    WarpCalls calls = new WarpCalls(context, loop);
    LongExpr min = calls.exprs().index(loop.min());
    LongExpr extent = calls.exprs().index(loop.extent());
    call(calls::run);
    int trips = code.allocateLocal(TypeKind.REFERENCE);
    int active = code.allocateLocal(TypeKind.INT);
    code.new_(TRIPS).dup().aload(WARP).iload(mask);
    scope.fromTable("integers", LONG_EXPR, builder.integer(min));
    scope.fromTable("integers", LONG_EXPR, builder.integer(extent));
    code.invokespecial(
        TRIPS,
        INIT_NAME,
        MethodTypeDesc.of(CD_void, WarpCodeBuilder.WARP, CD_int, LONG_EXPR, LONG_EXPR));
    code.astore(trips).labelBinding(next);
    code.aload(trips).aload(WARP).iload(mask).loadConstant(slot);
    code.invokevirtual(
        TRIPS, "next", MethodTypeDesc.of(CD_int, WarpCodeBuilder.WARP, CD_int, CD_int));
    code.dup().istore(active).ifeq(done);
    nested(body, active);
    code.goto_(next).labelBinding(done);
  }

  /** Iterations that no compiler joins begin anew. */
  private void finishRuns(Stmt.For loop, int i, long from, long count) {
    long together = context.counts() ? Unrolling.factor(loop, count) : count;
    if (together < count) {
      Label inside = code.newLabel();
      code.lload(i).loadConstant(from).lsub().loadConstant(together).lrem();
      code.lconst_0().lcmp().ifne(inside).aload(WARP);
      code.invokestatic(CODE, "finishRuns", MethodTypeDesc.of(CD_void, WarpCodeBuilder.WARP));
      code.labelBinding(inside);
    }
  }

  private void branch(Stmt.If i) {
    int yes = code.allocateLocal(TypeKind.INT);
    int no = code.allocateLocal(TypeKind.INT);
    beginTogether(i, i.condition());
    code.iconst_0().istore(yes);
    eachLane(
        LaneGroup.buffers(i.condition()),
        () -> {
          Label not = code.newLabel();
          exprs.condition(i.condition(), not);
          code.iload(yes).aload(scope.frame()).getfield(LaneScope.FRAME, "laneBit", CD_int);
          code.ior().istore(yes).labelBinding(not);
        });
    finishRequests();
    code.iload(mask).iload(yes).iconst_m1().ixor().iand().istore(no);
    when(yes, i.then());
    if (i.otherwise() != null) {
      when(no, i.otherwise());
    }
  }

  private void when(int lanes, Stmt s) {
    Label none = code.newLabel();
    code.iload(lanes).ifeq(none);
    nested(LaneItem.of(s), lanes);
    code.labelBinding(none);
  }

  /** Items inside a loop or branch. */
  private void nested(List<LaneItem> items, int lanes) {
    if (items.stream().mapToInt(LaneItem::weight).sum() > METHOD_BYTES / 2) {
      builder.callPart(code, builder.blockMethod(items, false, watched), lanes);
      return;
    }
    int outer = mask;
    mask = lanes;
    block(items, false);
    mask = outer;
  }
}
