package dev.warpwright.sim.region;

import static java.lang.constant.ConstantDescs.CD_byte;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Statements of one method: of a block, or of each thread in a region. */
final class RegionCode {
  private static final ClassDesc STATE = RegionEmitter.STATE;
  static final ClassDesc INTS = CD_int.arrayType();
  static final ClassDesc FLOATS = CD_float.arrayType();
  static final ClassDesc BYTES = CD_byte.arrayType();

  final CodeBuilder code;
  final RegionPlan plan;
  final Set<Buffer> written;
  private final Map<Var, Integer> slots = new IdentityHashMap<>();
  private final RegionExprs exprs;

  /** Slots of the arrays of buffers, and of the states or owners of their elements. */
  private final Map<Buffer, Integer> arrays = new IdentityHashMap<>();

  private final Map<Buffer, Integer> states = new IdentityHashMap<>();
  private final List<Integer> perThread = new ArrayList<>();

  /** Slots: this thread in this region, the mark of many readers, the thread in the grid. */
  private int me = -1;

  private int many = -1;
  private int owner = -1;
  private int region = -1;

  RegionCode(CodeBuilder code, RegionPlan plan, Set<Buffer> written) {
    this.code = code;
    this.plan = plan;
    this.written = written;
    this.exprs = new RegionExprs(this);
  }

  /** The variable is in this slot. */
  void bind(Var v, int slot) {
    slots.put(v, slot);
  }

  /** A new slot for the variable. */
  int declare(Var v) {
    int slot = code.allocateLocal(v.type().dtype().isFloat() ? TypeKind.FLOAT : TypeKind.INT);
    slots.put(v, slot);
    return slot;
  }

  int slot(Var v) {
    Integer slot = slots.get(v);
    if (slot == null) {
      throw new RegionPlan.Unsupported("variable " + v);
    }
    return slot;
  }

  int array(Buffer b) {
    Integer slot = arrays.get(b);
    if (slot == null) {
      slot = open(b);
    }
    return slot;
  }

  int states(Buffer b) {
    Integer slot = states.get(b);
    if (slot == null) {
      throw new RegionPlan.Unsupported("buffer " + b.name());
    }
    return slot;
  }

  int me() {
    return me;
  }

  int many() {
    return many;
  }

  int owner() {
    return owner;
  }

  /** Loads the array of a global buffer, for a method that has not opened its buffers. */
  private int open(Buffer b) {
    int number = parameter(b);
    int slot = code.allocateLocal(TypeKind.REFERENCE);
    code.aload(0)
        .getfield(STATE, "globals", BYTES.arrayType())
        .loadConstant(number)
        .aaload()
        .astore(slot);
    arrays.put(b, slot);
    return slot;
  }

  private int parameter(Buffer b) {
    int number = plan.kernel().buffers().indexOf(b);
    if (number < 0) {
      throw new RegionPlan.Unsupported("buffer " + b.name());
    }
    return number;
  }

  /** Loads the arrays that a region uses into slots. */
  void openBuffers(RegionPlan.Region of) {
    Set<Buffer> used = java.util.Collections.newSetFromMap(new IdentityHashMap<>());
    Walk.all(
        of.body(),
        s -> {
          if (s instanceof Stmt.Store store) {
            used.add(store.buffer());
          }
          if (s instanceof Stmt.Alloc alloc) {
            used.add(alloc.buffer());
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            used.add(load.buffer());
          }
        });
    for (Buffer b : plan.kernel().buffers()) {
      if (used.contains(b)) {
        open(b);
        if (written.contains(b)) {
          statesOf(b, "touched", parameter(b));
        }
      }
    }
    for (int i = 0; i < plan.buffers().size(); i++) {
      RegionPlan.Storage storage = plan.buffers().get(i);
      if (!used.contains(storage.buffer())) {
        continue;
      }
      int slot = code.allocateLocal(TypeKind.REFERENCE);
      arrays.put(storage.buffer(), slot);
      if (storage.perThread()) {
        perThread.add(i);
      } else {
        openOwn(i, slot, () -> code.iconst_0());
      }
      if (storage.isShared()) {
        statesOf(storage.buffer(), "shared", i);
      }
    }
    region = code.allocateLocal(TypeKind.INT);
    many = code.allocateLocal(TypeKind.INT);
    me = code.allocateLocal(TypeKind.INT);
    owner = code.allocateLocal(TypeKind.INT);
    code.aload(0)
        .getfield(STATE, "epoch", CD_int)
        .loadConstant(RegionState.EPOCH_SHIFT)
        .ishl()
        .istore(region);
    code.iload(region).loadConstant(RegionState.MANY).ior().istore(many);
  }

