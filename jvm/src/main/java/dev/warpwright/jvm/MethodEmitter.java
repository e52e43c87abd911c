package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes the statements of one method. Local variable 0 is the {@link Frame}. */
final class MethodEmitter {
  private static final ClassDesc CD_Math = ClassDesc.of("java.lang", "Math");

  /** Loops of so few iterations are never cut short, so that the JVM can write them out. */
  private static final int SHORT = 4;

  private final ClassEmitter owner;
  private final CodeBuilder code;
  private final ScalarEmitter scalars;
  private final VectorEmitter vectors;
  private final Map<Var, Integer> vars = new HashMap<>();
  private final Map<Buffer, Integer> arrays = new HashMap<>();
  private final Map<Buffer, RegisterFile> registers = new HashMap<>();
  private final Map<Buffer, Map<Long, Integer>> registerSlots = new HashMap<>();

  /** Whether this method is an outlined part already, so that loops stay where they are. */
  private boolean inUnit;

  /** The local variable that holds the most iterations of a loop. */
  private int limit;

  private int nextLocal;

  /** A method whose locals from {@code firstFree} on are free. */
  MethodEmitter(ClassEmitter owner, CodeBuilder code, int firstFree) {
    this.owner = owner;
    this.code = code;
    this.nextLocal = firstFree;
    this.scalars = new ScalarEmitter(this, code);
    this.vectors = new VectorEmitter(this, code, scalars);
  }

  // ---- names -------------------------------------------------------------------------------

  int newLocal(TypeKind kind) {
    int slot = nextLocal;
    nextLocal += kind.slotSize();
    return slot;
  }

  /** The array on the stack, an Object, becomes the buffer's. */
  void bindArray(Buffer buffer) {
    int slot = newLocal(TypeKind.REFERENCE);
    code.checkcast(JvmTypes.arrayDesc(buffer.dtype())).astore(slot);
    arrays.put(buffer, slot);
  }

  /** The long on the stack becomes the variable's value. */
  void bindLong(Var v) {
    Captures.fromLong(code, v);
    bind(v);
  }

  /** The value on the stack becomes the variable's. */
  private int bind(Var v) {
    TypeKind kind = JvmTypes.kind(v.type());
    int slot = newLocal(kind);
    code.storeLocal(kind, slot);
    vars.put(v, slot);
    return slot;
  }

  void parameter(Buffer buffer) {
    arrays.put(buffer, newLocal(TypeKind.REFERENCE));
  }

  void parameter(Var v) {
    vars.put(v, newLocal(JvmTypes.kind(v.type())));
  }

  int slot(Var v) {
    Integer slot = vars.get(v);
    if (slot == null) {
      throw new IllegalArgumentException("variable " + v.name() + " is used outside its scope");
    }
    return slot;
  }

  boolean isNonNegative(Var v) {
    return owner.isNonNegative(v);
  }

  void loadArray(Buffer buffer) {
    Integer slot = arrays.get(buffer);
    if (slot == null) {
      throw new IllegalArgumentException("buffer " + buffer.name() + " is used outside its scope");
    }
    code.aload(slot);
  }

  /** Slot of the local variable that stands for the element, or -1 where the buffer is memory. */
  int registerSlot(Buffer buffer, List<Expr> indices) {
    RegisterFile file = registers.get(buffer);
    if (file == null) {
      return -1;
    }
    Integer slot = registerSlots.getOrDefault(buffer, Map.of()).get(file.offsetOf(indices));
    if (slot == null) {
      throw new IllegalArgumentException("no register of " + buffer.name() + " at " + indices);
    }
    return slot;
  }

  // ---- statements --------------------------------------------------------------------------

  /**
   * Loads how many iterations a loop may have; comes before any statement. Loops that count in
   * longs have as many as they like.
   *
   * @param field of the frame that says so
   */
  void begin(String field) {
    code.aload(0).getfield(ClassEmitter.FRAME, field, CD_int);
    limit = newLocal(TypeKind.INT);
    code.istore(limit);
  }

