package dev.warpwright.sim.lane;

import static java.lang.constant.ConstantDescs.CD_byte;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.memory.Shadow;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Where code of one lane finds things: its {@link Frame} and what is in it, variables that live in
 * Java's locals because nothing else uses them, the element of a vector.
 */
final class LaneScope {
  static final ClassDesc FRAME = ClassDesc.ofDescriptor(Frame.class.descriptorString());
  static final ClassDesc SHADOW = ClassDesc.ofDescriptor(Shadow.class.descriptorString());
  static final ClassDesc BYTES = CD_byte.arrayType();

  final CodeBuilder code;
  final WarpCodeBuilder builder;
  final Context context;

  private final Map<Var, Integer> locals = new IdentityHashMap<>();
  private final Map<Buffer, Integer> memory = new IdentityHashMap<>();
  private final Map<Buffer, Integer> shadows = new IdentityHashMap<>();
  private final Deque<Integer> previous = new ArrayDeque<>();
  private Stmt where = WarpCode.NOWHERE;
  private int frame = -1;
  private int element = -1;

  LaneScope(CodeBuilder code, WarpCodeBuilder builder) {
    this.code = code;
    this.builder = builder;
    this.context = builder.context();
  }

  /** The slot of the lane's frame. */
  int frame() {
    return frame;
  }

  /** Code that follows is of the lane whose frame is in this slot. */
  void enter(int frameSlot) {
    frame = frameSlot;
    element = -1;
    locals.clear();
    memory.clear();
    shadows.clear();
  }

  /** The statement that the code is of. */
  Stmt where() {
    return where;
  }

  void begin(Stmt statement) {
    where = statement;
  }

  /**
   * Repeats code for each element of a vector.
   *
   * @param accesses how many vectors it accesses
   */
  void elements(int lanes, int accesses, Runnable body) {
    previous.clear();
    vectors(accesses);
    int slot = code.allocateLocal(TypeKind.INT);
    Label next = code.newLabel();
    Label end = code.newLabel();
    code.iconst_0().istore(slot).labelBinding(next);
    code.iload(slot).loadConstant(lanes).if_icmpge(end);
    element = slot;
    publishElement();
    body.run();
    code.iinc(slot, 1).goto_(next).labelBinding(end);
    element = -1;
    publishElement();
  }

  /**
   * Writes code of another element of a vector than the one that code around it is of.
   *
   * @param number pushes its number
   */
  void otherElement(Runnable number, Runnable body) {
    int outer = element;
    int inner = code.allocateLocal(TypeKind.INT);
    number.run();
    code.istore(inner);
    element = inner;
    publishElement();
    body.run();
    element = outer;
    publishElement();
  }

  /** Begins so many vectors, which the code that follows accesses first. */
  void vectors(int accesses) {
    for (int i = 0; i < accesses; i++) {
      int slot = code.allocateLocal(TypeKind.LONG);
      code.lconst_0().lstore(slot);
      previous.addFirst(slot);
    }
  }

  /** A slot that is zero before a vector's first element, and that its next element looks at. */
  int previous() {
    return previous.remove();
  }

  /** Code that follows is of the element that the frame names. */
  void elementOfFrame() {
    element = code.allocateLocal(TypeKind.INT);
    code.aload(frame).getfield(FRAME, "lane", CD_int).istore(element);
  }

  /** Pushes the number of the vector's element, 0 if there is none. */
  void loadElement() {
    if (element < 0) {
      code.iconst_0();
    } else {
      code.iload(element);
    }
  }

  /** Keeps a scalar variable in a local of Java: its slot. */
  int declare(Var v) {
    return locals.computeIfAbsent(v, key -> code.allocateLocal(kind(v.type().dtype())));
  }

  static TypeKind kind(DType dtype) {
    return dtype == DType.F64 ? TypeKind.DOUBLE : dtype.isFloat() ? TypeKind.FLOAT : TypeKind.LONG;
  }

  /** Pushes a variable. */
  void load(Var v) {
    DType dtype = v.type().dtype();
    Integer local = locals.get(v);
    if (local != null) {
      code.loadLocal(kind(dtype), local);
      return;
    }
    values(dtype);
    index(v);
    if (!dtype.isFloat()) {
      code.laload();
    } else {
      code.daload();
      if (dtype != DType.F64) {
        code.d2f();
      }
    }
  }

  /** Pushes the array and index of a variable's place in the frame. */
  void place(Var v) {
    values(v.type().dtype());
    index(v);
  }

  private void values(DType dtype) {
    code.aload(frame);
    if (dtype.isFloat()) {
      code.getfield(FRAME, "floats", CD_double.arrayType());
    } else {
      code.getfield(FRAME, "ints", CD_long.arrayType());
    }
  }

  private void index(Var v) {
    code.loadConstant(context.symbols().slot(v));
    if (!v.type().isScalar()) {
      loadElement();
      code.iadd();
    }
  }

  /** Pops a value into a variable's place that {@link #place} has pushed. */
  void storePlaced(DType dtype) {
    if (!dtype.isFloat()) {
      code.lastore();
    } else {
      if (dtype != DType.F64) {
        code.f2d();
      }
      code.dastore();
    }
  }

  /** Loads storage and shadow of a buffer into locals, for the code that follows. */
  void open(Buffer b) {
    int slot = context.symbols().slot(b);
    int bytes = memory.computeIfAbsent(b, key -> code.allocateLocal(TypeKind.REFERENCE));
    int shadow = shadows.computeIfAbsent(b, key -> code.allocateLocal(TypeKind.REFERENCE));
    code.aload(frame).getfield(FRAME, "memory", BYTES.arrayType());
    code.loadConstant(slot).aaload().astore(bytes);
    code.aload(frame).getfield(FRAME, "shadows", SHADOW.arrayType());
    code.loadConstant(slot).aaload().astore(shadow);
  }

  int memory(Buffer b) {
    return opened(memory, b);
  }

  int shadow(Buffer b) {
    return opened(shadows, b);
  }

  private static int opened(Map<Buffer, Integer> slots, Buffer b) {
    Integer slot = slots.get(b);
    if (slot == null) {
      throw new IllegalStateException(b.name() + " is not open");
    }
    return slot;
  }

  /** Pushes an entry of a table of {@link WarpCode}. */
  void fromTable(String table, ClassDesc type, int number) {
    code.aload(0).getfield(LaneExprs.CODE, table, type.arrayType()).loadConstant(number).aaload();
  }

  /** Sets the frame's number of the vector element, which closures read. */
  private void publishElement() {
    code.aload(frame);
    loadElement();
    code.putfield(FRAME, "lane", CD_int);
  }
}
