package dev.warpwright.ir.text;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Reads PrimFuncs, kernels and programs: their headers and the declarations of programs. */
final class HeaderParser {
  private static final Set<String> ROLES = Set.of("input", "output", "constant", "scalar");

  /** Of which each device may have a part. */
  private static final Set<String> PARTS = Set.of("input", "output", "constant");

  private final Cursor cursor;
  private final Function<String, Optional<Intrinsic>> intrinsics;
  private final Definitions definitions;
  private final ExprParser exprs;
  private final StmtParser stmts;

  HeaderParser(Cursor cursor, Function<String, Optional<Intrinsic>> intrinsics) {
    this.cursor = cursor;
    this.intrinsics = intrinsics;
    this.definitions = new Definitions(cursor);
    this.exprs = new ExprParser(cursor, definitions, intrinsics);
    this.stmts = new StmtParser(cursor, definitions, exprs);
  }

  /** The attributes with the comment that stood above. */
  private static Attrs commented(Attrs attrs, List<String> above) {
    return above.isEmpty() ? attrs : attrs.with(Attrs.COMMENT, String.join("\n", above));
  }

  PrimFunc primFunc() {
    List<String> above = cursor.nextComments();
    cursor.expect("primfunc");
    Token name = cursor.expectName("the name of a function");
    List<Param> params = params();
    Attrs attrs = commented(stmts.declarations().attrs(), above);
    return new PrimFunc(name.text(), params, stmts.braces(), attrs);
  }

  Kernel kernel() {
    List<String> above = cursor.nextComments();
    boolean host = cursor.accept("host");
    cursor.expect("kernel");
    Token name = cursor.expectName("the name of a kernel");
    List<Param> params = params();
    List<ThreadBinding> bindings = new ArrayList<>();
    if (!host) {
      launch("grid", ThreadAxis.BLOCK_X, bindings);
      launch("block", ThreadAxis.THREAD_X, bindings);
    }
    Attrs attrs = commented(stmts.declarations().attrs(), above);
    Stmt body = stmts.braces();
    Kernel.Kind kind = host ? Kernel.Kind.HOST : Kernel.Kind.GRID;
    return cursor.make(name, () -> new Kernel(name.text(), kind, params, bindings, body, attrs));
  }

  /** {@code grid(bx = …, bz: blockIdx.z = …)}: the axes count up from x unless one is named. */
  private void launch(String keyword, ThreadAxis first, List<ThreadBinding> bindings) {
    if (!cursor.accept(keyword)) {
      return;
    }
    cursor.expect("(");
    int next = 0;
    while (!cursor.isAt(")")) {
      Token name = cursor.expectName("the name of a variable");
      Type type = Type.I32;
      ThreadAxis axis = null;
      while (cursor.accept(":")) {
        if (Names.isType(cursor.peek().text())) {
          type = exprs.expectType();
        } else {
          axis = stmts.axis();
        }
      }
      if (axis == null) {
        if (next > 2) {
          throw cursor.error(name, "a " + keyword + " has at most three indices");
        }
        axis = ThreadAxis.values()[first.ordinal() + next];
      }
      if (axis.isBlock() != first.isBlock()) {
        throw cursor.error(name, axis.text() + " is no index of a " + keyword);
      }
      next = axis.dimension() + 1;
      ThreadAxis chosen = axis;
      if (bindings.stream().anyMatch(b -> b.axis() == chosen)) {
        throw cursor.error(name, axis.text() + " is there twice");
      }
      cursor.expect("=");
      Expr extent = exprs.expr(type);
      Var v = definitions.define(name, new Var(name.text(), type));
      bindings.add(new ThreadBinding(axis, v, extent));
      if (!cursor.accept(",")) {
        break;
      }
    }
    cursor.expect(")");
  }

  /** A network of a thousand layers has some thousands. */
  private static final int MOST_PARAMETERS = 16_384;

  /** Shapes may mention scalars that come later, so scalars are read first. */
  private List<Param> params() {
    cursor.expect("(");
    int start = cursor.position();
    Map<Integer, ScalarParam> scalars = new HashMap<>();
    while (!cursor.isAt(")")) {
      int at = cursor.position();
      if (scalars.size() > MOST_PARAMETERS) {
        throw cursor.error(cursor.peek(), "more than " + MOST_PARAMETERS + " parameters");
      }
      if (isScalar()) {
        scalars.put(at, scalar());
      } else {
        skipTo(Set.of(",", ";", ")"));
      }
      if (!cursor.accept(",") && !cursor.accept(";")) {
        break;
      }
    }
    cursor.goTo(start);
    List<Param> params = new ArrayList<>();
    while (!cursor.isAt(")")) {
      if (params.size() == MOST_PARAMETERS) {
        throw cursor.error(cursor.peek(), "more than " + MOST_PARAMETERS + " parameters");
      }
      ScalarParam scalar = scalars.get(cursor.position());
      if (scalar == null) {
        params.add(stmts.declarations().buffer());
      } else {
        skipTo(Set.of(",", ";", ")"));
        params.add(scalar);
      }
      if (!cursor.accept(",") && !cursor.accept(";")) {
        break;
      }
    }
    cursor.expect(")");
    return params;
  }

