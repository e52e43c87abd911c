package dev.warpwright.ir.text;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Random programs with every kind of node and hostile names; well typed, otherwise senseless. */
final class WildPrograms {
  private static final String[] NAMES = {
    "x",
    "x",
    "x_1",
    "i",
    "for",
    "f32",
    "onnx::MatMul_12",
    "a\"b",
    "a`b",
    "} kernel {",
    "größe",
    "line\nbreak",
    "/* c */",
    "f32x4",
    "",
    "T",
    "max",
    "x\\u0041",
    "true",
    "\u202e",
    "\0"
  };

  record Fake(String text, List<Operand> operands, @Nullable Type result) implements Intrinsic {
    @Override
    public Collective collective() {
      return Collective.WARP;
    }

    @Override
    public boolean isBarrier() {
      return false;
    }
  }

  static final Intrinsic SYNC = new Fake("sync_threads", List.of(), null);
  static final Intrinsic LOAD =
      new Fake(
          "ld.shared.x4",
          List.of(
              new Intrinsic.Operand("from", null, Set.of(Scope.SHARED), Intrinsic.Access.READ, 4),
              new Intrinsic.Operand("n", DType.I32, Set.of(), Intrinsic.Access.NONE, 1)),
          Type.I32);

  private final RandomGenerator random;
  private final List<Var> vars = new ArrayList<>();
  private final List<Pipe> pipes = new ArrayList<>();
  private final List<Buffer> buffers = new ArrayList<>();

  WildPrograms(RandomGenerator random) {
    this.random = random;
  }

