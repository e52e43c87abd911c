package dev.warpwright.ir;

import java.util.List;

/**
 * Ordered work on buffers: what the runtime, the exporter, the simulator and the traffic model
 * read.
 *
 * <p>A program for several devices is done by each of them, in memory of its own: every device has
 * every buffer. {@link AllReduce} alone joins them.
 *
 * @param devices how many do it, at least 1
 * @param params inputs, outputs, constants and scalars, in a caller's order
 * @param workspace buffers that live from the first step to the last
 * @param views rows of other buffers
 */
public record Program(
    String name,
    int devices,
    List<ProgramParam> params,
    List<Buffer> workspace,
    List<View> views,
    List<Step> steps) {
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

  /**
   * A parameter and its role; {@link Role#SCALAR} exactly for {@link ScalarParam}.
   *
   * @param sharded whether each device has its own part, of the parameter's shape; else all hold
   *     the same
   */
  public record ProgramParam(Role role, Param param, boolean sharded) {
    /** One that is the same on all devices. */
    public ProgramParam(Role role, Param param) {
      this(role, param, false);
    }

    public ProgramParam {
      if ((role == Role.SCALAR) != (param instanceof ScalarParam)) {
        throw new IllegalArgumentException("parameter " + param.name() + " in role " + role);
      }
    }
  }

  /**
   * Rows of a buffer under a name of their own, in the same memory.
   *
   * @param view of constant shape
   * @param of what they are rows of: a parameter or workspace, row-major and of constant shape
   * @param first the first of them
   */
  public record View(Buffer view, Buffer of, long first) {}

  /** One step; steps happen in order, each sees all effects of the earlier ones. */
  public sealed interface Step permits Launch, Memset, AllReduce {}

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

  /**
   * Adds a buffer over all devices, element by element; afterwards all hold the sum. In which order
   * is added, and whether it is rounded in between, is not said: within the accuracy of one
   * rounding to the buffer's type for each device but the first.
   */
  public record AllReduce(Buffer buffer) implements Step {
    /** For what runs programs of one device, which have no such step. */
    public IllegalArgumentException alone() {
      return new IllegalArgumentException(
          "'" + buffer.name() + "' is added over devices: the program is for several");
    }
  }

  /** An argument of a launch. */
  public sealed interface Argument permits BufferArgument, ScalarArgument {}

  public record BufferArgument(Buffer buffer) implements Argument {}

  /** A host expression of the program's scalars. */
  public record ScalarArgument(Expr value) implements Argument {}

  public Program {
    if (devices < 1) {
      throw new IllegalArgumentException("a program for " + devices + " devices");
    }
    views = List.copyOf(views);
    params = List.copyOf(params);
    workspace = List.copyOf(workspace);
    steps = List.copyOf(steps);
  }

  /** A program for one device. */
  public Program(String name, List<ProgramParam> params, List<Buffer> workspace, List<Step> steps) {
    this(name, 1, params, workspace, List.of(), steps);
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