  /** Whether {@code name: type} is not followed by a shape. */
  private boolean isScalar() {
    int at = cursor.position();
    cursor.expectName("the name of a parameter");
    cursor.expect(":");
    exprs.expectType();
    boolean scalar = !cursor.isAt("[");
    cursor.goTo(at);
    return scalar;
  }

  private ScalarParam scalar() {
    Token name = cursor.expectName("the name of a parameter");
    cursor.expect(":");
    Type type = exprs.expectType();
    Interval range = Interval.ofType(type.dtype());
    if (cursor.accept("in")) {
      Token at = cursor.peek();
      long min = cursor.expectInteger("the least value");
      cursor.expect("..");
      long max = cursor.expectInteger("the greatest value");
      range = cursor.make(at, () -> new Interval(min, max));
    }
    Var v = definitions.define(name, new Var(name.text(), type));
    return new ScalarParam(v, range.min(), range.max());
  }

  /** Skips to one of the symbols or names outside of brackets. */
  private void skipTo(Set<String> stop) {
    int depth = 0;
    while (true) {
      Token token = cursor.peek();
      boolean word = token.kind() == Token.Kind.SYMBOL || token.kind() == Token.Kind.NAME;
      // A comma before a parenthesis or a number is inside a layout.
      Token second = cursor.peekSecond();
      boolean inLayout = token.is(",") && (second.is("(") || second.kind() == Token.Kind.INT);
      boolean stops = depth == 0 && word && !inLayout && stop.contains(token.text());
      if (token.kind() == Token.Kind.END || stops) {
        return;
      }
      if (token.is("(") || token.is("[") || token.is("{")) {
        depth++;
      } else if (token.is(")") || token.is("]") || token.is("}")) {
        depth--;
      }
      cursor.next();
    }
  }

  Program program() {
    cursor.expect("program");
    Token name = cursor.expectName("the name of a program");
    int devices = devices();
    cursor.expect("{");
    Set<String> declarations =
        Set.of(
            "input",
            "output",
            "constant",
            "scalar",
            "workspace",
            "sharded",
            "view",
            "kernel",
            "host",
            "launch",
            "memset",
            "all_reduce",
            "}");
    int start = cursor.position();
    Map<Integer, ScalarParam> scalars = new HashMap<>();
    while (isDeclaration()) {
      boolean scalar = cursor.isAt("scalar");
      cursor.next();
      int at = cursor.position();
      if (scalar) {
        scalars.put(at, scalar());
      } else {
        skipTo(declarations);
      }
    }
    cursor.goTo(start);
    List<Program.ProgramParam> params = new ArrayList<>();
    List<Buffer> workspace = new ArrayList<>();
    List<Program.View> views = new ArrayList<>();
    while (isDeclaration()) {
      boolean sharded = cursor.accept("sharded");
      if (sharded && !PARTS.contains(cursor.peek().text())) {
        throw cursor.expected("'input', 'output' or 'constant'");
      }
      String role = cursor.next().text();
      ScalarParam scalar = scalars.get(cursor.position());
      switch (role) {
        case "input" ->
            params.add(param(Program.Role.INPUT, stmts.declarations().buffer(), sharded));
        case "output" ->
            params.add(param(Program.Role.OUTPUT, stmts.declarations().buffer(), sharded));
        case "constant" ->
            params.add(param(Program.Role.CONSTANT, stmts.declarations().buffer(), sharded));
        case "workspace" -> workspace.add(stmts.declarations().buffer());
        case "view" -> views.add(view());
        default -> {
          if (scalar == null) {
            throw cursor.expected("a scalar");
          }
          skipTo(declarations);
          params.add(param(Program.Role.SCALAR, scalar, false));
        }
      }
    }
    Map<String, Kernel> kernels = kernels();
    List<Program.Step> steps = steps(kernels);
    cursor.expect("}");
    return new Program(name.text(), devices, params, workspace, views, steps);
  }

