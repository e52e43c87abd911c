package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.verify.mutation.FlowMutation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Plants mistakes in a tile program, one at a time, and tells of each whether the verifier refuses
 * it, or the interpreter reports it: with roles in several turns, and with what is under way done
 * at once or as late as allowed.
 */
public final class FlowMutationTesting {
  /** What became of a mutant. */
  public enum Verdict {
    /** The verifier says what is wrong. */
    REFUSED,
    /** An execution says who did what. */
    REPORTED,
    /** Nothing undefined happens; the results differ. */
    WRONG_RESULT,
    /** No finding, and the same results in every order. */
    SURVIVED,
    /** Other results without a finding, where something undefined should have happened. */
    UNREPORTED
  }

  /**
   * A mutant and what became of it.
   *
   * @param detail the refusal or the finding in one line, or empty
   */
  public record Result(FlowMutation.Mutated mutant, Verdict verdict, String detail) {
    @Override
    public String toString() {
      return mutant + ": " + verdict + (detail.isEmpty() ? "" : ": " + detail);
    }
  }

  private static final List<Options> WAYS = ways();

  private final PrimFunc func;
  private final Supplier<Arguments> arguments;
  private final List<byte[]> expected;

  /**
   * Runs the program as it is.
   *
   * @param arguments new ones each time, the same numbers
   * @throws UserError if that is refused or fails, or results depend on the order
   */
  public FlowMutationTesting(PrimFunc func, Supplier<Arguments> arguments) {
    this.func = func;
    this.arguments = arguments;
    List<Problem> problems = Verifier.verify(func);
    if (!problems.isEmpty()) {
      throw new UserError(func.name() + " is refused as it is: " + problems.getFirst());
    }
    this.expected = run(func, WAYS.getFirst());
    for (Options way : WAYS) {
      if (!MutationTesting.same(run(func, way), expected)) {
        throw new UserError(func.name() + " computes something else as " + way);
      }
    }
  }

  private static List<Options> ways() {
    List<Options> ways = new ArrayList<>();
    for (Options.Order order : Options.Order.values()) {
      Options way = Options.CHECKED.withOrder(order, 1);
      ways.add(way);
      ways.add(way.asLateAsAllowed());
    }
    return List.copyOf(ways);
  }

  private List<byte[]> run(PrimFunc program, Options way) {
    Arguments run = arguments.get();
    Interpreter.of(program, way).run(run);
    return program.params().stream()
        .filter(Buffer.class::isInstance)
        .map(buffer -> run.get((Buffer) buffer).bytes())
        .toList();
  }

  /** All mutants of these kinds. */
  public List<FlowMutation.Mutated> mutants(List<FlowMutation> mutations) {
    return mutations.stream().flatMap(m -> m.plant(func).stream()).toList();
  }

  /** Verifies and runs a mutant. */
  public Result test(FlowMutation.Mutated mutant) {
    List<Problem> problems = Verifier.verify(mutant.func());
    if (!problems.isEmpty()) {
      return new Result(mutant, Verdict.REFUSED, problems.getFirst().toString());
    }
    List<byte[]> first = null;
    for (Options way : WAYS) {
      try {
        List<byte[]> results = run(mutant.func(), way);
        first = first == null ? results : first;
        if (!MutationTesting.same(results, first)) {
          String detail = "results depend on the order, and on when what is under way completes";
          return new Result(mutant, Verdict.REPORTED, detail);
        }
      } catch (SimulationError e) {
        String finding = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        return new Result(mutant, Verdict.REPORTED, finding);
      }
    }
    if (first == null || MutationTesting.same(first, expected)) {
      return new Result(mutant, Verdict.SURVIVED, "");
    }
    boolean allowed = mutant.mutation().mayOnlyChangeResults();
    return new Result(mutant, allowed ? Verdict.WRONG_RESULT : Verdict.UNREPORTED, "other results");
  }
}
