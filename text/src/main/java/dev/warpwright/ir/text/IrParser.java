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
   * Everything in a file.
   *
   * @param name of the file, for messages
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

  /** A text that is one PrimFunc. */
  public PrimFunc primFunc(String name, String text) {
    return DeepStack.call(
        () -> {
          Cursor cursor = new Cursor(name, text);
          return ended(cursor, new HeaderParser(cursor, intrinsics).primFunc());
        });
  }

  /** A text that is one kernel. */
  public Kernel kernel(String name, String text) {
    return DeepStack.call(
        () -> {
          Cursor cursor = new Cursor(name, text);
          return ended(cursor, new HeaderParser(cursor, intrinsics).kernel());
        });
  }

  /** A text that is one program. */
  public Program program(String name, String text) {
    return DeepStack.call(
        () -> {
          Cursor cursor = new Cursor(name, text);
          return ended(cursor, new HeaderParser(cursor, intrinsics).program());
        });
  }

  /** A text that is a layout, {@code (64:64),(64:1)^<3,3,3>}. */
  public static Layout layout(String text) {
    Cursor cursor = new Cursor("layout", text);
    Definitions none = new Definitions(cursor);
    ExprParser exprs = new ExprParser(cursor, none, name -> Optional.empty());
    return ended(cursor, new DeclarationParser(cursor, none, exprs).layout());
  }

  /** A text that is one expression of the given variables and buffers. */
  public Expr expr(String text, List<Var> vars, List<Buffer> buffers) {
    return DeepStack.call(() -> exprHere(text, vars, buffers));
  }

  private Expr exprHere(String text, List<Var> vars, List<Buffer> buffers) {
    Cursor cursor = new Cursor("expression", text);
    return ended(cursor, new ExprParser(cursor, known(cursor, vars, buffers), intrinsics).expr());
  }

  /** A text that is a list of statements about the given variables and buffers. */
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
