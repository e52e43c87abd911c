package dev.warpwright.ir.verify;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.text.Printed;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Finds everything in a program that breaks a {@link Rule}. */
public final class Verifier {
  private Verifier() {}

  /**
   * {@return all problems of a computation or tile program; empty if it is well formed}
   *
   * @param f any function
   */
  public static List<Problem> verify(PrimFunc f) {
    Findings findings = new Findings();
    PrimFuncRules.check(f, findings);
    return findings.located(() -> new IrPrinter().print(f));
  }

  /**
   * {@return all problems of a kernel; empty if it is well formed}
   *
   * @param k any kernel
   */
  public static List<Problem> verify(Kernel k) {
    Findings findings = new Findings();
    KernelRules.check(k, findings);
    return findings.located(() -> new IrPrinter().print(k));
  }

  /**
   * {@return all problems of a program and its kernels; empty if it is well formed}
   *
   * @param p any program
   */
  public static List<Problem> verify(Program p) {
    Findings findings = new Findings();
    ProgramRules.check(p, findings);
    return findings.located(() -> new IrPrinter().print(p));
  }

  /**
   * Does nothing if the computation is well formed.
   *
   * @param f any function
   * @throws VerificationException with all problems and the program, the first one marked
   */
  public static void require(PrimFunc f) {
    List<Problem> problems = verify(f);
    if (!problems.isEmpty()) {
      throw failure(f.name(), problems, IrPrinter.withMark(problems.getFirst().node()).print(f));
    }
  }

  /**
   * As {@link #require(PrimFunc)}.
   *
   * @param k any kernel
   */
  public static void require(Kernel k) {
    List<Problem> problems = verify(k);
    if (!problems.isEmpty()) {
      throw failure(k.name(), problems, IrPrinter.withMark(problems.getFirst().node()).print(k));
    }
  }

  private static VerificationException failure(
      String name, List<Problem> problems, Printed program) {
    StringBuilder message = new StringBuilder(name + " is not well formed:\n");
    problems.forEach(problem -> message.append("  ").append(problem).append('\n'));
    return new VerificationException(message.append(program.text()).toString(), problems);
  }

  /** Problems in the making. */
  static final class Findings {
    private final List<Problem> problems = new ArrayList<>();

    void add(Rule rule, Object node, String message) {
      problems.add(new Problem(rule, message, node, 0));
    }

    boolean isEmpty() {
      return problems.isEmpty();
    }

    List<Problem> located(Supplier<Printed> print) {
      if (problems.isEmpty()) {
        return List.of();
      }
      Printed printed = print.get();
      return problems.stream()
          .map(p -> new Problem(p.rule(), p.message(), p.node(), printed.line(p.node()).orElse(0)))
          .distinct()
          .toList();
    }
  }
}
