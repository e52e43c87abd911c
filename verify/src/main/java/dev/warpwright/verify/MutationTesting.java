package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.verify.mutation.Mutant;
import dev.warpwright.verify.mutation.Mutation;
import dev.warpwright.verify.mutation.Mutations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Plants mistakes in a kernel, one at a time, and tells of each whether the simulator reports it.
 */
public final class MutationTesting {
  /** What became of a mutant. */
  public enum Verdict {
    /** A finding of a kind that fits the mistake. */
    REPORTED,
    /** Nothing undefined happens; the results differ, which verification reports. */
    WRONG_RESULT,
    /** The verifier or the simulator refuses the kernel before it runs. */
    REFUSED,
    /** The statement is not executed with these arguments. */
    NOT_EXECUTED,
    /** No finding, the same results in every order, and what a rule asks for beyond that. */
    EQUIVALENT,
    /** A finding of a kind that does not fit, wrong results without a finding, or a rule broken. */
    SURVIVED
  }

  /**
   * A mutant and what became of it.
   *
   * @param detail the finding or refusal in one line, or empty
   * @param rule by which it is as good as the original, else null
   * @param shapes other shapes at which it was tried, too: where there is such a statement, and it
   *     is executed
   */
  public record Result(
      String subject,
      Mutant mutant,
      Verdict verdict,
      String detail,
      @Nullable Equivalence rule,
      int shapes) {
    @Override
    public String toString() {
      return subject + ": " + mutant + ": " + verdict + (detail.isEmpty() ? "" : ": " + detail);
    }
  }

  private final MutationSubject subject;
  private final List<GridOptions> orders;
  private final List<MutationSubject.Outcome> originals = new ArrayList<>();

  /** What the kernel as it is leaves in other orders, with other data and of other shapes. */
  private final Map<Execution, MutationSubject.Outcome> more = new ConcurrentHashMap<>();

  private @Nullable List<MutationSubject.Shape> others;

  private record Execution(MutationSubject.Run run, GridOptions order, long data) {}

  /**
   * Runs the kernel as it is.
   *
   * @param orders of blocks and warps in which every mutant runs
   * @throws UserError if that has findings
   */
  public MutationTesting(MutationSubject subject, List<GridOptions> orders) {
    this.subject = subject;
    this.orders = List.copyOf(orders);
    for (GridOptions order : orders) {
      MutationSubject.Outcome outcome = subject.run().of(subject.kernel(), order, 0);
      if (!outcome.findings().isEmpty()) {
        throw new UserError(
            subject.name() + " has findings as it is: " + outcome.findings().getFirst().message());
      }
      originals.add(outcome);
    }
  }

  public MutationSubject subject() {
    return subject;
  }

  /**
   * At most so many mutants of each kind: the first, the last, and those evenly between.
   *
   * @param most at least 1
   */
  public List<Mutant> mutants(int most) {
    List<Mutant> some = new ArrayList<>();
    for (Mutation mutation : Mutations.ALL) {
      List<Mutant> all = mutation.plant(subject.kernel());
      int count = Math.min(most, all.size());
      for (int i = 0; i < count; i++) {
        some.add(all.get(count == 1 ? 0 : i * (all.size() - 1) / (count - 1)));
      }
    }
    return some;
  }

  /** Runs a mutant. */
  public Result test(Mutant mutant) {
    List<Problem> problems = Verifier.verify(mutant.kernel());
    if (!problems.isEmpty()) {
      return result(mutant, Verdict.REFUSED, problems.getFirst().toString());
    }
    boolean differs = false;
    for (int i = 0; i < orders.size(); i++) {
      MutationSubject.Outcome outcome;
      try {
        outcome = subject.run().of(mutant.kernel(), orders.get(i), 0);
      } catch (UserError | IllegalArgumentException e) {
        return result(mutant, Verdict.REFUSED, String.valueOf(e.getMessage()));
      }
      if (!outcome.findings().isEmpty()) {
        Finding first = outcome.findings().getFirst();
        boolean fits = mutant.mutation().kinds().contains(first.kind());
        return result(mutant, fits ? Verdict.REPORTED : Verdict.SURVIVED, first.message());
      }
      differs |= !same(outcome.memory(), originals.get(i).memory());
    }
    if (differs) {
      return mutant.mayOnlyChangeResults()
          ? result(mutant, Verdict.WRONG_RESULT, "")
          : result(mutant, Verdict.SURVIVED, "wrong results without a finding");
    }
    boolean executed = !subject.run().of(mutant.trap(), orders.getFirst(), 0).findings().isEmpty();
    return executed ? equivalent(mutant) : result(mutant, Verdict.NOT_EXECUTED, "");
  }