  /** A statement that has this method to itself. */
  void unit(Stmt s) {
    inUnit = true;
    Label wet = code.newLabel();
    code.aload(0).getfield(ClassEmitter.FRAME, "dry", CD_boolean).ifeq(wet);
    code.return_().labelBinding(wet);
    begin(hasVectors(s) ? "limit" : "scalarLimit");
    switch (s) {
      case Stmt.For f -> loop(f);
      case Stmt.Alloc a -> alloc(a);
      default -> stmt(s);
    }
  }

  /** The iterations from {@code begin} to {@code end}, the method's last two parameters. */
  void parallelBody(Stmt.For f) {
    int begin = newLocal(TypeKind.INT);
    int end = newLocal(TypeKind.INT);
    begin("outerLimit");
    Var counter = f.var();
    scalars.emit(f.min());
    int min = newLocal(TypeKind.INT);
    code.istore(min);
    code.iload(begin).iload(min).iadd();
    int slot = bind(counter);
    code.iload(end).iload(min).iadd().istore(end);
    markNonNegative(f);
    counted(slot, TypeKind.INT, () -> code.iload(end), f.body());
  }

  void stmt(Stmt s) {
    // Vectors that are in no outlined part are skipped where those are.
    if (!inUnit && Nests.height(s) == 0 && hasVectors(s)) {
      Label skip = code.newLabel();
      code.aload(0).getfield(ClassEmitter.FRAME, "dry", CD_boolean).ifne(skip);
      inUnit = true;
      stmt(s);
      inUnit = false;
      code.labelBinding(skip);
      return;
    }
    int before = nextLocal;
    switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(this::stmt);
      case Stmt.For f -> {
        if (f.kind() == ForKind.PARALLEL) {
          parallel(f);
        } else if (outlines(f)) {
          outlined(f);
        } else {
          loop(f);
        }
      }
      case Stmt.While(Expr condition, Stmt body) -> {
        Label top = code.newBoundLabel();
        Label exit = code.newLabel();
        scalars.jump(condition, false, exit);
        stmt(body);
        code.goto_(top).labelBinding(exit);
      }
      case Stmt.If i -> branch(i);
      case Stmt.Let(Var v, Expr value, Stmt body) -> {
        emit(value);
        bind(v);
        if (scalars.isNonNegative(value)) {
          owner.markNonNegative(v);
        }
        stmt(body);
      }
      case Stmt.Alloc a -> {
        if (outlines(a)) {
          outlined(a);
        } else {
          alloc(a);
        }
      }
      case Stmt.Store store -> store(store);
      case Stmt.Evaluate e ->
          throw JvmTypes.refused("the intrinsic " + e.call().op().text() + " in a host kernel");
      case Stmt.Comment c -> {}
      case Stmt.Block b -> throw refusedLevel("block " + b.name());
      case Stmt.TileCopy t -> throw refusedLevel("a tile copy");
      case Stmt.TileFill t -> throw refusedLevel("a tile fill");
      case Stmt.TileMma t -> throw refusedLevel("a tile mma");
      case Stmt.TileMap t -> throw refusedLevel("a tile map");
      case Stmt.TileReduce t -> throw refusedLevel("a tile reduce");
      case Stmt.Flow t -> throw refusedLevel("a pipe, role or signal");
    }
    nextLocal = before;
  }

  private static IllegalArgumentException refusedLevel(String what) {
    return JvmTypes.refused(what + ", it must be lowered first");
  }

  /** A value of any type onto the stack. */
  void emit(Expr e) {
    if (e.type().isScalar()) {
      scalars.emit(e);
    } else {
      vectors.emit(e);
    }
  }

  void countVectorInstruction() {
    owner.countVectorInstruction();
  }

  private void branch(Stmt.If i) {
    Label otherwise = code.newLabel();
    scalars.jump(i.condition(), false, otherwise);
    stmt(i.then());
    if (i.otherwise() == null) {
      code.labelBinding(otherwise);
    } else {
      Label end = code.newLabel();
      code.goto_(end).labelBinding(otherwise);
      stmt(i.otherwise());
      code.labelBinding(end);
    }
  }

  private void loop(Stmt.For f) {
    switch (f.kind()) {
      case SERIAL, UNROLLED, PIPELINED, PERSISTENT -> {}
      case PARALLEL -> {
        parallel(f);
        return;
      }
      case VECTORIZED, THREAD_BOUND ->
          throw JvmTypes.refused("a loop of kind " + f.kind() + " (" + f.var().name() + ")");
    }
    TypeKind kind = JvmTypes.scalarKind(f.var().type().dtype());
    scalars.emit(Exprs.cast(f.var().type().dtype(), f.min()));
    int slot = bind(f.var());
    markNonNegative(f);
    DType dtype = f.var().type().dtype();
    Expr end = Exprs.cast(dtype, Exprs.add(f.min(), f.extent()));
    if (end instanceof Expr.IntImm && (kind == TypeKind.LONG || isShort(f))) {
      counted(slot, kind, () -> scalars.emit(end), f.body());
      return;
    }
    if (kind == TypeKind.LONG) {
      scalars.emit(end);
    } else {
      scalars.emit(Exprs.cast(dtype, f.extent()));
      code.iload(limit).invokestatic(CD_Math, "min", MethodTypeDesc.of(CD_int, CD_int, CD_int));
      if (!Exprs.isConst(f.min(), 0)) {
        scalars.emit(Exprs.cast(dtype, f.min()));
        code.iadd();
      }
    }
    int last = newLocal(kind);
    code.storeLocal(kind, last);
    counted(slot, kind, () -> code.loadLocal(kind, last), f.body());
  }

  private boolean isShort(Stmt.For f) {
    return inUnit && f.extent() instanceof Expr.IntImm imm && imm.value() <= SHORT;
  }

  private void counted(int slot, TypeKind kind, Runnable limit, Stmt body) {
    Label top = code.newBoundLabel();
    Label exit = code.newLabel();
    code.loadLocal(kind, slot);
    limit.run();
    if (kind == TypeKind.LONG) {
      code.lcmp().ifge(exit);
      stmt(body);
      code.lload(slot).lconst_1().ladd().lstore(slot);
    } else {
      code.if_icmpge(exit);
      stmt(body);
      code.iinc(slot, 1);
    }
    code.goto_(top).labelBinding(exit);
  }

  private void markNonNegative(Stmt.For f) {
    if (scalars.isNonNegative(f.min())) {
      owner.markNonNegative(f.var());
    }
  }

  private void alloc(Stmt.Alloc a) {
    Buffer buffer = a.buffer();
    RegisterFile file = buffer.scope() == Scope.LOCAL ? RegisterFile.of(buffer, a.body()) : null;
    if (file != null) {
      registers.put(buffer, file);
      Map<Long, Integer> slots = new HashMap<>();
      file.types()
          .forEach(
              (offset, type) -> {
                TypeKind kind = JvmTypes.kind(type);
                int slot = newLocal(kind);
                emit(Exprs.zero(type.dtype() == DType.BOOL ? type.withDType(DType.I32) : type));
                code.storeLocal(kind, slot);
                slots.put(offset, slot);
              });
      registerSlots.put(buffer, slots);
    } else {
      code.aload(0)
          .invokevirtual(ClassEmitter.FRAME, "scratch", MethodTypeDesc.of(ClassEmitter.SCRATCH))
          .loadConstant(owner.newScratchSlot());
      storageSize(buffer);
      ClassDesc array = JvmTypes.arrayDesc(buffer.dtype());
      String method = array.componentType().displayName() + "s";
      code.invokevirtual(ClassEmitter.SCRATCH, method, MethodTypeDesc.of(array, CD_int, CD_int));
      int slot = newLocal(TypeKind.REFERENCE);
      code.astore(slot);
      arrays.put(buffer, slot);
    }
    stmt(a.body());
  }

  private void storageSize(Buffer buffer) {
    if (buffer.hasConstantShape()) {
      HostCompiler.checkSize(buffer);
      code.loadConstant((int) buffer.storageElements());
      return;
    }
    if (buffer.layout() != null) {
      throw JvmTypes.refused(
          "the buffer " + buffer.name() + " with a layout and a symbolic shape as scratch");
    }
    Expr size = Exprs.i32(1);
    for (Expr extent : buffer.shape()) {
      size = Exprs.mul(size, extent);
    }
    scalars.emit(size);
  }

  private void store(Stmt.Store s) {
    int slot = registerSlot(s.buffer(), s.indices());
    if (slot >= 0) {
      emit(s.value());
      code.storeLocal(JvmTypes.kind(s.value().type()), slot);
      return;
    }
    Expr offset = Indexing.offset(s.buffer(), s.indices());
    if (s.value().type().isScalar()) {
      loadArray(s.buffer());
      scalars.emit(offset);
      scalars.emit(s.value());
      scalars.storeElement(s.buffer().dtype());
    } else {
      vectors.store(s.buffer(), offset, s.value());
    }
  }

  private static boolean hasVectors(Stmt stmt) {
    boolean[] found = {false};
    Walk.expressions(stmt, e -> found[0] |= !e.type().isScalar());
    return found[0];
  }

  // ---- outlining ---------------------------------------------------------------------------

  /**
   * Whether a loop or an allocation becomes a method of its own: nests of at most two loops, and
   * local buffers with the loops that use them, unless we are in such a method already.
   */
  private boolean outlines(Stmt s) {
    if (inUnit || !Nests.isUnit(s)) {
      return false;
    }
    FreeNames names = FreeNames.of(s);
    return names.buffers().stream().noneMatch(registers::containsKey);
  }

  private void outlined(Stmt s) {
    FreeNames names = FreeNames.of(s);
    ClassEmitter.Method method = owner.outline(s, names);
    code.aload(0);
    names.buffers().forEach(this::loadArray);
    for (Var v : names.vars()) {
      code.loadLocal(JvmTypes.kind(v.type()), slot(v));
    }
    code.invokestatic(owner.self(), method.name(), method.type());
  }

  private void parallel(Stmt.For f) {
    FreeNames names = FreeNames.of(f);
    for (Buffer buffer : names.buffers()) {
      if (registers.containsKey(buffer)) {
        throw JvmTypes.refused(
            "a parallel loop over " + f.var().name() + " that uses registers " + buffer.name());
      }
    }
    ClassEmitter.Method method = owner.outlineParallel(f, names);
    code.aload(0)
        .invokevirtual(ClassEmitter.FRAME, "parallel", MethodTypeDesc.of(ClassEmitter.PARALLEL));
    scalars.emit(f.extent());
    code.new_(owner.self()).dup().loadConstant(method.number()).aload(0);
    code.loadConstant(names.buffers().size()).anewarray(CD_Object);
    for (int i = 0; i < names.buffers().size(); i++) {
      code.dup().loadConstant(i);
      loadArray(names.buffers().get(i));
      code.aastore();
    }
    code.loadConstant(names.vars().size()).newarray(TypeKind.LONG);
    for (int i = 0; i < names.vars().size(); i++) {
      Var v = names.vars().get(i);
      code.dup().loadConstant(i);
      code.loadLocal(JvmTypes.kind(v.type()), slot(v));
      Captures.toLong(code, v);
      code.lastore();
    }
    code.invokespecial(owner.self(), INIT_NAME, ClassEmitter.CONSTRUCTOR)
        .invokeinterface(
            ClassEmitter.PARALLEL, "run", MethodTypeDesc.of(CD_void, CD_int, ClassEmitter.BODY));
  }
}
