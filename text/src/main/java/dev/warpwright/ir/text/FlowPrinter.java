package dev.warpwright.ir.text;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import java.util.List;

/** Writes pipes, roles and signals. */
final class FlowPrinter {
  private final Output out;
  private final VisibleNames names;
  private final StmtPrinter stmts;

  FlowPrinter(Output out, VisibleNames names, StmtPrinter stmts) {
    this.out = out;
    this.names = names;
    this.stmts = stmts;
  }

  /** A statement that has begun. */
  void print(Stmt.Flow s) {
    switch (s) {
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) -> {
        declaration(pipe);
        stmts.finish(s);
        stmts.body(body);
      }
      case Stmt.Flow.Produce(Pipe pipe, Stmt body) -> {
        out.add("produce " + name(pipe));
        stmts.opened(s, body);
      }
      case Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt body) -> {
        out.add("consume " + name(pipe) + (peek ? " peek" : ""));
        stmts.opened(s, body);
      }
      case Stmt.Flow.Skip(Pipe pipe, Expr count) -> {
        out.add("skip " + name(pipe) + " by ");
        stmts.exprs().print(count);
        stmts.finish(s);
      }
      case Stmt.Flow.Roles roles -> roles(roles);
      case Stmt.Flow.Signal(Buffer counter, List<Expr> indices, Expr by) -> {
        out.add("signal ");
        stmts.exprs().access(counter, indices);
        out.add(" by ");
        stmts.exprs().print(by);
        stmts.finish(s);
      }
      case Stmt.Flow.Await(Buffer counter, List<Expr> indices, Expr atLeast) -> {
        out.add("await ");
        stmts.exprs().access(counter, indices);
        out.add(" >= ");
        stmts.exprs().print(atLeast);
        stmts.finish(s);
      }
      case Stmt.Flow.Combine c -> {
        out.add("combine " + names.of(c.sums(), c.sums().name()) + " at ");
        stmts.exprs().print(c.slot());
        out.add(" part ");
        stmts.exprs().print(c.part());
        out.add(" of ");
        stmts.exprs().print(c.parts());
        stmts.attrs(c.attrs());
        stmts.opened(s, c.body());
      }
      case Stmt.Flow.AwaitPrevious wait -> {
        out.add("await previous");
        stmts.finish(wait);
      }
      case Stmt.Flow.SignalNext next -> {
        out.add("signal next");
        stmts.finish(next);
      }
    }
  }

  private String name(Pipe pipe) {
    return names.of(pipe, pipe.name());
  }

  private void declaration(Pipe pipe) {
    out.begin(pipe);
    out.add("pipe " + names.declare(pipe, pipe.name()) + "[" + pipe.stages() + "] ");
    out.add(pipe.scope().text() + " (");
    String separator = "";
    for (Buffer buffer : pipe.buffers()) {
      out.add(separator);
      separator = ", ";
      stmts.declaration(buffer, pipe.scope());
    }
    out.add(")");
    Pipe.Options options = pipe.options();
    option("lead", options.lead());
    option("hold", options.hold());
    option("lag", options.lag());
    option("initial", options.initial());
    out.add(pipe.isBroadcast() ? " broadcast" : "");
    out.end(pipe);
  }

  private void option(String name, int value) {
    out.add(value == 0 ? "" : " " + name + " " + value);
  }

  private void roles(Stmt.Flow.Roles s) {
    out.add("roles {");
    stmts.finish(s);
    out.indent(1);
    for (Role role : s.roles()) {
      names.enter();
      out.begin(role);
      out.add("role " + Names.written(role.name()));
      Var instance = role.instance();
      if (instance != null || role.instances() > 1) {
        out.add("[" + role.instances() + "]");
      }
      if (instance != null) {
        out.add(" as ");
        out.begin(instance);
        out.add(names.declare(instance, instance.name()));
        out.end(instance);
      }
      out.add(" warps " + role.warps());
      stmts.attrs(role.attrs());
      out.end(role);
      out.add(" ");
      stmts.braces(role.body());
      out.newLine();
      names.leave();
    }
    out.indent(-1);
    out.add("}");
    out.newLine();
  }
}