  private String name() {
    return NAMES[random.nextInt(NAMES.length)];
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private <T> T one(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private long number() {
    return switch (random.nextInt(5)) {
      case 0 -> 0;
      case 1 -> Integer.MIN_VALUE;
      case 2 -> Integer.MAX_VALUE;
      default -> random.nextInt(-100, 100);
    };
  }

  Expr i32(int depth) {
    if (depth == 0 || chance(20)) {
      return vars.isEmpty() || chance(40) ? Exprs.i32(number()) : one(vars);
    }
    BinaryOp[] ops = {
      BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MOD, BinaryOp.MIN,
      BinaryOp.MAX, BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR, BinaryOp.SHL, BinaryOp.SHR
    };
    return switch (random.nextInt(9)) {
      case 0 -> new Expr.Unary(chance(50) ? UnaryOp.NEG : UnaryOp.BIT_NOT, i32(depth - 1));
      case 1 -> new Expr.Select(bool(depth - 1), i32(depth - 1), i32(depth - 1));
      case 2 ->
          new Expr.Cast(
              Type.I32, chance(50) ? f32(depth - 1) : new Expr.Cast(Type.I64, i32(depth - 1)));
      case 3 -> new Expr.Bitcast(Type.I32, f32(depth - 1));
      case 4 -> new Expr.Call(LOAD, List.of(address(depth - 1), i32(depth - 1)), Type.I32);
      default -> new Expr.Binary(ops[random.nextInt(ops.length)], i32(depth - 1), i32(depth - 1));
    };
  }

  private Expr address(int depth) {
    return buffers.isEmpty() ? i32(0) : addressIn(one(buffers), depth);
  }

  private Expr addressIn(Buffer buffer, int depth) {
    return new Expr.AddressOf(buffer, indices(buffer, depth));
  }

  Expr bool(int depth) {
    if (depth == 0) {
      return Exprs.bool(chance(50));
    }
    BinaryOp[] ops = {BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE, BinaryOp.GT, BinaryOp.GE};
    return switch (random.nextInt(5)) {
      case 0 -> new Expr.Binary(BinaryOp.AND, bool(depth - 1), bool(depth - 1));
      case 1 -> new Expr.Binary(BinaryOp.OR, bool(depth - 1), bool(depth - 1));
      case 2 -> new Expr.Unary(UnaryOp.NOT, bool(depth - 1));
      case 3 -> new Expr.Binary(ops[random.nextInt(ops.length)], bool(depth - 1), bool(depth - 1));
      default -> new Expr.Binary(ops[random.nextInt(ops.length)], i32(depth - 1), i32(depth - 1));
    };
  }

  private double real() {
    double[] values = {
      0,
      -0.0,
      1,
      -1.5,
      1e30,
      1e-40,
      0.1,
      Double.NaN,
      Double.POSITIVE_INFINITY,
      Double.NEGATIVE_INFINITY
    };
    return chance(50) ? values[random.nextInt(values.length)] : random.nextGaussian();
  }

  Expr f32(int depth) {
    if (depth == 0 || chance(15)) {
      return Exprs.f32(real());
    }
    return switch (random.nextInt(8)) {
      case 0 -> Exprs.fma(f32(depth - 1), f32(depth - 1), f32(depth - 1));
      case 1 ->
          new Expr.Call(
              chance(50) ? MathOp.EXP : MathOp.TANH_APPROX, List.of(f32(depth - 1)), Type.F32);
      case 2 -> new Expr.Unary(UnaryOp.NEG, f32(depth - 1));
      case 3 -> {
        DType[] types = {DType.F16, DType.BF16, DType.F64, DType.F8E4M3, DType.F8E5M2};
        yield new Expr.Cast(
            Type.F32, new Expr.FloatImm(Type.of(types[random.nextInt(types.length)]), real()));
      }
      case 4 -> {
        DType[] types = {DType.U8, DType.I8, DType.U32, DType.I64, DType.U64};
        DType type = types[random.nextInt(types.length)];
        long value =
            type == DType.U64 || type == DType.I64
                ? random.nextLong()
                : random.nextInt(type == DType.I8 ? -128 : 0, 128);
        yield new Expr.Cast(Type.F32, new Expr.IntImm(Type.of(type), value));
      }
      case 5 -> load(depth);
      default ->
          new Expr.Binary(chance(50) ? BinaryOp.MIN : BinaryOp.DIV, f32(depth - 1), f32(depth - 1));
    };
  }

  private Expr load(int depth) {
    if (buffers.isEmpty()) {
      return Exprs.f32(2);
    }
    Buffer buffer = one(buffers);
    return Exprs.cast(DType.F32, new Expr.Load(buffer, indices(buffer, depth - 1)));
  }

  private List<Expr> indices(Buffer buffer, int depth) {
    List<Expr> indices = new ArrayList<>();
    for (int i = 0; i < buffer.rank(); i++) {
      indices.add(i32(Math.max(0, Math.min(2, depth))));
    }
    return indices;
  }

  private Attrs attrs() {
    Attrs attrs = Attrs.NONE;
    while (chance(15)) {
      attrs = chance(50) ? attrs.with(name(), number()) : attrs.with(name(), name());
    }
    return attrs;
  }

  private Buffer buffer(Scope scope) {
    int rank = random.nextInt(3);
    List<Expr> shape = new ArrayList<>();
    List<List<Mode>> dimensions = new ArrayList<>();
    for (int i = 0; i < rank; i++) {
      boolean symbolic = i == 0 && !vars.isEmpty() && chance(30);
      shape.add(symbolic ? new Expr.Binary(BinaryOp.ADD, one(vars), i32(1)) : Exprs.i32(16));
      dimensions.add(
          chance(50)
              ? List.of(new Mode(16, random.nextInt(1, 99)))
              : List.of(new Mode(4, 1), new Mode(4, -64)));
    }
    Layout layout =
        chance(30)
            ? new Layout(dimensions, chance(50) ? new Swizzle(3, 3, 3) : Swizzle.NONE)
            : null;
    DType dtype = chance(50) ? DType.F32 : DType.F16;
    return new Buffer(name(), dtype, shape, scope, layout, chance(20) ? 128 : 16);
  }

  private <T> T with(Supplier<T> inner) {
    int savedVars = vars.size();
    int savedBuffers = buffers.size();
    T result = inner.get();
    vars.subList(savedVars, vars.size()).clear();
    buffers.subList(savedBuffers, buffers.size()).clear();
    return result;
  }

  private Var newVar() {
    Var v = Var.index(name());
    vars.add(v);
    return v;
  }

  private Stmt.Store store() {
    Buffer buffer = one(buffers);
    Expr value = Exprs.cast(buffer.dtype(), f32(2));
    List<Expr> indices = indices(buffer, 2);
    if (buffer.rank() > 0 && chance(30)) {
      indices.set(indices.size() - 1, new Expr.Ramp(i32(1), random.nextInt(-3, 4), 4));
      value = new Expr.Broadcast(value, 4);
    }
    return new Stmt.Store(buffer, indices, value);
  }

  private Region region() {
    Buffer buffer = one(buffers);
    return new Region(
        buffer,
        indices(buffer, 1).stream()
            .map(e -> chance(50) ? Range.at(e) : new Range(e, i32(1)))
            .toList());
  }

  private List<Region> regions() {
    return random.ints(random.nextInt(3), 0, 9).mapToObj(i -> region()).toList();
  }

  Stmt stmt(int depth) {
    return with(() -> any(depth));
  }

  /** Pipes, roles and signals. */
  private Stmt flow(int depth) {
    int choice = pipes.isEmpty() ? random.nextInt(5) : random.nextInt(8);
    return switch (choice) {
      case 0 -> {
        Scope scope = chance(50) ? Scope.SHARED : Scope.LOCAL;
        List<Buffer> stage =
            random.ints(random.nextInt(3), 0, 9).mapToObj(i -> buffer(scope)).toList();
        Pipe.Options options =
            new Pipe.Options(
                random.nextInt(3),
                random.nextInt(2),
                random.nextInt(2),
                random.nextInt(2),
                chance(50) ? Pipe.Consumers.BROADCAST : Pipe.Consumers.EACH_ITS_OWN);
        Pipe pipe = new Pipe(name(), random.nextInt(1, 9), scope, stage, options);
        buffers.addAll(stage);
        pipes.add(pipe);
        Stmt body = any(Math.max(0, depth - 1));
        pipes.remove(pipe);
        yield new Stmt.Flow.PipeScope(pipe, body);
      }
      case 1 -> {
        List<Role> roles = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
          roles.add(with(() -> role(depth)));
        }
        yield new Stmt.Flow.Roles(roles);
      }
      case 2, 3 -> {
        Buffer counter = one(buffers);
        List<Expr> indices = indices(counter, 1);
        Expr value = Exprs.cast(counter.dtype(), f32(1));
        yield choice == 2
            ? new Stmt.Flow.Signal(counter, indices, value)
            : new Stmt.Flow.Await(counter, indices, value);
      }
      case 4 -> chance(50) ? new Stmt.Flow.AwaitPrevious() : new Stmt.Flow.SignalNext();
      case 5 -> new Stmt.Flow.Produce(one(pipes), stmt(Math.max(0, depth - 1)));
      case 6 -> new Stmt.Flow.Consume(one(pipes), chance(30), stmt(Math.max(0, depth - 1)));
      default -> new Stmt.Flow.Skip(one(pipes), i32(1));
    };
  }

  private Role role(int depth) {
    Var instance = chance(50) ? newVar() : null;
    int instances = random.nextInt(1, 4);
    return new Role(
        name(), instance, instances, random.nextInt(1, 9), attrs(), stmt(Math.max(0, depth - 1)));
  }

  private Stmt any(int depth) {
    if (depth > 0 && !buffers.isEmpty() && chance(15)) {
      return flow(depth);
    }
    int choice = buffers.isEmpty() ? 0 : depth == 0 ? random.nextInt(11, 18) : random.nextInt(18);
    return switch (choice) {
      case 0, 1 -> {
        Buffer buffer = buffer(chance(50) ? Scope.SHARED : Scope.LOCAL);
        buffers.add(buffer);
        yield new Stmt.Alloc(buffer, any(Math.max(0, depth - 1)));
      }
      case 2, 3, 4 -> {
        List<Stmt> list = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          list.add(stmt(depth - 1));
        }
        yield new Stmt.Seq(list);
      }
      case 5, 6 -> {
        ForKind kind = ForKind.values()[random.nextInt(ForKind.values().length)];
        ThreadAxis axis = kind == ForKind.THREAD_BOUND ? ThreadAxis.THREAD_Y : null;
        Expr min = chance(50) ? Exprs.i32(0) : i32(1);
        Expr extent = i32(1);
        yield new Stmt.For(newVar(), min, extent, kind, axis, attrs(), any(depth - 1));
      }
      case 7 -> new Stmt.While(bool(2), stmt(depth - 1));
      case 8 -> new Stmt.If(bool(2), stmt(depth - 1), chance(50) ? stmt(depth - 1) : null);
      case 9 -> {
        Expr value = i32(3);
        yield new Stmt.Let(newVar(), value, any(depth - 1));
      }
      case 10 -> {
        Expr predicate = chance(50) ? bool(2) : null;
        List<Expr> bindings = List.of(i32(2), i32(2));
        List<Expr> extents = List.of(i32(1), i32(1));
        Var v = newVar();
        Var w = newVar();
        List<IterVar> iterVars =
            List.of(
                new IterVar(v, extents.get(0), IterVar.Kind.SPATIAL, bindings.get(0)),
                new IterVar(w, extents.get(1), IterVar.Kind.REDUCE, bindings.get(1)));
        String name = name();
        List<Region> reads = regions();
        List<Region> writes = regions();
        Stmt init = chance(50) ? stmt(0) : null;
        Stmt body = stmt(depth - 1);
        // Where the text says nothing, they follow from the body.
        BlockRegions inferred = BlockRegions.of(init, body);
        yield new Stmt.Block(
            name,
            iterVars,
            predicate,
            reads.isEmpty() ? inferred.reads() : reads,
            writes.isEmpty() ? inferred.writes() : writes,
            init,
            body,
            attrs());
      }
      case 11 -> new Stmt.Comment(name());
      case 12 ->
          new Stmt.Evaluate(
              chance(50)
                  ? new Expr.Call(SYNC, List.of(), Type.BOOL)
                  : new Expr.Call(LOAD, List.of(address(1), i32(1)), Type.I32));
      case 13 -> new Stmt.TileCopy(region(), region(), attrs());
      case 14 -> {
        Region to = region();
        yield new Stmt.TileFill(to, Exprs.cast(to.buffer().dtype(), f32(1)), attrs());
      }
      case 15 -> new Stmt.TileMma(region(), region(), region(), chance(50), chance(50), attrs());
      case 16 -> {
        List<Expr> extents = List.of(i32(1), i32(0));
        List<Var> mapped = List.of(newVar(), newVar());
        yield new Stmt.TileMap(mapped, extents, List.of(store(), store()), attrs());
      }
      default -> {
        ReduceOp op = chance(50) ? ReduceOp.SUM : ReduceOp.MAX;
        List<Var> outer = List.of(newVar());
        List<Var> inner = List.of(newVar());
        Buffer to = one(buffers);
        yield new Stmt.TileReduce(
            op,
            outer,
            List.of(Exprs.i32(4)),
            inner,
            List.of(Exprs.i32(8)),
            to,
            indices(to, 1),
            f32(2),
            attrs());
      }
    };
  }

