package dev.warpwright.sim.lane;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.expr.CallCompiler;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCode;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.OperandCode;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Collects the straight parts of a grid kernel and writes one class for them, a {@link WarpCode}.
 * Places where a warp may stop are not among them: there {@link WarpNode}s hold what is left to do.
 */
public final class WarpCodeBuilder implements ExprCode {
  /** Methods that one dispatching method can tell apart and still be compiled by Java. */
  private static final int MOST = 500;

  static final ClassDesc WARP = ClassDesc.ofDescriptor(Warp.class.descriptorString());
  static final MethodTypeDesc PART = MethodTypeDesc.of(CD_void, WARP, CD_int);
  private static final ClassDesc TABLES =
      ClassDesc.ofDescriptor(WarpCode.Tables.class.descriptorString());
  private static final MethodTypeDesc INTEGER = MethodTypeDesc.of(CD_long, LaneScope.FRAME);
  private static final MethodTypeDesc REAL = MethodTypeDesc.of(CD_double, LaneScope.FRAME);
  private static final MethodTypeDesc OPERAND =
      MethodTypeDesc.of(CD_int, LaneScope.FRAME.arrayType(), CD_int, CD_long.arrayType());

  private final Context context;
  private final Surroundings compiler;
  private final ClassDesc self =
      ClassDesc.of(WarpCodeBuilder.class.getPackageName(), "GeneratedWarpCode");
  private final List<Method> methods = new ArrayList<>();
  private final List<String> parts = new ArrayList<>();
  private final List<String> integers = new ArrayList<>();
  private final List<String> reals = new ArrayList<>();
  private final List<String> operands = new ArrayList<>();
  private final WarpCode.Tables tables =
      new WarpCode.Tables(
          new ArrayList<>(),
          new ArrayList<>(),
          new ArrayList<>(),
          new ArrayList<>(),
          new ArrayList<>());
  private final List<String> interpreted = new ArrayList<>();

  /** Variables that closures read, and so must be in frames. */
  private final Set<Var> framed = Collections.newSetFromMap(new IdentityHashMap<>());

  private @Nullable WarpCode code;

  private record Method(String name, MethodTypeDesc type, Consumer<CodeBuilder> body) {}

  public WarpCodeBuilder(Context context, Surroundings compiler, Stmt body) {
    this.context =
        new Context(
            context.source(),
            context.precision(),
            context.symbols(),
            context.grid(),
            context.track(),
            context.counts(),
            this);
    this.compiler = compiler;
    Walk.expressions(
        body,
        e -> {
          if (!LaneExprs.isNative(e)) {
            Walk.expressions(
                e,
                part -> {
                  if (part instanceof Var v) {
                    framed.add(v);
                  }
                });
          }
        });
  }

  public Context context() {
    return context;
  }

  /** Whether a variable must be in the frame, wherever it is used. */
  boolean isFramed(Var v) {
    return framed.contains(v) || !v.type().isScalar();
  }

  /** Remembers what is left to a closure though it is no call. */
  public void interpreted(Stmt where, Expr what) {
    interpreted.add(what.getClass().getSimpleName() + " in " + context.source().excerpt(where));
  }

  /** What there is no bytecode for, units and calls of a whole warp aside. */
  public List<String> interpreted() {
    return List.copyOf(interpreted);
  }

  private WarpCode code() {
    WarpCode made = code;
    if (made == null) {
      throw new IllegalStateException("the code has not been made");
    }
    return made;
  }

  /** A new method, whose body is written later. */
  String method(MethodTypeDesc type, Consumer<CodeBuilder> body) {
    String name = "m" + methods.size();
    methods.add(new Method(name, type, body));
    return name;
  }

  /** Calls a part from another, for the lanes whose mask is in a slot. */
  void callPart(CodeBuilder from, String name, int mask) {
    from.aload(0).aload(1).iload(mask).invokevirtual(self, name, PART);
  }

  /**
   * A statement in which no warp stops.
   *
   * @param watched whether a loop around it goes round until something changes
   */
  public WarpNode.Straight part(Stmt s, boolean watched) {
    List<LaneItem> items = LaneItem.of(s);
    Walk.statements(
        s,
        inner -> {
          if (inner instanceof Stmt.Alloc alloc) {
            compiler.declareShared(alloc.buffer());
          }
        });
    return part(items, false, watched);
  }

  /** Values of variables that are used in what follows. */
  public WarpNode.Straight assignments(List<Stmt.Let> lets) {
    return part(lets.stream().map(l -> (LaneItem) new LaneItem.Assign(l)).toList(), true, false);
  }

  private WarpNode.Straight part(List<LaneItem> items, boolean usedLater, boolean watched) {
    int number = parts.size();
    parts.add(blockMethod(items, usedLater, watched));
    return (w, mask) -> code().run(number, w, mask);
  }

  /** A method of items. */
  String blockMethod(List<LaneItem> items, boolean usedLater, boolean watched) {
    return method(
        PART,
        body -> {
          new LaneCode(body, this, compiler, watched).block(items, usedLater);
          body.return_();
        });
  }

