package dev.warpwright.ir.text;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the text form. Where two names that are visible together are equal, the later one gets a
 * number; names that are no identifiers are quoted, so that no name can look like anything else.
 */
public final class IrPrinter {
  private final @Nullable Object mark;

  private IrPrinter(@Nullable Object mark) {
    this.mark = mark;
  }

  /** A printer that marks nothing. */
  public IrPrinter() {
    this(null);
  }

  /**
   * {@return a printer that underlines the node (the same object) with a line of carets}
   *
   * @param node an expression, a statement, a buffer or a parameter
   */
  public static IrPrinter withMark(Object node) {
    return new IrPrinter(node);
  }

  /**
   * {@return the text of an expression}
   *
   * @param e any expression
   */
  public static String text(Expr e) {
    return new IrPrinter().print(e).text();
  }

  /**
   * {@return the text of a statement}
   *
   * @param s any statement
   */
  public static String text(Stmt s) {
    return new IrPrinter().print(s).text();
  }

  /**
   * {@return the text of a computation or tile program}
   *
   * @param f any function
   */
  public static String text(PrimFunc f) {
    return new IrPrinter().print(f).text();
  }

  /**
   * {@return the text of a kernel}
   *
   * @param k any kernel
   */
  public static String text(Kernel k) {
    return new IrPrinter().print(k).text();
  }

  /**
   * {@return the text of a program and its kernels}
   *
   * @param p any program
   */
  public static String text(Program p) {
    return new IrPrinter().print(p).text();
  }

  /**
   * {@return the text of an expression, and where its parts are in it}
   *
   * @param e any expression
   */
  public Printed print(Expr e) {
    return printed(w -> w.stmts.exprs().print(e));
  }

  /**
   * {@return the text of a statement, and where its parts are in it}
   *
   * @param s any statement
   */
  public Printed print(Stmt s) {
    return printed(w -> w.stmts.body(s));
  }

  /**
   * {@return the text of a computation or tile program, and where its parts are in it}
   *
   * @param f any function
   */
  public Printed print(PrimFunc f) {
    return printed(w -> w.primFunc(f));
  }

  /**
   * {@return the text of a kernel, and where its parts are in it}
   *
   * @param k any kernel
   */
  public Printed print(Kernel k) {
    return printed(w -> w.kernel(k, Names.written(k.name())));
  }

  /**
   * {@return the text of a program and its kernels, and where their parts are in it}
   *
   * @param p any program
   */
  public Printed print(Program p) {
    return printed(w -> w.program(p));
  }

  private Printed printed(Consumer<Writer> write) {
    Output out = new Output(mark);
    write.accept(new Writer(out));
    return new Printed(out.text(), out.lines());
  }

  /** Writes headers. */
  private static final class Writer {
    private final Output out;
    private VisibleNames names = new VisibleNames();
    private StmtPrinter stmts;

    Writer(Output out) {
      this.out = out;
      this.stmts = new StmtPrinter(out, names);
    }

    private void comment(Attrs attrs) {
      String text = attrs.getString(Attrs.COMMENT);
      if (text != null) {
        List.of(text.split("\n", -1)).forEach(stmts::commentLine);
      }
    }

    void primFunc(PrimFunc f) {
      comment(f.attrs());
      out.begin(f);
      out.add("primfunc " + Names.written(f.name()));
      params(f.params());
      stmts.attrs(f.attrs().without(Attrs.COMMENT));
      out.end(f);
      out.add(" ");
      stmts.braces(f.body());
      out.newLine();
    }

    void kernel(Kernel k, String name) {
      comment(k.attrs());
      out.begin(k);
      out.add((k.kind() == Kernel.Kind.HOST ? "host kernel " : "kernel ") + name);
      params(k.params());
      launch("grid", k, true);
      launch("block", k, false);
      stmts.attrs(k.attrs().without(Attrs.COMMENT));
      out.end(k);
      out.add(" ");
      stmts.braces(k.body());
      out.newLine();
    }

    /** In order x, y, z; the axis is named unless the indices are just the first ones. */
    private void launch(String keyword, Kernel k, boolean ofBlocks) {
      String open = " " + keyword + "(";
      int expected = 0;
      for (ThreadAxis axis : ThreadAxis.values()) {
        ThreadBinding binding = k.binding(axis).orElse(null);
        if (axis.isBlock() != ofBlocks || binding == null) {
          continue;
        }
        out.add(open);
        open = ", ";
        out.begin(binding);
        out.begin(binding.var());
        out.add(names.declare(binding.var(), binding.var().name()));
        out.add(StmtPrinter.typeIfUnusual(binding.var()));
        out.end(binding.var());
        if (axis.dimension() != expected++) {
          out.add(": " + axis.text());
          expected = axis.dimension() + 1;
        }
        out.add(" = ");
        stmts.exprs().print(binding.extent());
        out.end(binding);
      }
      out.add(open.equals(", ") ? ")" : "");
    }

