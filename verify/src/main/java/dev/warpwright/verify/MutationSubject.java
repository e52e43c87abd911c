package dev.warpwright.verify;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A grid kernel into which mistakes are planted, with what it takes to run it or another in its
 * place.
 *
 * @param name for reports
 * @param scalars values of its scalar parameters
 * @param run executes a kernel in the place of {@code kernel}
 * @param others the same for other shapes, which differ in tails, stages and divisibility; made
 *     when they are asked for
 */
public record MutationSubject(
    String name, Kernel kernel, Map<String, Long> scalars, Run run, Supplier<List<Shape>> others) {
  public MutationSubject {
    scalars = Map.copyOf(scalars);
  }

  /** At one shape only. */
  public MutationSubject(String name, Kernel kernel, Map<String, Long> scalars, Run run) {
    this(name, kernel, scalars, run, List::of);
  }

  /**
   * Another shape.
   *
   * @param kernel for it; the subject's own if it is for all
   */
  public record Shape(String text, Kernel kernel, Run run) {}

  /** This as another shape of the same. */
  public Shape shape(String text) {
    return new Shape(text, kernel, run);
  }

  /** The same with other shapes. */
  public MutationSubject withOthers(Supplier<List<Shape>> more) {
    return new MutationSubject(name, kernel, scalars, run, more);
  }

  /** Rows of networks beside the usual ones: one, whole tiles, and a part of a third tile. */
  private static final List<Integer> OTHER_ROWS = List.of(1, 64, 133);

  /** Executes kernels. */
  @FunctionalInterface
  public interface Run {
    /**
     * Runs a kernel.
     *
     * @param data which random numbers; the same number gives the same
     */
    Outcome of(Kernel kernel, GridOptions order, long data);
  }

  /**
   * What an execution left.
   *
   * @param findings what the simulator reported first, which ended the execution
   * @param memory the bytes of all buffers afterwards; after a finding, those up to there
   */
  public record Outcome(List<Finding> findings, List<byte[]> memory) {
    public Outcome {
      findings = List.copyOf(findings);
      memory = List.copyOf(memory);
    }
  }

  /** The same under another name. */
  public MutationSubject withName(String other) {
    return new MutationSubject(other, kernel, scalars, run, others);
  }

  /** A kernel with a workload, also for other shapes. */
  public static MutationSubject of(
      String name, Kernel kernel, List<Map<String, Long>> shapes, long seed) {
    return of(name, BoundKernel.of(kernel, shapes.getFirst()), seed)
        .withOthers(
            () ->
                shapes.stream()
                    .skip(1)
                    .map(
                        shape -> {
                          MutationSubject other = of(name, BoundKernel.of(kernel, shape), seed);
                          return other.shape(new TreeMap<>(shape).toString());
                        })
                    .toList());
  }

  /** A kernel with a workload. */
  public static MutationSubject of(String name, BoundKernel bound, long seed) {
    return of(name, bound.kernel(), data -> KernelData.of(bound, seed + data));
  }

  /** A kernel with arguments for each set of data. */
  public static MutationSubject of(String name, Kernel kernel, LongFunction<Arguments> arguments) {
    return new MutationSubject(
        name,
        kernel,
        Map.of(),
        (other, order, data) -> {
          Arguments values = arguments.apply(data);
          GridInterpreter interpreter = new GridInterpreter(other, order);
          List<Finding> findings = upToTheFirst(() -> interpreter.run(values));
          return new Outcome(findings, memory(kernel.buffers(), values));
        });
  }

  /** The kernels of a network. */
  public static List<MutationSubject> of(
      String name, CompiledProgram network, int rows, long seed) {
    List<MutationSubject> subjects = new ArrayList<>();
    List<Kernel> kernels = network.program().kernels();
    for (int i = 0; i < kernels.size(); i++) {
      Kernel kernel = kernels.get(i);
      subjects.add(
          new MutationSubject(
              kernels.size() == 1 ? name : name + " " + (i + 1),
              kernel,
              scalars(kernel, rows),
              run(network, kernel, rows, seed),
              () ->
                  // Of a program for one number of rows there are no others.
                  OTHER_ROWS.stream()
                      .filter(count -> network.fixedRows().isEmpty())
                      .map(
                          count ->
                              new Shape("rows=" + count, kernel, run(network, kernel, count, seed)))
                      .toList()));
    }
    return subjects;
  }

  private static Run run(CompiledProgram network, Kernel kernel, int rows, long seed) {
    return (other, order, data) -> {
      Arguments values = Checks.arguments(network, rows, seed + data);
      Program program = with(network.program(), kernel, other);
      ProgramInterpreter interpreter = new ProgramInterpreter(program, order, Options.CHECKED);
      List<Finding> findings = upToTheFirst(() -> interpreter.run(values));
      return new Outcome(findings, memory(network.network().outputs(), values));
    };
  }

  /** The kernels of a program, with arguments for each set of data. */
  public static List<MutationSubject> of(Program program, LongFunction<Arguments> arguments) {
    List<Buffer> outputs =
        program.params().stream()
            .filter(p -> p.role() == Program.Role.OUTPUT)
            .map(p -> (Buffer) p.param())
            .toList();
    List<Kernel> kernels = program.kernels();
    List<MutationSubject> subjects = new ArrayList<>();
    for (int i = 0; i < kernels.size(); i++) {
      Kernel kernel = kernels.get(i);
      if (kernel.kind() == Kernel.Kind.GRID) {
        subjects.add(
            new MutationSubject(
                kernels.size() == 1 ? program.name() : program.name() + " " + (i + 1),
                kernel,
                Map.of(),
                (other, order, data) -> {
                  Arguments values = arguments.apply(data);
                  ProgramInterpreter interpreter =
                      new ProgramInterpreter(with(program, kernel, other), order, Options.CHECKED);
                  List<Finding> findings = upToTheFirst(() -> interpreter.run(values));
                  return new Outcome(findings, memory(outputs, values));
                }));
      }
    }
    return subjects;
  }

  /** What an execution ends with; whatever else is wrong with a mutant, it is found. */
  private static List<Finding> upToTheFirst(Runnable execution) {
    try {
      execution.run();
      return List.of();
    } catch (SimulationError e) {
      return e.findings();
    }
  }

  private static Program with(Program program, Kernel kernel, Kernel other) {
    return new Program(
        program.name(),
        program.devices(),
        program.params(),
        program.workspace(),
        program.views(),
        program.steps().stream()
            .map(
                step ->
                    step instanceof Program.Launch launch && launch.kernel() == kernel
                        ? new Program.Launch(other, launch.arguments())
                        : step)
            .toList());
  }

  private static Map<String, Long> scalars(Kernel kernel, long rows) {
    return kernel.scalars().stream().collect(Collectors.toMap(ScalarParam::name, s -> rows));
  }

  private static List<byte[]> memory(List<Buffer> buffers, Arguments arguments) {
    return buffers.stream().map(b -> arguments.get(b).bytes()).toList();
  }
}
