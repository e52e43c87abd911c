package dev.warpwright.ir.text;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Reads statements. */
final class StmtParser {
  /** Statements inside each other, a {@code let} or {@code alloc} counting for what follows it. */
  private static final int NESTING = 500;

  private static final Map<String, ForKind> LOOPS = new HashMap<>();

  static {
    for (ForKind kind : ForKind.values()) {
      LOOPS.put(kind.keyword(), kind);
    }
  }

  private final Cursor cursor;
  private final Definitions definitions;
  private final ExprParser exprs;
  private final DeclarationParser declarations;
  private final FlowParser flow;
  private int nesting;

  StmtParser(Cursor cursor, Definitions definitions, ExprParser exprs) {
    this.cursor = cursor;
    this.definitions = definitions;
    this.exprs = exprs;
    this.declarations = new DeclarationParser(cursor, definitions, exprs);
    this.flow = new FlowParser(cursor, definitions, exprs, this);
  }

  DeclarationParser declarations() {
    return declarations;
  }

  /** {@code { … }}. */
  Stmt braces() {
    cursor.enter();
    cursor.expect("{");
    definitions.enter();
    Stmt body = upTo("}");
    definitions.leave();
    cursor.expect("}");
    cursor.leave();
    return body;
  }

  /** Statements up to a closing brace, or to the end of the text if {@code close} is empty. */
  Stmt upTo(String close) {
    int before = nesting;
    List<Stmt> list = new ArrayList<>();
    // What is open: each let or alloc holds the statements that follow it.
    List<UnaryOperator<Stmt>> wrappers = new ArrayList<>();
    List<List<Stmt>> outer = new ArrayList<>();
    while (true) {
      Token token = cursor.peekWithComments();
      if (token.kind() == Token.Kind.COMMENT) {
        list.add(new Stmt.Comment(cursor.nextComment().text()));
        continue;
      }
      if (cursor.accept(";")) {
        continue;
      }
      boolean end = token.kind() == Token.Kind.END;
      if (end || (!close.isEmpty() && token.is(close))) {
        break;
      }
      boolean pipe = flow.isAtPipe();
      if (token.is("let") || token.is("alloc") || pipe) {
        deeper(token);
        wrappers.add(pipe ? flow.pipe() : token.is("let") ? let() : alloc());
        outer.add(list);
        list = new ArrayList<>();
        continue;
      }
      deeper(token);
      list.add(stmt());
      nesting--;
    }
    Stmt result = Stmts.seq(list);
    for (int i = wrappers.size() - 1; i >= 0; i--) {
      List<Stmt> around = outer.get(i);
      around.add(wrappers.get(i).apply(result));
      result = Stmts.seq(around);
    }
    nesting = before;
    return result;
  }

  private void deeper(Token token) {
    if (++nesting > NESTING) {
      throw cursor.error(token, "statements nested more than " + NESTING + " levels deep");
    }
  }

  private UnaryOperator<Stmt> let() {
    cursor.expect("let");
    Token name = cursor.expectName("the name of a variable");
    Type declared = cursor.accept(":") ? exprs.expectType() : null;
    Token equals = cursor.expect("=");
    Expr value = declared == null ? exprs.expr() : exprs.expr(declared);
    if (declared != null && !declared.equals(value.type())) {
      throw cursor.error(
          equals, "the value of " + name.found() + " is " + value.type() + ", not " + declared);
    }
    Var v = definitions.define(name, new Var(name.text(), value.type()));
    return body -> new Stmt.Let(v, value, body);
  }

  private UnaryOperator<Stmt> alloc() {
    cursor.expect("alloc");
    Buffer buffer = declarations.buffer();
    return body -> new Stmt.Alloc(buffer, body);
  }

  // Statements nest: what calls itself keeps few variables, so that the deepest text that is
  // accepted
  // needs little stack.
  private Stmt stmt() {
    Token token = cursor.peek();
    if (token.kind() == Token.Kind.QUOTED) {
      return store();
    }
    if (token.is("{")) {
      return braces();
    }
    if (token.kind() != Token.Kind.NAME) {
      throw cursor.expected("a statement");
    }
    if (flow.isAtStatement()) {
      return flow.stmt();
    }
    ForKind loop = LOOPS.get(token.text());
    if (loop != null) {
      return loop(loop);
    }
    return switch (token.text()) {
      case "if" -> branch();
      case "while" -> whileLoop();
      case "block" -> block();
      case "tile.copy" -> tileCopy();
      case "tile.fill" -> tileFill();
      case "tile.mma" -> tileMma();
      case "tile.map" -> map();
      case "tile.reduce" -> reduce();
      default -> cursor.peekSecond().is("(") ? evaluate() : store();
    };
  }