    /** On one line if that is short, else one a line. */
    private void params(List<Param> params) {
      // Shapes may mention scalars that come later.
      boolean separate = params.size() > 4;
      for (Param param : params) {
        if (param instanceof ScalarParam scalar) {
          names.declare(scalar.var(), scalar.name());
        }
      }
      out.add("(");
      if (separate) {
        out.newLine();
        out.indent(2);
      }
      for (int i = 0; i < params.size(); i++) {
        param(params.get(i));
        out.add(i == params.size() - 1 ? "" : separate ? "," : ", ");
        if (separate && i < params.size() - 1) {
          out.newLine();
        }
      }
      if (separate) {
        out.indent(-2);
      }
      out.add(")");
    }

    private void param(Param param) {
      switch (param) {
        case Buffer buffer -> stmts.declaration(buffer, false);
        case ScalarParam scalar -> {
          out.begin(scalar);
          out.begin(scalar.var());
          out.add(names.of(scalar.var(), scalar.name()) + ": " + scalar.var().type());
          out.add(" in " + scalar.min() + ".." + scalar.max());
          out.end(scalar.var());
          out.end(scalar);
        }
      }
    }

    void program(Program p) {
      out.begin(p);
      out.add("program " + Names.written(p.name()));
      out.add(p.devices() == 1 ? " {" : " on " + p.devices() + " devices {");
      out.end(p);
      out.newLine();
      out.indent(1);
      for (Program.ProgramParam param : p.params()) {
        if (param.param() instanceof ScalarParam scalar) {
          names.declare(scalar.var(), scalar.name());
        }
      }
      for (Program.ProgramParam param : p.params()) {
        out.begin(param);
        out.add((param.sharded() ? "sharded " : "") + param.role().text() + " ");
        param(param.param());
        out.end(param);
        out.newLine();
      }
      for (Buffer buffer : p.workspace()) {
        out.add("workspace ");
        stmts.declaration(buffer, false);
        out.newLine();
      }
      for (Program.View view : p.views()) {
        out.begin(view);
        out.add("view ");
        stmts.declaration(view.view(), false);
        out.add(" = " + names.of(view.of(), view.of().name()) + " from " + view.first());
        out.end(view);
        out.newLine();
      }
      Map<Kernel, String> kernelNames = new IdentityHashMap<>();
      VisibleNames forKernels = new VisibleNames();
      VisibleNames outerNames = names;
      StmtPrinter outer = stmts;
      for (Program.Step step : p.steps()) {
        if (step instanceof Program.Launch launch && !kernelNames.containsKey(launch.kernel())) {
          Kernel kernel = launch.kernel();
          kernelNames.put(kernel, forKernels.declare(kernel, kernel.name()));
          names = new VisibleNames();
          stmts = new StmtPrinter(out, names);
          kernel(kernel, forKernels.of(kernel, kernel.name()));
        }
      }
      names = outerNames;
      stmts = outer;
      for (Program.Step step : p.steps()) {
        step(step, kernelNames);
      }
      out.indent(-1);
      out.add("}");
      out.newLine();
    }

    private void step(Program.Step step, Map<Kernel, String> kernelNames) {
      out.begin(step);
      switch (step) {
        case Program.Memset(Buffer buffer, int value) ->
            out.add("memset " + names.of(buffer, buffer.name()) + " = " + value);
        case Program.Carry(Buffer from, Buffer to) ->
            out.add("carry " + names.of(to, to.name()) + " = " + names.of(from, from.name()));
        case Program.AllReduce(Buffer buffer) ->
            out.add("all_reduce sum " + names.of(buffer, buffer.name()));
        case Program.Launch(Kernel kernel, List<Program.Argument> arguments) -> {
          out.add("launch " + kernelNames.get(kernel) + "(");
          for (int i = 0; i < arguments.size(); i++) {
            out.add(i == 0 ? "" : ", ");
            switch (arguments.get(i)) {
              case Program.BufferArgument(Buffer buffer) ->
                  out.add(names.of(buffer, buffer.name()));
              case Program.ScalarArgument(Expr value) -> stmts.exprs().print(value);
            }
          }
          out.add(")");
        }
      }
      out.end(step);
      out.newLine();
    }
  }
}
