package dev.warpwright.ir.testing;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Op;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A program as a list of values that is the same for two programs exactly if they are
 * alpha-equivalent: declared variables, buffers and kernels are numbered in the order of their
 * declaration, free ones stand for themselves. What nests sequences and the order of launch indices
 * means nothing and is left out.
 */
final class CanonicalForm {
  /** A variable or buffer that is declared nowhere: equal if it is the same object. */
  record Free(Object node, String name) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Free free && free.node == node;
    }

    @Override
    public int hashCode() {
      return name.hashCode();
    }
  }

  private final List<Object> values = new ArrayList<>();
  private final List<Object> places = new ArrayList<>();
  private final Map<Object, Integer> numbers = new IdentityHashMap<>();
  private final Map<Class<?>, String> tags = new HashMap<>();
  private Object place = "";
  private int declared;

  /** What tells two programs apart, in order. */
  List<Object> values() {
    return values;
  }

  /** The statement, expression, function, kernel or program that the value belongs to. */
  Object place(int index) {
    return places.get(index);
  }

  static CanonicalForm of(Object node) {
    CanonicalForm form = new CanonicalForm();
    form.place = node;
    switch (node) {
      case Expr e -> form.expr(e);
      case Stmt s -> form.stmt(s);
      case PrimFunc f -> form.primFunc(f);
      case Kernel k -> form.kernel(k);
      case Program p -> form.program(p);
      default -> throw new IllegalArgumentException("no part of the IR: " + node.getClass());
    }
    return form;
  }

  private void emit(Object value) {
    values.add(value);
    places.add(place);
  }

  private void tag(Object node) {
    emit(tags.computeIfAbsent(node.getClass(), Class::getSimpleName));
  }

  private void declare(Object node) {
    numbers.put(node, declared++);
  }

  private void use(Object node, String name) {
    Integer number = numbers.get(node);
    emit(number == null ? new Free(node, name) : number);
  }

  private void declareVar(Var v) {
    declare(v);
    emit(v.type());
  }

  private void declareBuffer(Buffer b) {
    emit(b.dtype());
    exprs(b.shape());
    emit(b.scope());
    emit(b.layout() == null ? "row-major" : b.layout().toString());
    emit(b.alignment());
    declare(b);
  }

  private void params(List<? extends Param> params) {
    emit(params.size());
    for (Param param : params) {
      if (param instanceof ScalarParam scalar) {
        declare(scalar.var());
      }
    }
    for (Param param : params) {
      switch (param) {
        case Buffer buffer -> declareBuffer(buffer);
        case ScalarParam scalar -> {
          emit(scalar.var().type());
          emit(scalar.min());
          emit(scalar.max());
        }
      }
    }
  }

  private void primFunc(PrimFunc f) {
    tag(f);
    emit(f.name());
    params(f.params());
    emit(f.attrs().values());
    stmt(f.body());
  }

  private void kernel(Kernel k) {
    tag(k);
    emit(k.name());
    emit(k.kind());
    params(k.params());
    for (ThreadAxis axis : ThreadAxis.values()) {
      k.binding(axis)
          .ifPresent(
              binding -> {
                emit(axis);
                expr(binding.extent());
                declareVar(binding.var());
              });
    }
    emit(k.attrs().values());
    stmt(k.body());
  }

  private void program(Program p) {
    tag(p);
    emit(p.name());
    emit(p.devices());
    p.params()
        .forEach(
            param -> {
              emit(param.role());
              emit(param.sharded());
            });
    params(p.params().stream().map(Program.ProgramParam::param).toList());
    emit(p.workspace().size());
    p.workspace().forEach(this::declareBuffer);
    for (Program.View view : p.views()) {
      declareBuffer(view.view());
      use(view.of(), view.of().name());
      emit(view.first());
    }
    for (Program.Step step : p.steps()) {
      place = step;
      tag(step);
      switch (step) {
        case Program.Memset(Buffer buffer, int value) -> {
          use(buffer, buffer.name());
          emit(value);
        }
        case Program.AllReduce(Buffer buffer) -> use(buffer, buffer.name());
        case Program.Carry(Buffer from, Buffer to) -> {
          use(from, from.name());
          use(to, to.name());
        }
        case Program.Launch(Kernel kernel, List<Program.Argument> arguments) -> {
          for (Program.Argument argument : arguments) {
            tag(argument);
            switch (argument) {
              case Program.BufferArgument(Buffer buffer) -> use(buffer, buffer.name());
              case Program.ScalarArgument(Expr value) -> expr(value);
            }
          }
          Integer number = numbers.get(kernel);
          if (number == null) {
            declare(kernel);
            kernel(kernel);
          } else {
            emit(number);
          }
        }
      }
    }
  }

  private void exprs(List<Expr> list) {
    emit(list.size());
    list.forEach(this::expr);
  }

  private void expr(Expr e) {
    if (e instanceof Var v) {
      use(v, v.name());
      return;
    }
    tag(e);
    switch (e) {
      case Var v -> {}
      case Expr.IntImm(Type type, long value) -> {
        emit(type);
        emit(value);
      }
      case Expr.FloatImm(Type type, double value) -> {
        emit(type);
        emit(value);
      }
      case Expr.Binary(BinaryOp op, Expr a, Expr b) -> {
        emit(op);
        expr(a);
        expr(b);
      }
      case Expr.Unary(UnaryOp op, Expr a) -> {
        emit(op);
        expr(a);
      }
      case Expr.Select s -> {
        expr(s.condition());
        expr(s.then());
        expr(s.otherwise());
      }
      case Expr.Cast(Type type, Expr a) -> {
        emit(type);
        expr(a);
      }
      case Expr.Bitcast(Type type, Expr a) -> {
        emit(type);
        expr(a);
      }
      case Expr.Load(Buffer buffer, List<Expr> indices) -> {
        use(buffer, buffer.name());
        exprs(indices);
      }
      case Expr.AddressOf(Buffer buffer, List<Expr> indices) -> {
        use(buffer, buffer.name());
        exprs(indices);
      }
      case Expr.Ramp(Expr base, long stride, int lanes) -> {
        expr(base);
        emit(stride);
        emit(lanes);
      }
      case Expr.Broadcast(Expr value, int lanes) -> {
        expr(value);
        emit(lanes);
      }
      case Expr.Call(Op op, List<Expr> args, Type type) -> {
        emit(op.text());
        emit(type);
        exprs(args);
      }
    }
  }

  private void region(Region region) {
    use(region.buffer(), region.buffer().name());
    for (Range range : region.ranges()) {
      expr(range.min());
      expr(range.extent());
    }
  }

  private void regions(List<Region> regions) {
    emit(regions.size());
    regions.forEach(this::region);
  }

  private static void flatten(Stmt s, List<Stmt> list) {
    if (s instanceof Stmt.Seq(List<Stmt> stmts)) {
      stmts.forEach(each -> flatten(each, list));
    } else {
      list.add(s);
    }
  }

  /** A statement where a body is expected: nested sequences count as one list. */
  private void stmt(Stmt s) {
    List<Stmt> list = new ArrayList<>();
    flatten(s, list);
    emit(list.size());
    Object before = place;
    for (Stmt each : list) {
      place = each;
      single(each);
    }
    place = before;
  }

  private void single(Stmt s) {
    tag(s);
    switch (s) {
      case Stmt.Seq seq -> stmt(seq);
      case Stmt.For f -> {
        emit(f.kind());
        emit(f.axis() == null ? "no axis" : f.axis());
        expr(f.min());
        expr(f.extent());
        emit(f.attrs().values());
        declareVar(f.var());
        stmt(f.body());
      }
      case Stmt.While(Expr condition, Stmt body) -> {
        expr(condition);
        stmt(body);
      }
      case Stmt.If i -> {
        expr(i.condition());
        stmt(i.then());
        Stmt otherwise = i.otherwise();
        emit(otherwise == null ? "no else" : "else");
        if (otherwise != null) {
          stmt(otherwise);
        }
      }
      case Stmt.Let(Var v, Expr value, Stmt body) -> {
        expr(value);
        declareVar(v);
        stmt(body);
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) -> {
        declareBuffer(buffer);
        stmt(body);
      }
      case Stmt.Store store -> store(store);
      case Stmt.Evaluate(Expr.Call call) -> expr(call);
      case Stmt.Comment(String text) -> emit(text);
      case Stmt.Block b -> block(b);
      case Stmt.TileCopy(Region to, Region from, Attrs attrs) -> {
        region(to);
        region(from);
        emit(attrs.values());
      }
      case Stmt.TileFill(Region to, Expr value, Attrs attrs) -> {
        region(to);
        expr(value);
        emit(attrs.values());
      }
      case Stmt.TileMma m -> {
        region(m.c());
        region(m.a());
        region(m.b());
        emit(m.transposeA());
        emit(m.transposeB());
        emit(m.attrs().values());
      }
      case Stmt.TileMap m -> {
        exprs(m.extents());
        m.vars().forEach(this::declareVar);
        emit(m.stores().size());
        m.stores().forEach(this::store);
        emit(m.attrs().values());
      }
      case Stmt.TileReduce r -> {
        emit(r.op());
        exprs(r.extents());
        exprs(r.reduceExtents());
        r.vars().forEach(this::declareVar);
        r.reduceVars().forEach(this::declareVar);
        use(r.to(), r.to().name());
        exprs(r.indices());
        expr(r.value());
        emit(r.attrs().values());
      }
      case Stmt.Flow flow -> flow(flow);
    }
  }

  private void flow(Stmt.Flow s) {
    switch (s) {
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) -> {
        emit(pipe.stages());
        emit(pipe.scope());
        emit(pipe.options());
        emit(pipe.buffers().size());
        pipe.buffers().forEach(this::declareBuffer);
        declare(pipe);
        stmt(body);
      }
      case Stmt.Flow.Produce(Pipe pipe, Stmt body) -> {
        use(pipe, pipe.name());
        stmt(body);
      }
      case Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt body) -> {
        use(pipe, pipe.name());
        emit(peek);
        stmt(body);
      }
      case Stmt.Flow.Skip(Pipe pipe, Expr count) -> {
        use(pipe, pipe.name());
        expr(count);
      }
      case Stmt.Flow.Roles(List<Role> roles) -> {
        emit(roles.size());
        for (Role role : roles) {
          emit(role.name());
          emit(role.instances());
          emit(role.warps());
          emit(role.attrs().values());
          Var instance = role.instance();
          emit(instance == null ? "no instance" : "instance");
          if (instance != null) {
            declareVar(instance);
          }
          stmt(role.body());
        }
      }
      case Stmt.Flow.Signal(Buffer counter, List<Expr> indices, Expr by) -> {
        use(counter, counter.name());
        exprs(indices);
        expr(by);
      }
      case Stmt.Flow.Await(Buffer counter, List<Expr> indices, Expr atLeast) -> {
        use(counter, counter.name());
        exprs(indices);
        expr(atLeast);
      }
      case Stmt.Flow.Combine c -> {
        use(c.sums(), c.sums().name());
        exprs(List.of(c.slot(), c.part(), c.parts()));
        emit(c.attrs().values());
        stmt(c.body());
      }
      case Stmt.Flow.AwaitPrevious _, Stmt.Flow.SignalNext _ -> {}
    }
  }

  private void store(Stmt.Store store) {
    use(store.buffer(), store.buffer().name());
    exprs(store.indices());
    expr(store.value());
  }

  private void block(Stmt.Block b) {
    emit(b.name());
    emit(b.iterVars().size());
    for (IterVar iv : b.iterVars()) {
      emit(iv.kind());
      expr(iv.extent());
      expr(iv.binding());
    }
    Expr predicate = b.predicate();
    emit(predicate == null ? "no predicate" : "predicate");
    if (predicate != null) {
      expr(predicate);
    }
    b.iterVars().forEach(iv -> declareVar(iv.var()));
    regions(b.reads());
    regions(b.writes());
    Stmt init = b.init();
    emit(init == null ? "no init" : "init");
    if (init != null) {
      stmt(init);
    }
    emit(b.attrs().values());
    stmt(b.body());
  }
}
