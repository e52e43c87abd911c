package dev.warpwright.ir.text;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads the text form. An error is a {@link UserError} of one line, {@code file:line:col: expected
 * …, found '…'}. What is read is well formed, but not yet verified.
 */
public final class IrParser {
  private final Function<String, Optional<Intrinsic>> intrinsics;

  /**
   * A parser.
   *
   * @param intrinsics finds the intrinsic of a name
   */
  public IrParser(Function<String, Optional<Intrinsic>> intrinsics) {
    this.intrinsics = intrinsics;
  }

  /** A parser that knows no intrinsics. */
  public IrParser() {
    this(name -> Optional.empty());
  }

  /**
   * Reads everything in a file.
   *
   * @param name of the file, for messages
   * @param text of the file
   * @return what it holds
   * @throws dev.warpwright.base.UserError if the text is none, with line, column and what was
   *     expected
   */
  public IrFile file(String name, String text) {
    return DeepStack.call(() -> fileHere(name, text));
  }

  private IrFile fileHere(String name, String text) {
    Cursor cursor = new Cursor(name, text);
    List<PrimFunc> primFuncs = new ArrayList<>();
    List<Kernel> kernels = new ArrayList<>();
    List<Program> programs = new ArrayList<>();
    while (cursor.peek().kind() != Token.Kind.END) {
      HeaderParser parser = new HeaderParser(cursor, intrinsics);
      if (cursor.isAt("primfunc")) {
        primFuncs.add(parser.primFunc());
      } else if (cursor.isAt("kernel") || cursor.isAt("host")) {
        kernels.add(parser.kernel());
      } else if (cursor.isAt("program")) {
        programs.add(parser.program());
      } else {
        throw cursor.expected("'primfunc', 'kernel', 'host kernel' or 'program'");
      }
    }
    return new IrFile(primFuncs, kernels, programs);
  }

  /**
   * Reads a text that is one computation or tile program.
   *
   * @param name of the file, for messages
   * @param text of the file
   * @return the function
   * @throws dev.warpwright.base.UserError if the text is none
   */
  public PrimFunc primFunc(String name, String text) {
    return DeepStack.call(
        () -> {
          Cursor cursor = new Cursor(name, text);
          return ended(cursor, new HeaderParser(cursor, intrinsics).primFunc());
        });
  }

  /**
   * Reads a text that is one kernel.
   *
   * @param name of the file, for messages
   * @param text of the file
   * @return the kernel
   * @throws dev.warpwright.base.UserError if the text is none
   */
  public Kernel kernel(String name, String text) {
    return DeepStack.call(
        () -> {
          Cursor cursor = new Cursor(name, text);
          return ended(cursor, new HeaderParser(cursor, intrinsics).kernel());
        });
  }

  /**
   * Reads a text that is one program.
   *
   * @param name of the file, for messages
   * @param text of the file
   * @return the program
   * @throws dev.warpwright.base.UserError if the text is none
   */
  public Program program(String name, String text) {
    return DeepStack.call(
        () -> {
          Cursor cursor = new Cursor(name, text);
          return ended(cursor, new HeaderParser(cursor, intrinsics).program());
        });
  }

  /**
   * Reads a text that is a layout, {@code (64:64),(64:1)^<3,3,3>}.
   *
   * @param text modes of each dimension, and a swizzle if there is one
   * @return the layout
   */
  public static Layout layout(String text) {
    Cursor cursor = new Cursor("layout", text);
    Definitions none = new Definitions(cursor);
    ExprParser exprs = new ExprParser(cursor, none, name -> Optional.empty());
    return ended(cursor, new DeclarationParser(cursor, none, exprs).layout());
  }

  /**
   * Reads a text that is one expression.
   *
   * @param text of the expression
   * @param vars that it may use, by their names
   * @param buffers that it may read, by their names
   * @return the expression
   */
  public Expr expr(String text, List<Var> vars, List<Buffer> buffers) {
    return DeepStack.call(() -> exprHere(text, vars, buffers));
  }

  private Expr exprHere(String text, List<Var> vars, List<Buffer> buffers) {
    Cursor cursor = new Cursor("expression", text);
    return ended(cursor, new ExprParser(cursor, known(cursor, vars, buffers), intrinsics).expr());
  }

  /**
   * Reads a text that is a list of statements.
   *
   * @param text of the statements
   * @param vars that they may use, by their names
   * @param buffers that they may use, by their names
   * @return the statements
   */
  public Stmt stmt(String text, List<Var> vars, List<Buffer> buffers) {
    return DeepStack.call(() -> stmtHere(text, vars, buffers));
  }

  private Stmt stmtHere(String text, List<Var> vars, List<Buffer> buffers) {
    Cursor cursor = new Cursor("statement", text);
    Definitions known = known(cursor, vars, buffers);
    ExprParser exprs = new ExprParser(cursor, known, intrinsics);
    return ended(cursor, new StmtParser(cursor, known, exprs).upTo(""));
  }

  private static Definitions known(Cursor cursor, List<Var> vars, List<Buffer> buffers) {
    Definitions definitions = new Definitions(cursor);
    vars.forEach(v -> definitions.predefine(v.name(), v));
    buffers.forEach(buffer -> definitions.predefine(buffer.name(), buffer));
    return definitions;
  }

  private static <T> T ended(Cursor cursor, T result) {
    if (cursor.peek().kind() != Token.Kind.END) {
      throw cursor.expected("the end of the text");
    }
    return result;
  }
}
