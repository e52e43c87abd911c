package dev.warpwright.ir;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Ordered work on buffers: what the runtime, the exporter, the simulator and the traffic model
 * read.
 *
 * <p>A program for several devices is done by each of them, in memory of its own: every device has
 * every buffer. {@link AllReduce} alone joins them.
 *
 * @param name an identifier
 * @param devices how many do it, at least 1
 * @param params inputs, outputs, constants and scalars, in a caller's order
 * @param workspace buffers that live from the first step to the last
 * @param views rows of other buffers
 * @param steps in the order in which they happen
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
    /** A buffer that the caller fills. */
    INPUT("input"),
    /** A buffer that the caller gets. */
    OUTPUT("output"),
    /** Known before the first run: weights, packed once. */
    CONSTANT("constant"),
    /** A number that the caller gives. */
    SCALAR("scalar");

    private final String text;

    Role(String text) {
      this.text = text;
    }

    /** {@return the word in the text form} */
    public String text() {
      return text;
    }
  }

  /**
   * A parameter and its role; {@link Role#SCALAR} exactly for {@link ScalarParam}.
   *
   * @param role what it is for
   * @param param a buffer or a scalar
   * @param sharded whether each device has its own part, of the parameter's shape; else all hold
   *     the same
   */
  public record ProgramParam(Role role, Param param, boolean sharded) {
    /**
     * A parameter that is the same on all devices.
     *
     * @param role what it is for
     * @param param a buffer or a scalar
     */
    public ProgramParam(Role role, Param param) {
      this(role, param, false);
    }

    /** Checks that scalars are called so and are not sharded. */
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
  public sealed interface Step permits Launch, Memset, Carry, AllReduce {}

  /**
   * Runs a kernel; one argument for each of its parameters, in order.
   *
   * @param kernel that runs
   * @param arguments one for each parameter
   */
  public record Launch(Kernel kernel, List<Argument> arguments) implements Step {
    /** Checks that the arguments are those that the kernel takes. */
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

  /**
   * Sets every byte of a buffer.
   *
   * @param buffer all of which is set
   * @param value of each byte
   */
  public record Memset(Buffer buffer, int value) implements Step {}

  /**
   * An output begins as an input. A caller who gives the same memory for both has it changed in
   * place, and nothing is copied.
   *
   * @param from an input, which no step behind this one reads
   * @param to an output of the same type and shape
   */
  public record Carry(Buffer from, Buffer to) implements Step {}

  /**
   * Adds a buffer over all devices, element by element; afterwards all hold the sum. In which order
   * is added, and whether it is rounded in between, is not said: within the accuracy of one
   * rounding to the buffer's type for each device but the first.
   *
   * @param buffer of which every device has its own
   */
  public record AllReduce(Buffer buffer) implements Step {
    /**
     * {@return an error for what runs programs of one device only, which have no such step; to be
     * thrown}
     */
    public IllegalArgumentException alone() {
      return new IllegalArgumentException(
          "'" + buffer.name() + "' is added over devices: the program is for several");
    }
  }

  /** An argument of a launch. */
  public sealed interface Argument permits BufferArgument, ScalarArgument {}

  /**
   * A buffer of the program, or a view.
   *
   * @param buffer in the program's parameters, workspace or views
   */
  public record BufferArgument(Buffer buffer) implements Argument {}

  /**
   * A host expression of the program's scalars.
   *
   * @param value in terms of the program's scalars
   */
  public record ScalarArgument(Expr value) implements Argument {}

  /** Copies the lists and checks the number of devices. */
  public Program {
    if (devices < 1) {
      throw new IllegalArgumentException("a program for " + devices + " devices");
    }
    views = List.copyOf(views);
    params = List.copyOf(params);
    workspace = List.copyOf(workspace);
    steps = List.copyOf(steps);
  }

  /**
   * A program for one device.
   *
   * @param name an identifier
   * @param params inputs, constants, outputs and scalars
   * @param workspace buffers that only the program uses
   * @param steps in the order in which they happen
   */
  public Program(String name, List<ProgramParam> params, List<Buffer> workspace, List<Step> steps) {
    this(name, 1, params, workspace, List.of(), steps);
  }

  /**
   * {@return workspace that must be zero before the first run, and is zero again after each: what a
   * kernel's attribute {@code zero} names, and no step sets}
   *
   * <p>Whoever allocates the workspace sets it once.
   */
  public Set<Buffer> counters() {
    Set<Buffer> counters = new LinkedHashSet<>();
    for (Step step : steps) {
      if (step instanceof Launch(Kernel kernel, List<Argument> arguments)) {
        String zero = kernel.attrs().getString("zero");
        List<String> names = zero == null ? List.of() : List.of(zero.strip().split("\\s*,\\s*"));
        for (int i = 0; i < arguments.size(); i++) {
          if (names.contains(kernel.params().get(i).name())
              && arguments.get(i) instanceof BufferArgument(Buffer buffer)
              && workspace.contains(buffer)) {
            counters.add(buffer);
          }
        }
      }
    }
    for (Step step : steps) {
      if (step instanceof Memset(Buffer buffer, int _)) {
        counters.remove(buffer);
      }
    }
    return counters;
  }

  /** {@return the kernels in the order of their first launch} */
  public List<Kernel> kernels() {
    return steps.stream()
        .filter(Launch.class::isInstance)
        .map(step -> ((Launch) step).kernel())
        .distinct()
        .toList();
  }
}