  private List<Param> params() {
    List<Param> params = new ArrayList<>();
    Var m = newVar();
    for (int i = random.nextInt(6); i >= 0; i--) {
      Buffer buffer = buffer(Scope.GLOBAL);
      params.add(buffer);
      buffers.add(buffer);
    }
    params.add(random.nextInt(params.size() + 1), new ScalarParam(m, -5, Integer.MAX_VALUE));
    return params;
  }

  PrimFunc primFunc() {
    return with(() -> new PrimFunc(name(), params(), stmt(5), attrs()));
  }

  Kernel kernel(String name) {
    return with(
        () -> {
          List<Param> params = params();
          if (chance(30)) {
            return new Kernel(name, Kernel.Kind.HOST, params, List.of(), stmt(5), attrs());
          }
          List<ThreadBinding> bindings = new ArrayList<>();
          for (ThreadAxis axis : ThreadAxis.values()) {
            if (chance(50)) {
              Expr extent = i32(2);
              bindings.add(new ThreadBinding(axis, newVar(), extent));
            }
          }
          return new Kernel(name, Kernel.Kind.GRID, params, bindings, stmt(5), attrs());
        });
  }

  Program program() {
    List<Kernel> kernels = List.of(kernel("first"), kernel("second " + name()));
    return with(
        () -> {
          List<Program.ProgramParam> params = new ArrayList<>();
          for (Param param : params()) {
            Program.Role role =
                param instanceof ScalarParam
                    ? Program.Role.SCALAR
                    : Program.Role.values()[random.nextInt(3)];
            params.add(
                new Program.ProgramParam(role, param, role != Program.Role.SCALAR && chance(20)));
          }
          List<Buffer> workspace = List.of(buffer(Scope.GLOBAL));
          buffers.addAll(workspace);
          List<Program.View> views = new ArrayList<>();
          if (chance(30)) {
            views.add(new Program.View(buffer(Scope.GLOBAL), one(buffers), random.nextInt(99)));
            buffers.add(views.getFirst().view());
          }
          List<Program.Step> steps = new ArrayList<>();
          if (chance(30)) {
            steps.add(new Program.AllReduce(one(buffers)));
          }
          steps.add(new Program.Memset(one(buffers), random.nextInt(256)));
          steps.add(new Program.Carry(one(buffers), one(buffers)));
          for (Kernel kernel : List.of(kernels.get(0), kernels.get(1), kernels.get(0))) {
            List<Program.Argument> arguments = new ArrayList<>();
            for (Param param : kernel.params()) {
              arguments.add(
                  param instanceof ScalarParam
                      ? new Program.ScalarArgument(i32(2))
                      : new Program.BufferArgument(one(buffers)));
            }
            steps.add(new Program.Launch(kernel, arguments));
          }
          return new Program(name(), 1 + random.nextInt(3), params, workspace, views, steps);
        });
  }
}