  private void statesOf(Buffer b, String field, int number) {
    int slot = code.allocateLocal(TypeKind.REFERENCE);
    code.aload(0).getfield(STATE, field, INTS.arrayType()).loadConstant(number).aaload();
    code.astore(slot);
    states.put(b, slot);
  }

  private void openOwn(int number, int slot, Runnable copy) {
    boolean real = plan.buffers().get(number).isFloat();
    ClassDesc type = real ? FLOATS : INTS;
    code.aload(0)
        .getfield(STATE, real ? "floats" : "ints", type.arrayType().arrayType())
        .loadConstant(number)
        .aaload();
    copy.run();
    code.aaload().astore(slot);
  }

  /** Sets what differs from thread to thread. */
  void beginThread(int t) {
    code.iload(region).iload(t).iconst_1().ishl().ior().istore(me);
    code.aload(0).getfield(STATE, "block", CD_int).iload(t).ior().iconst_1().iadd().istore(owner);
    for (int number : perThread) {
      openOwn(number, array(plan.buffers().get(number).buffer()), () -> code.iload(t));
    }
    Kernel kernel = plan.kernel();
    int stride = 1;
    for (ThreadAxis axis : List.of(ThreadAxis.THREAD_X, ThreadAxis.THREAD_Y, ThreadAxis.THREAD_Z)) {
      for (ThreadBinding binding : kernel.bindings()) {
        if (binding.axis() == axis && binding.extent() instanceof Expr.IntImm imm) {
          code.iload(t).loadConstant(stride).idiv().loadConstant((int) imm.value()).irem();
          code.istore(declare(binding.var()));
          stride *= (int) imm.value();
        }
      }
    }
  }

  void let(Var v, Expr value) {
    exprs.value(value, 0);
    store(v, declare(v));
  }

  private void store(Var v, int slot) {
    if (v.type().lanes() != 1) {
      throw new RegionPlan.Unsupported("a vector variable");
    }
    if (v.type().dtype().isFloat()) {
      code.fstore(slot);
    } else {
      code.istore(slot);
    }
  }

  void loop(Stmt.For loop, Runnable body) {
    int v = declare(loop.var());
    int end = code.allocateLocal(TypeKind.INT);
    Label next = code.newLabel();
    Label done = code.newLabel();
    exprs.value(loop.min(), 0);
    code.istore(v);
    exprs.value(loop.extent(), 0);
    code.iload(v).iadd().istore(end);
    code.labelBinding(next).iload(v).iload(end).if_icmpge(done);
    body.run();
    code.iinc(v, 1).goto_(next).labelBinding(done);
  }

  void branch(Expr condition, Runnable then, Runnable otherwise) {
    Label no = code.newLabel();
    Label end = code.newLabel();
    exprs.value(condition, 0);
    code.ifeq(no);
    then.run();
    code.goto_(end).labelBinding(no);
    otherwise.run();
    code.labelBinding(end);
  }

  /** What a thread does. */
  void statement(Stmt s) {
    switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(this::statement);
      case Stmt.For loop -> loop(loop, () -> statement(loop.body()));
      case Stmt.If i ->
          branch(
              i.condition(),
              () -> statement(i.then()),
              () -> {
                if (i.otherwise() != null) {
                  statement(i.otherwise());
                }
              });
      case Stmt.Let l -> {
        let(l.var(), l.value());
        statement(l.body());
      }
      case Stmt.Alloc a -> {
        if (a.buffer().scope() == Scope.LOCAL) {
          code.aload(array(a.buffer()));
          code.invokestatic(
              STATE,
              "poison",
              MethodTypeDesc.of(CD_void, a.buffer().dtype().isFloat() ? FLOATS : INTS));
        }
        statement(a.body());
      }
      case Stmt.Store store -> store(store);
      case Stmt.Comment c -> {}
      case Stmt.While _,
          Stmt.Evaluate _,
          Stmt.Block _,
          Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _,
          Stmt.Flow _ ->
          throw new RegionPlan.Unsupported(s.getClass().getSimpleName());
    }
  }

  /** All lanes of the value come before the first is stored. */
  private void store(Stmt.Store store) {
    boolean real = store.buffer().dtype().isFloat();
    int lanes = store.value().type().lanes();
    int[] values = new int[lanes];
    exprs.beginStatement(store);
    for (int lane = 0; lane < lanes; lane++) {
      values[lane] = code.allocateLocal(real ? TypeKind.FLOAT : TypeKind.INT);
      exprs.value(store.value(), lane);
      if (real) {
        code.fstore(values[lane]);
      } else {
        code.istore(values[lane]);
      }
    }
    int offset = code.allocateLocal(TypeKind.INT);
    exprs.offset(store.buffer(), store.indices(), lanes);
    code.istore(offset);
    for (int lane = 0; lane < lanes; lane++) {
      exprs.put(store.buffer(), offset, lane, values[lane]);
    }
  }
}