  /** An expression of an integer type, of the lane and element that the frame is for. */
  LongExpr integer(Stmt where, CallCompiler calls, Expr e, CompiledExprs.Form form) {
    LaneClosures closures = LaneClosures.of(this, where, calls, e);
    int number = integers.size();
    integers.add(
        method(
            INTEGER,
            body -> {
              LaneExprs exprs = expression(body, closures, e);
              switch (form) {
                case VALUE -> exprs.value(e);
                case INDEX -> exprs.index(e);
                case BITS -> exprs.bits(e);
              }
              body.lreturn();
            }));
    return f -> code().integer(number, f);
  }

  /** An expression of a float type, of the lane and element that the frame is for. */
  DoubleExpr real(Stmt where, CallCompiler calls, Expr e) {
    LaneClosures closures = LaneClosures.of(this, where, calls, e);
    int number = reals.size();
    reals.add(
        method(
            REAL,
            body -> {
              expression(body, closures, e).real(e);
              body.dreturn();
            }));
    return f -> code().real(number, f);
  }

  private LaneExprs expression(CodeBuilder body, LaneClosures closures, Expr e) {
    LaneScope scope = new LaneScope(body, this);
    scope.enter(1);
    LaneExprs exprs = new LaneExprs(scope, closures);
    LaneGroup.buffers(e).forEach(scope::open);
    if (!e.type().isScalar()) {
      scope.elementOfFrame();
    }
    return exprs;
  }

  @Override
  public ExprCompiler exprs(Stmt where, CallCompiler calls) {
    return new CompiledExprs(context, where, calls, this);
  }

  /** An operand of an intrinsic: an address in bytes, or the bits of a value. */
  OperandCode operand(Stmt where, CallCompiler calls, Expr e) {
    Expr parts = e instanceof Expr.AddressOf a ? new Expr.Load(a.buffer(), a.indices()) : e;
    LaneClosures closures = LaneClosures.of(this, where, calls, parts);
    int number = operands.size();
    operands.add(method(OPERAND, body -> new LaneOperand(body, this).write(closures, e)));
    return (frames, mask, values) -> code().operand(number, frames, mask, values);
  }

  int straight(WarpNode.Straight s) {
    return add(tables.straights(), s);
  }

  int integer(LongExpr e) {
    return add(tables.integers(), e);
  }

  int real(DoubleExpr e) {
    return add(tables.reals(), e);
  }

  int action(Exec e) {
    return add(tables.actions(), e);
  }

  int site(Counting.Site s) {
    return add(tables.sites(), s);
  }

  private static <T> int add(List<T> table, T entry) {
    table.add(entry);
    return table.size() - 1;
  }

  /**
   * Writes the class. Everything that was made here can be executed afterwards.
   *
   * @return whether it could; a kernel may be too large
   */
  public boolean define() {
    try {
      byte[] bytes =
          ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG).build(self, this::write);
      MethodHandles.Lookup generated = MethodHandles.lookup().defineHiddenClass(bytes, true);
      code =
          (WarpCode)
              generated
                  .findConstructor(
                      generated.lookupClass(),
                      MethodType.methodType(void.class, WarpCode.Tables.class))
                  .invoke(tables);
      return true;
    } catch (TooLarge | IllegalArgumentException e) {
      // If a statement has no meaning, closures say so.
      return false;
    } catch (Throwable e) {
      if (e instanceof RuntimeException unchecked) {
        throw unchecked;
      }
      throw new IllegalStateException("compiled code that Java refuses", e);
    }
  }

  private static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private void write(ClassBuilder builder) {
    builder.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
    builder.withSuperclass(LaneExprs.CODE);
    MethodTypeDesc constructor = MethodTypeDesc.of(CD_void, TABLES);
    builder.withMethodBody(
        INIT_NAME,
        constructor,
        0,
        body ->
            body.aload(0).aload(1).invokespecial(LaneExprs.CODE, INIT_NAME, constructor).return_());
    // Bodies make more methods.
    for (int i = 0; i < methods.size(); i++) {
      Method method = methods.get(i);
      builder.withMethodBody(method.name, method.type, 0, method.body);
    }
    dispatch(builder, "run", PART, parts);
    dispatch(builder, "integer", INTEGER, integers);
    dispatch(builder, "real", REAL, reals);
    dispatch(builder, "operand", OPERAND, operands);
  }

  /** A method that calls one of several, by number. */
  private void dispatch(
      ClassBuilder builder, String name, MethodTypeDesc type, List<String> targets) {
    if (targets.size() > MOST) {
      throw new TooLarge();
    }
    builder.withMethodBody(
        name,
        type.insertParameterTypes(0, CD_int),
        0,
        body -> {
          Label unknown = body.newLabel();
          List<SwitchCase> cases = new ArrayList<>();
          for (int i = 0; i < targets.size(); i++) {
            cases.add(SwitchCase.of(i, body.newLabel()));
          }
          body.iload(1).tableswitch(0, Math.max(0, targets.size() - 1), unknown, cases);
          for (int i = 0; i < targets.size(); i++) {
            body.labelBinding(cases.get(i).target()).aload(0);
            int slot = 2;
            for (ClassDesc parameter : type.parameterList()) {
              body.loadLocal(TypeKind.from(parameter), slot);
              slot += TypeKind.from(parameter).slotSize();
            }
            body.invokevirtual(self, targets.get(i), type);
            body.return_(TypeKind.from(type.returnType()));
          }
          body.labelBinding(unknown).aconst_null().athrow();
        });
  }

  /** Storage that each lane gets anew. */
  Exec allocation(Buffer b) {
    return compiler.allocation(b);
  }
}
