package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes the class of a kernel: the entry, a method for each outlined loop nest and one for the
 * body of each parallel loop.
 */
final class ClassEmitter {
  static final String ENTRY = "kernel";
  static final ClassDesc FRAME = ClassDesc.of("dev.warpwright.jvm", "Frame");
  static final ClassDesc SCRATCH = ClassDesc.of("dev.warpwright.jvm", "Scratch");
  static final ClassDesc PARALLEL = ClassDesc.of("dev.warpwright.jvm", "Parallel");
  static final ClassDesc BODY = PARALLEL.nested("Body");
  static final ClassDesc BASE = ClassDesc.of("dev.warpwright.jvm", "GeneratedKernel");
  static final MethodTypeDesc ENTRY_TYPE =
      MethodTypeDesc.of(CD_void, FRAME, CD_Object.arrayType(), CD_long.arrayType());
  static final MethodTypeDesc CONSTRUCTOR =
      MethodTypeDesc.of(CD_void, CD_int, FRAME, CD_Object.arrayType(), CD_long.arrayType());

  private static final int ACCESS = ClassFile.ACC_STATIC;

  /** A method that is called but not written yet. */
  private record Pending(
      String name, MethodTypeDesc type, FreeNames captured, Stmt stmt, boolean parallel) {}

  private final ClassDesc self;
  private final Kernel kernel;
  private final Deque<Pending> pending = new ArrayDeque<>();
  private final List<Pending> parallelBodies = new ArrayList<>();
  private final Map<String, Method> outlined = new HashMap<>();
  private final Set<Var> nonNegative = new HashSet<>();
  private int methods;
  private int scratchSlots;
  private int vectorInstructions;

  ClassEmitter(ClassDesc self, Kernel kernel) {
    this.self = self;
    this.kernel = kernel;
  }

  ClassDesc self() {
    return self;
  }

  int scratchSlots() {
    return scratchSlots;
  }

  /** Remembers that a variable is never negative, for the methods that it is passed to. */
  void markNonNegative(Var v) {
    nonNegative.add(v);
  }

  boolean isNonNegative(Var v) {
    return nonNegative.contains(v);
  }

  void countVectorInstruction() {
    vectorInstructions++;
  }

  int vectorInstructions() {
    return vectorInstructions;
  }

  int newScratchSlot() {
    return scratchSlots++;
  }

  byte[] emit() {
    return ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG)
        .build(
            self,
            builder -> {
              builder.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER).withSuperclass(BASE);
              constructor(builder);
              builder.withMethodBody(ENTRY, ENTRY_TYPE, ACCESS, this::entry);
              while (!pending.isEmpty()) {
                write(builder, pending.removeFirst());
              }
              builder.withMethodBody(
                  "run",
                  MethodTypeDesc.of(CD_void, CD_int, CD_int),
                  ClassFile.ACC_PUBLIC,
                  this::dispatch);
            });
  }

  private static void constructor(ClassBuilder builder) {
    builder.withMethodBody(
        INIT_NAME,
        CONSTRUCTOR,
        0,
        code ->
            code.aload(0)
                .iload(1)
                .aload(2)
                .aload(3)
                .aload(4)
                .invokespecial(BASE, INIT_NAME, CONSTRUCTOR)
                .return_());
  }

  /** Unpacks the arguments into locals, then the kernel's body. */
  private void entry(CodeBuilder code) {
    MethodEmitter method = new MethodEmitter(this, code, 3);
    method.begin("outerLimit");
    List<Buffer> buffers = kernel.buffers();
    for (int i = 0; i < buffers.size(); i++) {
      code.aload(1).loadConstant(i).aaload();
      method.bindArray(buffers.get(i));
    }
    for (int i = 0; i < kernel.scalars().size(); i++) {
      code.aload(2).loadConstant(i).laload();
      var param = kernel.scalars().get(i);
      if (param.min() >= 0) {
        markNonNegative(param.var());
      }
      method.bindLong(param.var());
    }
    method.stmt(kernel.body());
    code.return_();
  }

  private void write(ClassBuilder builder, Pending p) {
    builder.withMethodBody(
        p.name(),
        p.type(),
        ACCESS,
        code -> {
          MethodEmitter method = new MethodEmitter(this, code, 1);
          for (Buffer buffer : p.captured().buffers()) {
            method.parameter(buffer);
          }
          for (Var v : p.captured().vars()) {
            method.parameter(v);
          }
          if (p.parallel()) {
            method.parallelBody((Stmt.For) p.stmt());
          } else {
            method.unit(p.stmt());
          }
          code.return_();
        });
  }

  /** The method {@code run(begin, end)}: unpacks what the parallel loop captured and calls it. */
  private void dispatch(CodeBuilder code) {
    if (parallelBodies.isEmpty()) {
      code.return_();
      return;
    }
    Label none = code.newLabel();
    List<SwitchCase> cases = new ArrayList<>();
    for (int i = 0; i < parallelBodies.size(); i++) {
      cases.add(SwitchCase.of(i, code.newLabel()));
    }
    code.aload(0).getfield(self, "id", CD_int).tableswitch(none, cases);
    for (int i = 0; i < parallelBodies.size(); i++) {
      Pending body = parallelBodies.get(i);
      code.labelBinding(cases.get(i).target());
      code.aload(0).getfield(self, "frame", FRAME);
      int ref = 0;
      for (Buffer buffer : body.captured().buffers()) {
        code.aload(0).getfield(self, "refs", CD_Object.arrayType()).loadConstant(ref++).aaload();
        code.checkcast(JvmTypes.arrayDesc(buffer.dtype()));
      }
      int value = 0;
      for (Var v : body.captured().vars()) {
        code.aload(0).getfield(self, "values", CD_long.arrayType()).loadConstant(value++).laload();
        Captures.fromLong(code, v);
      }
      code.iload(1).iload(2).invokestatic(self, body.name(), body.type()).return_();
    }
    code.labelBinding(none).return_();
  }

  /**
   * Plans a method for a statement, or gives the one of an equal statement; the caller loads the
   * frame, then the captured names.
   */
  Method outline(Stmt stmt, FreeNames captured) {
    return outlined.computeIfAbsent(
        Fingerprint.of(stmt, this::isNonNegative), key -> add(stmt, captured, false));
  }

  /** Plans a method for the body of a parallel loop, called by number. */
  Method outlineParallel(Stmt.For loop, FreeNames captured) {
    return add(loop, captured, true);
  }

  private Method add(Stmt stmt, FreeNames captured, boolean parallel) {
    List<ClassDesc> types = new ArrayList<>();
    types.add(FRAME);
    captured.buffers().forEach(b -> types.add(JvmTypes.arrayDesc(b.dtype())));
    captured.vars().forEach(v -> types.add(JvmTypes.desc(v.type())));
    if (parallel) {
      types.add(CD_int);
      types.add(CD_int);
    }
    Pending p =
        new Pending(
            (parallel ? "parallel" : "part") + methods++,
            MethodTypeDesc.of(CD_void, types),
            captured,
            stmt,
            parallel);
    pending.add(p);
    if (parallel) {
      parallelBodies.add(p);
    }
    return new Method(p.name(), p.type(), parallelBodies.size() - 1);
  }

  /**
   * A planned method.
   *
   * @param number among the parallel bodies
   */
  record Method(String name, MethodTypeDesc type, int number) {}
}
