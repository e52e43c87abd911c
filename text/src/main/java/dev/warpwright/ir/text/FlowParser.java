package dev.warpwright.ir.text;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads pipes, roles and signals. Their words are no keywords: what is followed by a name or a
 * brace cannot be a store.
 */
final class FlowParser {
  private static final Set<String> WORDS =
      Set.of("produce", "consume", "skip", "signal", "await", "combine");

  private final Cursor cursor;
  private final Definitions definitions;
  private final ExprParser exprs;
  private final StmtParser stmts;

  FlowParser(Cursor cursor, Definitions definitions, ExprParser exprs, StmtParser stmts) {
    this.cursor = cursor;
    this.definitions = definitions;
    this.exprs = exprs;
    this.stmts = stmts;
  }

  private boolean isName(Token token) {
    return token.kind() == Token.Kind.NAME || token.kind() == Token.Kind.QUOTED;
  }

  private boolean isAtWord(String word) {
    Token token = cursor.peek();
    return token.kind() == Token.Kind.NAME && token.is(word) && isName(cursor.peekSecond());
  }

  /** Whether a pipe is declared here. */
  boolean isAtPipe() {
    return isAtWord("pipe");
  }

  /** Whether another statement of this family begins here. */
  boolean isAtStatement() {
    Token token = cursor.peek();
    return token.kind() == Token.Kind.NAME
        && (token.is("roles") && cursor.peekSecond().is("{")
            || WORDS.contains(token.text()) && isName(cursor.peekSecond()));
  }

  Stmt stmt() {
    Token word = cursor.next();
    return switch (word.text()) {
      case "produce" -> produce();
      case "consume" -> consume();
      case "skip" -> {
        Pipe pipe = known();
        cursor.expect("by");
        yield new Stmt.Flow.Skip(pipe, exprs.expr());
      }
      case "signal" -> signal();
      case "await" -> await();
      case "combine" -> combine();
      default -> roles();
    };
  }

  /** {@code pipe p[3] shared (a: f16[64, 64], …) hold 1}. */
  UnaryOperator<Stmt> pipe() {
    cursor.expect("pipe");
    Token name = cursor.expectName("the name of a pipe");
    cursor.expect("[");
    int stages = cursor.expectInt("a number of stages");
    cursor.expect("]");
    Scope scope = scope();
    cursor.expect("(");
    List<Buffer> buffers = new ArrayList<>();
    while (!cursor.isAt(")")) {
      buffers.add(stmts.declarations().buffer(scope));
      if (!cursor.accept(",")) {
        break;
      }
    }
    cursor.expect(")");
    int lead = option("lead");
    int hold = option("hold");
    int lag = option("lag");
    int initial = option("initial");
    boolean broadcast = cursor.isAt("broadcast") && !cursor.peekSecond().is("[");
    if (broadcast) {
      cursor.next();
    }
    Pipe.Consumers consumers = broadcast ? Pipe.Consumers.BROADCAST : Pipe.Consumers.EACH_ITS_OWN;
    Pipe pipe =
        cursor.make(
            name,
            () ->
                new Pipe(
                    name.text(),
                    stages,
                    scope,
                    buffers,
                    new Pipe.Options(lead, hold, lag, initial, consumers)));
    definitions.define(name, pipe);
    return body -> new Stmt.Flow.PipeScope(pipe, body);
  }

  private Scope scope() {
    for (Scope scope : Scope.values()) {
      if (cursor.accept(scope.text())) {
        return scope;
      }
    }
    throw cursor.expected("a memory scope such as shared");
  }

  private int option(String word) {
    if (!cursor.isAt(word) || cursor.peekSecond().kind() != Token.Kind.INT) {
      return 0;
    }
    cursor.next();
    return cursor.expectInt("a number of stages");
  }

  private Pipe known() {
    Token name = cursor.expectName("the name of a pipe");
    if (definitions.lookup(name) instanceof Pipe pipe) {
      return pipe;
    }
    throw cursor.error(name, "expected a pipe, found " + name.found());
  }

  private Stmt produce() {
    Pipe pipe = known();
    return new Stmt.Flow.Produce(pipe, stmts.braces());
  }

  private Stmt consume() {
    Pipe pipe = known();
    boolean peek = cursor.accept("peek");
    return new Stmt.Flow.Consume(pipe, peek, stmts.braces());
  }

  private Stmt signal() {
    if (cursor.isAt("next") && !cursor.peekSecond().is("[")) {
      cursor.next();
      return new Stmt.Flow.SignalNext();
    }
    Buffer counter = definitions.buffer(cursor.expectName("the name of a counter"));
    List<Expr> indices = exprs.indices();
    cursor.expect("by");
    Expr by = exprs.expr(Type.of(counter.dtype()));
    return new Stmt.Flow.Signal(counter, indices, by);
  }

  /** {@code combine acc at slot part p of 2 { … }}. */
  private Stmt combine() {
    Buffer sums = definitions.buffer(cursor.expectName("the name of a fragment"));
    cursor.expect("at");
    Expr slot = exprs.expr();
    cursor.expect("part");
    Expr part = exprs.expr();
    cursor.expect("of");
    Expr parts = exprs.expr();
    Attrs attrs = stmts.declarations().attrs();
    return new Stmt.Flow.Combine(sums, slot, part, parts, attrs, stmts.braces());
  }

  private Stmt await() {
    if (cursor.isAt("previous") && !cursor.peekSecond().is("[")) {
      cursor.next();
      return new Stmt.Flow.AwaitPrevious();
    }
    Buffer counter = definitions.buffer(cursor.expectName("the name of a counter"));
    List<Expr> indices = exprs.indices();
    cursor.expect(">=");
    Expr atLeast = exprs.expr(Type.of(counter.dtype()));
    return new Stmt.Flow.Await(counter, indices, atLeast);
  }

  private Stmt roles() {
    cursor.enter();
    cursor.expect("{");
    List<Role> roles = new ArrayList<>();
    while (!cursor.isAt("}")) {
      roles.add(role());
    }
    cursor.expect("}");
    cursor.leave();
    return new Stmt.Flow.Roles(roles);
  }

  private Role role() {
    cursor.expect("role");
    Token name = cursor.expectName("the name of a role");
    int instances = 1;
    if (cursor.accept("[")) {
      instances = cursor.expectInt("a number of instances");
      cursor.expect("]");
    }
    definitions.enter();
    @Nullable Var instance = null;
    if (cursor.accept("as")) {
      Token index = cursor.expectName("the name of a variable");
      instance = definitions.define(index, Var.index(index.text()));
    }
    cursor.expect("warps");
    int warps = cursor.expectInt("a number of warps");
    Attrs attrs = stmts.declarations().attrs();
    Stmt body = stmts.braces();
    definitions.leave();
    @Nullable Var known = instance;
    int count = instances;
    return cursor.make(name, () -> new Role(name.text(), known, count, warps, attrs, body));
  }
}