  /** {@code on N devices}; 1 if nothing is said. */
  private int devices() {
    if (!cursor.accept("on")) {
      return 1;
    }
    Token at = cursor.peek();
    int devices = cursor.expectInt("how many devices");
    if (devices < 1) {
      throw cursor.error(at, "a program is for one device or more");
    }
    cursor.expect("devices");
    return devices;
  }

  private boolean isDeclaration() {
    return ROLES.contains(cursor.peek().text())
        || cursor.isAt("workspace")
        || cursor.isAt("sharded")
        || cursor.isAt("view");
  }

  /** Behind {@code view}: a buffer, what it is rows of, and the first of them. */
  private Program.View view() {
    Buffer view = stmts.declarations().buffer();
    cursor.expect("=");
    Buffer of = definitions.buffer(cursor.expectName("the name of a buffer"));
    cursor.expect("from");
    return new Program.View(view, of, cursor.expectInt("the first row"));
  }

  private static Program.ProgramParam param(Program.Role role, Param param, boolean sharded) {
    return new Program.ProgramParam(role, param, sharded);
  }

  private Map<String, Kernel> kernels() {
    Map<String, Kernel> kernels = new LinkedHashMap<>();
    while (cursor.isAt("kernel") || cursor.isAt("host")) {
      Token token = cursor.peek();
      // A kernel sees its own parameters only.
      Kernel kernel = new HeaderParser(cursor, intrinsics).kernel();
      if (kernels.put(kernel.name(), kernel) != null) {
        throw cursor.error(token, "there are two kernels '" + Names.shown(kernel.name()) + "'");
      }
    }
    return kernels;
  }

  private List<Program.Step> steps(Map<String, Kernel> kernels) {
    List<Program.Step> steps = new ArrayList<>();
    Map<String, Kernel> unused = new LinkedHashMap<>(kernels);
    while (!cursor.isAt("}")) {
      if (cursor.accept(";")) {
        continue;
      }
      Token step = cursor.peek();
      if (cursor.accept("memset")) {
        Buffer buffer = definitions.buffer(cursor.expectName("the name of a buffer"));
        cursor.expect("=");
        steps.add(new Program.Memset(buffer, cursor.expectInt("a byte")));
        continue;
      }
      if (cursor.accept("carry")) {
        Buffer to = definitions.buffer(cursor.expectName("the name of a buffer"));
        cursor.expect("=");
        Buffer from = definitions.buffer(cursor.expectName("the name of a buffer"));
        steps.add(new Program.Carry(from, to));
        continue;
      }
      if (cursor.accept("all_reduce")) {
        cursor.expect("sum");
        steps.add(
            new Program.AllReduce(definitions.buffer(cursor.expectName("the name of a buffer"))));
        continue;
      }
      if (!cursor.accept("launch")) {
        throw cursor.expected("'launch', 'memset', 'carry', 'all_reduce' or '}'");
      }
      Token name = cursor.expectName("the name of a kernel");
      Kernel kernel = kernels.get(name.text());
      if (kernel == null) {
        throw cursor.error(name, "unknown kernel " + name.found());
      }
      unused.remove(name.text());
      List<Program.Argument> arguments = arguments(kernel);
      steps.add(cursor.make(step, () -> new Program.Launch(kernel, arguments)));
    }
    if (!unused.isEmpty()) {
      String first = unused.keySet().iterator().next();
      throw cursor.expected("a launch of kernel '" + Names.shown(first) + "'");
    }
    return steps;
  }

  private List<Program.Argument> arguments(Kernel kernel) {
    List<Program.Argument> arguments = new ArrayList<>();
    cursor.expect("(");
    while (!cursor.isAt(")")) {
      Token token = cursor.peek();
      boolean name = token.kind() == Token.Kind.NAME || token.kind() == Token.Kind.QUOTED;
      boolean alone = cursor.peekSecond().is(",") || cursor.peekSecond().is(")");
      if (name && alone && definitions.lookup(token) instanceof Buffer buffer) {
        cursor.next();
        arguments.add(new Program.BufferArgument(buffer));
      } else {
        boolean typed =
            arguments.size() < kernel.params().size()
                && kernel.params().get(arguments.size()) instanceof ScalarParam;
        arguments.add(
            new Program.ScalarArgument(
                typed
                    ? exprs.expr(((ScalarParam) kernel.params().get(arguments.size())).var().type())
                    : exprs.expr()));
      }
      if (!cursor.accept(",")) {
        break;
      }
    }
    cursor.expect(")");
    return arguments;
  }
}
