package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.HostText;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.Argument;
import dev.warpwright.ir.Program.BufferArgument;
import dev.warpwright.ir.Program.Launch;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.Program.Step;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is exported: a program, and what its host has to know of it.
 *
 * @param about what it is, in a few words
 * @param program what is launched; its scalar, if it has one, is the number of rows
 * @param state buffers of the workspace that hold something before the first launch
 * @param workload what it computes, if the host program can check that by itself
 * @param traces how each kernel came about, by the kernel's name
 * @param sample rows with their results, to check a model with
 */
record Exported(
    String about,
    GpuTarget target,
    Program program,
    Map<Buffer, State> state,
    @Nullable BoundWorkload workload,
    Map<String, Trace> traces,
    @Nullable Sample sample) {

  /** What a buffer of the workspace holds before the first launch. */
  sealed interface State {
    /** Zero. */
    record Zero() implements State {}

    /** These integers, of which the kernel reads only. */
    record Table(List<Integer> values) implements State {}
  }

  /**
   * Known results.
   *
   * @param rows how many
   * @param compared how many of them have expected values
   * @param tolerance the greatest relative error that counts as right
   * @param files contents by name: the constants, each input and each output's expected values
   * @param constants where each constant begins in the file of constants, in bytes
   * @param weights what the constants are made of
   * @param constantsFile the name of the file of constants
   */
  record Sample(
      int rows,
      int compared,
      double tolerance,
      Map<String, byte[]> files,
      Map<Buffer, Long> constants,
      ModelWeights weights,
      String constantsFile) {
    /** Whether some of the rows alone have expected values. */
    boolean isDrawn() {
      return compared < rows;
    }

    /** The same with its constants in a file of another name. */
    Sample withConstants(String name) {
      Map<String, byte[]> renamed = new LinkedHashMap<>();
      files.forEach((file, bytes) -> renamed.put(file.equals(constantsFile) ? name : file, bytes));
      return new Sample(rows, compared, tolerance, renamed, constants, weights, name);
    }
  }

  Exported {
    state = Map.copyOf(state);
    traces = new LinkedHashMap<>(traces);
  }

  /**
   * One kernel for one shape.
   *
   * @throws UserError if it has a scalar without a value, or is launched cooperatively
   */
  static Exported ofKernel(Kernel kernel, GpuTarget target, String about, @Nullable Trace trace) {
    if (kernel.attrs().getLong("cooperative", 0) == 1) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + " cannot be exported: its blocks wait for each other, and exports launch none at once");
    }
    Kernel shaped = kernel;
    BoundWorkload workload = null;
    Map<Buffer, State> state = new LinkedHashMap<>();
    if (kernel.attrs().has("workload")) {
      BoundKernel bound = BoundKernel.of(kernel, Map.of());
      shaped = bound.kernel();
      workload = bound.workload();
      bound
          .contents()
          .forEach(
              (buffer, content) -> {
                switch (content) {
                  case BoundKernel.Content.Table(List<Integer> values) ->
                      state.put(buffer, new State.Table(values));
                  case BoundKernel.Content.Zero() -> state.put(buffer, new State.Zero());
                  case BoundKernel.Content.Random _, BoundKernel.Content.Poison _ -> {}
                }
              });
    } else if (!kernel.scalars().isEmpty()) {
      ScalarParam scalar = kernel.scalars().getFirst();
      throw new UserError(
          String.format(
              Locale.ROOT,
              "kernel %s cannot be exported: no value for %s; give it, as %s=4096",
              kernel.name(),
              scalar.name(),
              scalar.name()));
    }
    return new Exported(
        about,
        target,
        program(shaped, workload, state.keySet()),
        state,
        workload,
        trace == null ? Map.of() : Map.of(kernel.name(), trace),
        null);
  }

  /** The same with another program of the same parameters. */
  Exported with(Program other) {
    return new Exported(about, target, other, state, workload, traces, sample);
  }

  /** The same with known results. */
  Exported with(Sample known) {
    return new Exported(about, target, program, state, workload, traces, known);
  }

  /** A program that launches the kernel on buffers of its own. */
  private static Program program(
      Kernel kernel, @Nullable BoundWorkload workload, Set<Buffer> state) {
    List<ProgramParam> params = new ArrayList<>();
    List<Buffer> workspace = new ArrayList<>();
    List<Argument> arguments = new ArrayList<>();
    for (Buffer buffer : kernel.buffers()) {
      boolean written = HostText.writes(kernel, buffer);
      boolean output = workload == null ? written : workload.outputs().contains(buffer);
      boolean input = workload == null ? !written : workload.inputs().contains(buffer);
      if (!state.contains(buffer) && (input || output)) {
        params.add(new ProgramParam(output ? Role.OUTPUT : Role.INPUT, buffer));
      } else {
        workspace.add(buffer);
      }
      arguments.add(new BufferArgument(buffer));
    }
    return new Program(kernel.name(), params, workspace, List.of(new Launch(kernel, arguments)));
  }

  /** Whether the host program knows what should come out. */
  boolean isChecked() {
    return switch (workload) {
      case BoundWorkload.Gemm product -> product.group() == null;
      case BoundWorkload.Ffn _ -> true;
      case null -> sample != null;
    };
  }

  /** The name of the file of constants. */
  String constantsFile() {
    return sample == null ? SampleFiles.CONSTANTS : sample.constantsFile();
  }

  /** The same beside other targets: names of functions, kernels and files end with the target. */
  Exported besideOthers() {
    String end = "_" + target.name();
    Map<Kernel, Kernel> renamed = new IdentityHashMap<>();
    List<Step> steps = new ArrayList<>();
    for (Step step : program.steps()) {
      steps.add(
          step instanceof Launch(Kernel kernel, List<Argument> arguments)
              ? new Launch(
                  renamed.computeIfAbsent(
                      kernel,
                      k ->
                          new Kernel(
                              k.name() + end,
                              k.kind(),
                              k.params(),
                              k.bindings(),
                              k.body(),
                              k.attrs())),
                  arguments)
              : step);
    }
    Map<String, Trace> renamedTraces = new LinkedHashMap<>();
    traces.forEach((kernel, trace) -> renamedTraces.put(kernel + end, trace));
    return new Exported(
        about,
        target,
        new Program(program.name() + end, program.params(), program.workspace(), steps),
        state,
        workload,
        renamedTraces,
        sample == null ? null : sample.withConstants("constants" + end + ".bin"));
  }

  List<Buffer> buffers(Role role) {
    return program.params().stream()
        .filter(p -> p.role() == role)
        .map(p -> (Buffer) p.param())
        .toList();
  }

  /** The number of rows, if it is open. */
  @Nullable ScalarParam rows() {
    for (ProgramParam p : program.params()) {
      Param param = p.param();
      if (param instanceof ScalarParam scalar) {
        return scalar;
      }
    }
    return null;
  }

  List<Launch> launches() {
    return program.steps().stream()
        .filter(Launch.class::isInstance)
        .map(Launch.class::cast)
        .toList();
  }
}