  private Stmt whileLoop() {
    cursor.next();
    Expr condition = condition();
    return new Stmt.While(condition, braces());
  }

  private Stmt tileCopy() {
    cursor.next();
    Region to = exprs.region();
    cursor.expect("<");
    cursor.expect("-");
    Region from = exprs.region();
    return new Stmt.TileCopy(to, from, declarations.attrs());
  }

  private Stmt tileFill() {
    cursor.next();
    Region to = exprs.region();
    cursor.expect("=");
    Expr value = exprs.expr(Type.of(to.buffer().dtype()));
    return new Stmt.TileFill(to, value, declarations.attrs());
  }

  private Stmt tileMma() {
    cursor.next();
    Region c = exprs.region();
    cursor.expect("+=");
    Region a = exprs.region();
    boolean transposeA = transposed();
    cursor.expect("*");
    Region b = exprs.region();
    boolean transposeB = transposed();
    return new Stmt.TileMma(c, a, b, transposeA, transposeB, declarations.attrs());
  }

  private Stmt evaluate() {
    Token token = cursor.peek();
    Expr e = exprs.expr();
    if (e instanceof Expr.Call call) {
      return new Stmt.Evaluate(call);
    }
    throw cursor.error(token, "expected a statement, found an expression");
  }

  private Stmt.Store store() {
    Token name = cursor.expectName("a statement");
    if (definitions.lookup(name) == null) {
      throw cursor.error(name, "expected a statement, found " + name.found());
    }
    Buffer buffer = definitions.buffer(name);
    List<Expr> indices = exprs.indices();
    cursor.expect("=");
    Expr value = exprs.expr(Type.of(buffer.dtype()));
    return cursor.make(name, () -> new Stmt.Store(buffer, indices, value));
  }

  private Expr condition() {
    Token token = cursor.peek();
    Expr condition = exprs.expr();
    if (!condition.type().equals(Type.BOOL)) {
      throw cursor.error(token, "expected a condition, found a value of type " + condition.type());
    }
    return condition;
  }

  private Stmt branch() {
    // A chain of else-if nests in the tree, so it counts.
    int before = nesting;
    Token token = cursor.expect("if");
    deeper(token);
    Expr condition = condition();
    Stmt then = braces();
    Stmt otherwise = null;
    if (cursor.accept("else")) {
      otherwise = cursor.isAt("if") ? branch() : braces();
    }
    nesting = before;
    return new Stmt.If(condition, then, otherwise);
  }

  private Stmt loop(ForKind kind) {
    cursor.next();
    definitions.enter();
    UnaryOperator<Stmt> head = loopHead(kind);
    Stmt body = braces();
    definitions.leave();
    return head.apply(body);
  }

  /** What stands before a loop's body. */
  private UnaryOperator<Stmt> loopHead(ForKind kind) {
    Token name = cursor.expectName("the name of a variable");
    ThreadAxis declaredAxis = null;
    Type declaredType = Type.I32;
    while (cursor.accept(":")) {
      if (kind == ForKind.THREAD_BOUND && declaredAxis == null) {
        declaredAxis = axis();
      } else {
        declaredType = exprs.expectType();
      }
    }
    if (kind == ForKind.THREAD_BOUND && declaredAxis == null) {
      throw cursor.expected("':' and a launch index such as blockIdx.x");
    }
    @Nullable ThreadAxis axis = declaredAxis;
    Type type = declaredType;
    Token in = cursor.expect("in");
    Expr first = exprs.expr(type);
    boolean ranged = cursor.accept("+:");
    Expr min = ranged ? first : cursor.make(in, zero(type));
    Expr extent = ranged ? exprs.expr(type) : first;
    if (!min.type().equals(type) || !extent.type().equals(type)) {
      throw cursor.error(in, "the range of " + name.found() + " is not of type " + type);
    }
    Attrs attrs = declarations.attrs();
    Var v = definitions.define(name, new Var(name.text(), type));
    return body -> new Stmt.For(v, min, extent, kind, axis, attrs, body);
  }

  private static Supplier<Expr> zero(Type type) {
    return () -> new Expr.IntImm(type, 0);
  }

  ThreadAxis axis() {
    Token token = cursor.peek();
    for (ThreadAxis axis : ThreadAxis.values()) {
      if (token.is(axis.text())) {
        cursor.next();
        return axis;
      }
    }
    throw cursor.expected("a launch index such as blockIdx.x");
  }

