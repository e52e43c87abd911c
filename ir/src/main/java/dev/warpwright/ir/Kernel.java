package dev.warpwright.ir;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What runs: the lowest level of the IR. A <em>grid</em> kernel is one CUDA kernel, its body is the
 * program of one thread; a <em>host</em> kernel is a function of parallel loops and vector lanes
 * for the JVM. The body has no {@link Stmt.Block} and no tile statement, and its buffers are
 * global, shared or local.
 *
 * @param name an identifier
 * @param kind grid or host
 * @param params buffers and scalars, in the order of a caller's arguments
 * @param bindings the launch of a grid kernel, at most one for each axis, kept in the order of the
 *     axes however they were given, so that a kernel read from its text is the same one; empty in a
 *     host kernel
 * @param body what a thread of a grid does, or the host
 * @param attrs {@code minBlocks}: blocks that must fit on an SM; {@code cluster}: blocks in a
 *     cluster; {@code fast}: 1 if spills and local memory are errors; {@code comment}: see {@link
 *     Attrs#COMMENT}
 */
public record Kernel(
    String name,
    Kind kind,
    List<Param> params,
    List<ThreadBinding> bindings,
    Stmt body,
    Attrs attrs) {
  /** Where the kernel runs. */
  public enum Kind {
    /** A CUDA kernel. */
    GRID,
    /** A function for the JVM. */
    HOST
  }

  /** Sorts the bindings by axis and copies the lists. */
  public Kernel {
    params = List.copyOf(params);
    bindings = bindings.stream().sorted(Comparator.comparing(ThreadBinding::axis)).toList();
    if (kind == Kind.HOST && !bindings.isEmpty()) {
      throw new IllegalArgumentException("host kernel " + name + " has launch indices");
    }
  }

  /**
   * {@return the same with another body}
   *
   * @param newBody over the same parameters
   */
  public Kernel withBody(Stmt newBody) {
    return newBody == body ? this : new Kernel(name, kind, params, bindings, newBody, attrs);
  }

  /**
   * {@return the same under another name}
   *
   * @param newName an identifier
   */
  public Kernel withName(String newName) {
    return new Kernel(newName, kind, params, bindings, body, attrs);
  }

  /**
   * {@return the variable and the extent of a launch index, if the kernel has it}
   *
   * @param axis of the launch
   */
  public Optional<ThreadBinding> binding(ThreadAxis axis) {
    return bindings.stream().filter(b -> b.axis() == axis).findFirst();
  }

  /**
   * {@return extent of a launch index; the constant 1 where there is none}
   *
   * @param axis of the launch
   */
  public Expr extent(ThreadAxis axis) {
    return binding(axis).map(ThreadBinding::extent).orElse(Exprs.i32(1));
  }

  /**
   * {@return threads in a block}
   *
   * @throws IllegalStateException if a thread extent is not a constant
   */
  public int threadsPerBlock() {
    long threads = 1;
    for (ThreadBinding binding : bindings) {
      if (!binding.axis().isBlock()) {
        if (!(binding.extent() instanceof Expr.IntImm imm)) {
          throw new IllegalStateException(
              "extent of " + binding.axis().text() + " in " + name + " is not constant");
        }
        threads *= imm.value();
      }
    }
    return Math.toIntExact(threads);
  }

  /** {@return the buffers among the parameters, in order} */
  public List<Buffer> buffers() {
    return params.stream().filter(Buffer.class::isInstance).map(Buffer.class::cast).toList();
  }

  /** {@return the scalars among the parameters, in order} */
  public List<ScalarParam> scalars() {
    return params.stream()
        .filter(ScalarParam.class::isInstance)
        .map(ScalarParam.class::cast)
        .toList();
  }
}
