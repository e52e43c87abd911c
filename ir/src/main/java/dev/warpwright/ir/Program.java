package dev.warpwright.ir;

import java.util.List;

/**
 * Ordered work on buffers: what the runtime, the exporter, the simulator and the traffic model
 * read.
 *
 * @param params inputs, outputs, constants and scalars, in a caller's order
 * @param workspace buffers that live from the first step to the last
 */
public record Program(
    String name, List<ProgramParam> params, List<Buffer> workspace, List<Step> steps) {
  /** What a buffer is to the caller. */
  public enum Role {
    INPUT("input"),
    OUTPUT("output"),
    /** Known before the first run: weights, packed once. */
    CONSTANT("constant"),
    SCALAR("scalar");

    private final String text;

    Role(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  /** A parameter and its role; {@link Role#SCALAR} exactly for {@link ScalarParam}. */
  public record ProgramParam(Role role, Param param) {
    public ProgramParam {
      if ((role == Role.SCALAR) != (param instanceof ScalarParam)) {
        throw new IllegalArgumentException("parameter " + param.name() + " in role " + role);
      }
    }
  }

  /** One step; steps happen in order, each sees all effects of the earlier ones. */
  public sealed interface Step permits Launch, Memset {}

  /** Runs a kernel; one argument for each of its parameters, in order. */
  public record Launch(Kernel kernel, List<Argument> arguments) implements Step {
    public Launch {
      arguments = List.copyOf(arguments);
      if (arguments.size() != kernel.params().size()) {
        throw new IllegalArgumentException(
            kernel.name()
                + " takes "
                + kernel.params().size()
                + " arguments, not "
                + arguments.size());
      }
    }
  }

  /** Sets every byte of a buffer. */
  public record Memset(Buffer buffer, int value) implements Step {}

  /** An argument of a launch. */
  public sealed interface Argument permits BufferArgument, ScalarArgument {}

  public record BufferArgument(Buffer buffer) implements Argument {}

  /** A host expression of the program's scalars. */
  public record ScalarArgument(Expr value) implements Argument {}

  public Program {
    params = List.copyOf(params);
    workspace = List.copyOf(workspace);
    steps = List.copyOf(steps);
  }

  /** The kernels in the order of their first launch. */
  public List<Kernel> kernels() {
    return steps.stream()
        .filter(Launch.class::isInstance)
        .map(step -> ((Launch) step).kernel())
        .distinct()
        .toList();
  }
}