  private Stmt block() {
    Token start = cursor.expect("block");
    Token blockName = cursor.expectName("the name of a block");
    definitions.enter();
    cursor.expect("(");
    List<IterVar> iterVars = new ArrayList<>();
    List<Token> names = new ArrayList<>();
    while (!cursor.isAt(")")) {
      names.add(cursor.expectName("an iteration variable"));
      cursor.expect(":");
      Type type = Type.I32;
      if (Names.isType(cursor.peek().text())) {
        type = exprs.expectType();
        cursor.expect(":");
      }
      boolean reduce = cursor.accept("reduce");
      if (!reduce && !cursor.accept("spatial")) {
        throw cursor.expected("'spatial' or 'reduce'");
      }
      cursor.expect("(");
      Expr extent = exprs.expr(type);
      cursor.expect(")");
      cursor.expect("=");
      Expr binding = exprs.expr(type);
      IterVar.Kind kind = reduce ? IterVar.Kind.REDUCE : IterVar.Kind.SPATIAL;
      Var v = new Var(names.getLast().text(), type);
      iterVars.add(new IterVar(v, extent, kind, binding));
      if (!cursor.accept(",")) {
        break;
      }
    }
    cursor.expect(")");
    Expr predicate = cursor.accept("where") ? condition() : null;
    Attrs attrs = declarations.attrs();
    for (int i = 0; i < names.size(); i++) {
      definitions.define(names.get(i), iterVars.get(i).var());
    }
    cursor.expect("{");
    cursor.enter();
    boolean saysReads = cursor.isAt("reads");
    List<Region> reads = regions("reads");
    boolean saysWrites = cursor.isAt("writes");
    List<Region> writes = regions("writes");
    definitions.enter();
    @Nullable Stmt init = cursor.accept("init") ? braces() : null;
    Stmt body = upTo("}");
    definitions.leave();
    cursor.leave();
    cursor.expect("}");
    definitions.leave();
    BlockRegions inferred = BlockRegions.of(init, body);
    return cursor.make(
        start,
        () ->
            new Stmt.Block(
                blockName.text(),
                iterVars,
                predicate,
                saysReads ? reads : inferred.reads(),
                saysWrites ? writes : inferred.writes(),
                init,
                body,
                attrs));
  }

  private List<Region> regions(String keyword) {
    List<Region> regions = new ArrayList<>();
    if (cursor.accept(keyword)) {
      do {
        regions.add(exprs.region());
      } while (cursor.accept(","));
    }
    return regions;
  }

  private void box(List<Var> vars, List<Expr> extents) {
    while (!cursor.isAt(")") && !cursor.isAt(";")) {
      Token name = cursor.expectName("the name of a variable");
      Type type = cursor.accept(":") ? exprs.expectType() : Type.I32;
      cursor.expect("in");
      extents.add(exprs.expr(type));
      vars.add(definitions.define(name, new Var(name.text(), type)));
      if (!cursor.accept(",")) {
        break;
      }
    }
  }

  private boolean transposed() {
    boolean found = cursor.accept("^");
    if (found) {
      cursor.expect("T");
    }
    return found;
  }

  private Stmt map() {
    Token start = cursor.expect("tile.map");
    definitions.enter();
    List<Var> vars = new ArrayList<>();
    List<Expr> extents = new ArrayList<>();
    cursor.expect("(");
    box(vars, extents);
    cursor.expect(")");
    Attrs attrs = declarations.attrs();
    cursor.expect("{");
    List<Stmt.Store> stores = new ArrayList<>();
    while (!cursor.isAt("}")) {
      if (!cursor.accept(";")) {
        stores.add(store());
      }
    }
    cursor.expect("}");
    definitions.leave();
    return cursor.make(start, () -> new Stmt.TileMap(vars, extents, stores, attrs));
  }

  private Stmt reduce() {
    Token start = cursor.expect("tile.reduce");
    ReduceOp op = cursor.accept("sum") ? ReduceOp.SUM : ReduceOp.MAX;
    if (op == ReduceOp.MAX && !cursor.accept("max")) {
      throw cursor.expected("'sum' or 'max'");
    }
    definitions.enter();
    List<Var> vars = new ArrayList<>();
    List<Expr> extents = new ArrayList<>();
    List<Var> reduceVars = new ArrayList<>();
    List<Expr> reduceExtents = new ArrayList<>();
    cursor.expect("(");
    box(vars, extents);
    cursor.expect(";");
    box(reduceVars, reduceExtents);
    cursor.expect(")");
    Token name = cursor.expectName("the name of a buffer");
    Buffer to = definitions.buffer(name);
    List<Expr> indices = exprs.indices();
    if (op == ReduceOp.SUM) {
      cursor.expect("+=");
    } else {
      cursor.expect("max");
      cursor.expect("=");
    }
    Expr value = exprs.expr(Type.of(to.dtype()));
    Attrs attrs = declarations.attrs();
    definitions.leave();
    return cursor.make(
        start,
        () ->
            new Stmt.TileReduce(
                op, vars, extents, reduceVars, reduceExtents, to, indices, value, attrs));
  }
}
