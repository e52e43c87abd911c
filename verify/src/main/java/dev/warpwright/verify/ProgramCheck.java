package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Finding;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Checks the launches of a program: under the simulator's sanitizers, that every element of its
 * outputs is written, and its results against a reference if there is one. A program with memory of
 * its own runs twice in a row on other data, as a runtime runs it: the second time that memory
 * holds what the first has left.
 */
final class ProgramCheck {
  /**
   * What gives the right results.
   *
   * @param name for reports
   * @param outputs of these inputs, in the program's order
   */
  record Reference(String name, Function<Arguments, List<OutputCheck.Expected>> outputs) {}

  private final Program program;
  private final LongFunction<Arguments> data;
  private final @Nullable Reference reference;
  private final List<Buffer> outputs;
  private final Map<Integer, List<OutputCheck.Expected>> expected = new HashMap<>();

  /**
   * A check.
   *
   * @param data new ones each time, with poisoned outputs; the same number gives the same
   */
  ProgramCheck(Program program, LongFunction<Arguments> data, @Nullable Reference reference) {
    this.program = program;
    this.data = data;
    this.reference = reference;
    this.outputs =
        program.params().stream()
            .filter(p -> p.role() == Program.Role.OUTPUT)
            .map(p -> (Buffer) p.param())
            .toList();
  }

  /** How often the program runs in a row. */
  int launches() {
    return program.workspace().isEmpty() ? 1 : 2;
  }

  /** With what results are compared; empty for nothing. */
  String comparedWith() {
    return reference == null ? "" : reference.name;
  }

  /** What is found in all orders, each once. */
  Set<Finding> findings(List<GridOptions> orders) {
    Set<Finding> findings = new LinkedHashSet<>();
    for (GridOptions order : orders) {
      findings.addAll(findings(order));
    }
    return findings;
  }

  private List<Finding> findings(GridOptions order) {
    ProgramInterpreter interpreter =
        new ProgramInterpreter(program, order, Options.CHECKED).keepingWorkspace();
    for (int launch = 0; launch < launches(); launch++) {
      Arguments arguments = data.apply(launch);
      List<Finding> findings = new ArrayList<>(interpreter.check(arguments));
      if (findings.isEmpty()) {
        if (reference == null) {
          written(order, launch, arguments, findings);
        } else {
          compare(reference, launch, arguments, findings);
        }
      }
      if (!findings.isEmpty()) {
        return launch == 0 ? findings : findings.stream().map(WorkloadCheck::second).toList();
      }
    }
    return List.of();
  }

  private void compare(Reference with, int launch, Arguments arguments, List<Finding> findings) {
    List<OutputCheck.Expected> want =
        expected.computeIfAbsent(launch, i -> with.outputs.apply(data.apply(i)));
    for (int i = 0; i < outputs.size(); i++) {
      Buffer output = outputs.get(i);
      new OutputCheck(program.name(), output, with.name)
          .compare(arguments.get(output), want.get(i), findings);
    }
  }

  private void written(GridOptions order, int launch, Arguments arguments, List<Finding> findings) {
    if (outputs.stream().noneMatch(b -> check(b).mayBeUnwritten(arguments.get(b)))) {
      return;
    }
    ProgramInterpreter interpreter =
        new ProgramInterpreter(program, order, Options.CHECKED).keepingWorkspace();
    for (int before = 0; before < launch; before++) {
      interpreter.check(data.apply(before));
    }
    Arguments again = data.apply(launch);
    outputs.forEach(b -> OutputCheck.refill(again.get(b)));
    findings.addAll(interpreter.check(again));
    for (Buffer output : outputs) {
      NdArray result = arguments.get(output);
      check(output).isWritten(result, again.get(output), findings);
    }
  }

  private OutputCheck check(Buffer output) {
    return new OutputCheck(program.name(), output, "");
  }
}