  /** Tries what the rule for such a difference asks for. */
  private Result equivalent(Mutant mutant) {
    Equivalence rule = Equivalence.between(subject.kernel(), mutant.kernel());
    // Where only layouts differ, another run with the same order and data says nothing more.
    for (int i = 1; rule != Equivalence.LAYOUT && i <= Equivalence.MORE; i++) {
      GridOptions order = rule == Equivalence.ORDER ? GridOptions.random(i) : orders.getFirst();
      long data = rule == Equivalence.VALUES ? i : 0;
      MutationSubject.Outcome changed = subject.run().of(mutant.kernel(), order, data);
      MutationSubject.Outcome original = original(subject.run(), subject.kernel(), order, data);
      if (!changed.findings().isEmpty() || !same(changed.memory(), original.memory())) {
        String found =
            changed.findings().isEmpty()
                ? "other results"
                : changed.findings().getFirst().message();
        return mutant.mayOnlyChangeResults() && changed.findings().isEmpty()
            ? result(mutant, Verdict.WRONG_RESULT, "with other data")
            : result(mutant, Verdict.SURVIVED, "not in the usual orders and data: " + found);
      }
    }
    int shapes = 0;
    if (rule == Equivalence.VALUES) {
      for (MutationSubject.Shape shape : others()) {
        Mutant same = samePlace(shape, mutant);
        if (same != null) {
          Result elsewhere = at(shape, mutant, same);
          if (elsewhere != null) {
            return elsewhere;
          }
          shapes += isExecuted(shape, same) ? 1 : 0;
        }
      }
    }
    return new Result(subject.name(), mutant, Verdict.EQUIVALENT, "", rule, shapes);
  }

  /** The same for all mutants: it is executed for the first of them. */
  private MutationSubject.Outcome original(
      MutationSubject.Run run, Kernel kernel, GridOptions order, long data) {
    return more.computeIfAbsent(
        new Execution(run, order, data), each -> run.of(kernel, order, data));
  }

  private synchronized List<MutationSubject.Shape> others() {
    if (others == null) {
      others = List.copyOf(subject.others().get());
    }
    return others;
  }

  private boolean isExecuted(MutationSubject.Shape shape, Mutant mutant) {
    return !shape.run().of(mutant.trap(), orders.getFirst(), 0).findings().isEmpty();
  }

  /** What a mutant of another shape shows, null if it is as good there, too. */
  private @Nullable Result at(MutationSubject.Shape shape, Mutant mutant, Mutant same) {
    GridOptions order = orders.getFirst();
    MutationSubject.Outcome changed;
    try {
      changed = shape.run().of(same.kernel(), order, 0);
    } catch (UserError | IllegalArgumentException e) {
      return result(mutant, Verdict.REFUSED, String.valueOf(e.getMessage()));
    }
    if (!changed.findings().isEmpty()) {
      Finding first = changed.findings().getFirst();
      boolean fits = mutant.mutation().kinds().contains(first.kind());
      return result(
          mutant,
          fits ? Verdict.REPORTED : Verdict.SURVIVED,
          first.message() + " (at " + shape.text() + ")");
    }
    MutationSubject.Outcome original = original(shape.run(), shape.kernel(), order, 0);
    if (!original.findings().isEmpty()) {
      throw new UserError(
          subject.name()
              + " has findings as it is at "
              + shape.text()
              + ": "
              + original.findings().getFirst().message());
    }
    if (same(changed.memory(), original.memory())) {
      return null;
    }
    return mutant.mayOnlyChangeResults()
        ? result(mutant, Verdict.WRONG_RESULT, "at " + shape.text())
        : result(mutant, Verdict.SURVIVED, "wrong results without a finding at " + shape.text());
  }

  /**
   * The mistake in the kernel of another shape: the same place if there are as many as here, else
   * the first like it; null if the other shape has no such statement.
   */
  private @Nullable Mutant samePlace(MutationSubject.Shape shape, Mutant mutant) {
    if (shape.kernel() == subject.kernel()) {
      return mutant;
    }
    List<Mutant> here = mutant.mutation().plant(subject.kernel());
    List<Mutant> there = mutant.mutation().plant(shape.kernel());
    if (here.size() == there.size()) {
      for (int i = 0; i < here.size(); i++) {
        if (here.get(i).line() == mutant.line()
            && here.get(i).statement().equals(mutant.statement())) {
          return there.get(i);
        }
      }
    }
    return there.stream()
        .filter(other -> withoutNumbers(other).equals(withoutNumbers(mutant)))
        .findFirst()
        .orElse(null);
  }

  private static String withoutNumbers(Mutant mutant) {
    return mutant.statement().replaceAll("\\d+", "");
  }

  private Result result(Mutant mutant, Verdict verdict, String detail) {
    return new Result(subject.name(), mutant, verdict, detail, null, 0);
  }

  static boolean same(List<byte[]> a, List<byte[]> b) {
    for (int i = 0; i < a.size(); i++) {
      if (!Arrays.equals(a.get(i), b.get(i))) {
        return false;
      }
    }
    return true;
  }
}
