package dev.warpwright.verify.mutation;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.visit.Rewriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * A kind of mistake in a tile program: with its pipes, roles and signals, or, behind the pass that
 * makes barriers of pipes, with those.
 *
 * @param name a few words
 * @param mayOnlyChangeResults whether nothing undefined need happen, so that only results tell
 * @param changes the statements that may stand, by this mistake, for one of a program; none for
 *     most
 */
public record FlowMutation(
    String name,
    boolean mayOnlyChangeResults,
    Function<PrimFunc, Function<Stmt, List<Stmt>>> changes) {

  /** A mistake that does something undefined, or is refused. */
  static FlowMutation undefined(String name, Function<Stmt, List<Stmt>> changes) {
    return new FlowMutation(name, false, func -> changes);
  }

  /** A mistake that may only compute something else. */
  static FlowMutation wrong(String name, Function<Stmt, List<Stmt>> changes) {
    return new FlowMutation(name, true, func -> changes);
  }

  /** A mistake with barriers, as in kernels. */
  static FlowMutation of(Mutation mutation) {
    return new FlowMutation(
        mutation.name(),
        mutation.mayOnlyChangeResults(),
        func ->
            mutation
                .changes()
                .apply(
                    new Kernel(
                        func.name(),
                        Kernel.Kind.GRID,
                        func.params(),
                        List.of(),
                        func.body(),
                        Attrs.NONE)));
  }

  /**
   * A tile program with one mistake.
   *
   * @param statement the changed statement's first line
   */
  public record Mutated(FlowMutation mutation, PrimFunc func, String statement) {
    @Override
    public String toString() {
      return mutation.name() + " at '" + statement + "'";
    }
  }

  /** The program with this mistake, once for each place where it is possible. */
  public List<Mutated> plant(PrimFunc func) {
    Function<Stmt, List<Stmt>> change = changes.apply(func);
    List<Stmt> statements = new ArrayList<>();
    new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        statements.add(s);
        return super.stmt(s);
      }
    }.stmt(func.body());
    List<Mutated> mutants = new ArrayList<>();
    for (int place = 0; place < statements.size(); place++) {
      Stmt original = statements.get(place);
      for (Stmt variant : change.apply(original)) {
        String line = IrPrinter.text(original).lines().findFirst().orElse("").strip();
        mutants.add(new Mutated(this, func.withBody(with(func.body(), place, variant)), line));
      }
    }
    return mutants;
  }

  private static Stmt with(Stmt body, int place, Stmt replacement) {
    return new Rewriter() {
      private int next;

      @Override
      public Stmt stmt(Stmt s) {
        return next++ == place ? replacement : super.stmt(s);
      }
    }.stmt(body);
  }
}
