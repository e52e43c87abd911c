package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.Verification;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.GpuTarget;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs a subject in the simulator and on a GPU, on the same data, and compares what they leave. */
public final class GpuComparison {
  private GpuComparison() {}

  /**
   * An array after both runs; where rows lie apart, what is between them must be the same too.
   *
   * @param sameBits whether all of it is bit-equal
   * @param equal how many elements are
   * @param tolerance that the relative error must not exceed
   */
  public record OfArray(
      String name,
      boolean sameBits,
      long equal,
      long elements,
      double relError,
      double maxAbsError,
      double tolerance,
      boolean ok) {}

  /**
   * A subject's comparison.
   *
   * @param findings of the simulator
   */
  public record Result(
      String subject, Map<String, Long> scalars, List<OfArray> arrays, List<Finding> findings) {
    public Result {
      scalars = Map.copyOf(scalars);
      arrays = List.copyOf(arrays);
      findings = List.copyOf(findings);
    }

    public boolean ok() {
      return findings.isEmpty() && arrays.stream().allMatch(OfArray::ok);
    }
  }

  /**
   * Compares.
   *
   * @throws UserError if the subject does not run on this GPU
   */
  public static Result compare(CheckSubject subject, CheckOptions options, Gpu gpu) {
    return switch (subject) {
      case CheckSubject.OfKernel(Kernel kernel) when kernel.kind() == Kernel.Kind.GRID ->
          compare(kernel, options, gpu);
      case CheckSubject.OfNetwork network -> compare(network, options, gpu);
      case CheckSubject.OfProgram program -> compare(program, options, gpu);
      case CheckSubject.OfAttention attention ->
          compare(
              attention.program(),
              Map.of(),
              () -> attention.data(options.seed()),
              References.of(attention),
              gpu);
      case CheckSubject.OfKernel _, CheckSubject.OfFunction _, CheckSubject.OfParallel _ ->
          throw new UserError(
              subject.name() + ": grid kernels, programs and networks are compared with a GPU");
    };
  }

  private static Result compare(Kernel kernel, CheckOptions options, Gpu gpu) {
    PreparedKernel prepared = PreparedKernel.of(kernel, options);
    Arguments simulated = prepared.arguments().get();
    Arguments executed = prepared.arguments().get();
    List<Finding> findings =
        new GridInterpreter(prepared.kernel(), GridOptions.DEFAULT).check(simulated);
    List<OfArray> arrays = new ArrayList<>();
    if (findings.isEmpty()) {
      Map<Buffer, OutputCheck.Expected> expected = prepared.expected(executed);
      launch(prepared.kernel(), executed, prepared.scalars(), gpu);
      for (Buffer buffer : prepared.kernel().buffers()) {
        // Which block leaves a part for another depends on who comes first.
        if (!prepared.scratch().contains(buffer)) {
          double tolerance = RoundingTolerance.of(prepared.kernel(), buffer);
          arrays.add(compare(buffer, executed, simulated, tolerance, expected.get(buffer)));
        }
      }
    }
    return new Result(kernel.name(), prepared.scalars(), arrays, findings);
  }

  /**
   * Launches a grid kernel once; its arrays hold afterwards what the GPU left in them.
   *
   * @param scalars of the kernel by name
   */
  public static void launch(
      Kernel kernel, Arguments arguments, Map<String, Long> scalars, Gpu gpu) {
    GpuTarget target = (GpuTarget) gpu.target();
    Map<Var, Long> values = new HashMap<>();
    kernel.scalars().forEach(s -> values.put(s.var(), scalars.get(s.name())));
    Map<Buffer, CudaBuffer> buffers = new HashMap<>();
    byte[] cubin = CudaCompilers.compile(CudaPrinter.print(kernel, target), target).bytes();
    try (CudaModule module = gpu.context().load(cubin);
        CudaStream stream = gpu.context().newStream()) {
      try {
        for (Buffer buffer : kernel.buffers()) {
          MemorySegment data = arguments.get(buffer).segment();
          CudaBuffer onDevice = gpu.context().allocate(Math.max(16, data.byteSize()));
          buffers.put(buffer, onDevice);
          onDevice.copyFrom(data, stream);
        }
        GridLauncher.of(kernel, module).prepare(buffers, values).run(stream);
        buffers.forEach(
            (buffer, onDevice) -> onDevice.copyTo(arguments.get(buffer).segment(), stream));
        stream.synchronize();
      } finally {
        buffers.values().forEach(CudaBuffer::close);
      }
    }
  }

  private static Result compare(CheckSubject.OfProgram subject, CheckOptions options, Gpu gpu) {
    Program program = subject.program();
    Map<String, Long> scalars =
        KernelData.scalars(ProgramInterpreter.params(program), options.scalars(), options.rows());
    return compare(
        program, scalars, () -> subject.data(scalars, options.seed()), References.of(subject), gpu);
  }

  private static Result compare(
      Program program,
      Map<String, Long> scalars,
      Supplier<Arguments> data,
      ProgramCheck.@Nullable Reference reference,
      Gpu gpu) {
    Arguments simulated = data.get();
    Arguments executed = data.get();
    List<Finding> findings =
        new ProgramInterpreter(program, GridOptions.DEFAULT, Options.CHECKED).check(simulated);
    List<OfArray> arrays = new ArrayList<>();
    if (findings.isEmpty()) {
      Iterator<OutputCheck.Expected> right =
          reference == null
              ? Collections.emptyIterator()
              : reference.outputs().apply(executed).iterator();
      ProgramOnGpu.run(program, executed, gpu);
      for (Program.ProgramParam param : program.params()) {
        if (param.param() instanceof Buffer buffer) {
          boolean known = param.role() == Program.Role.OUTPUT && right.hasNext();
          double tolerance = RoundingTolerance.of(buffer.dtype());
          arrays.add(compare(buffer, executed, simulated, tolerance, known ? right.next() : null));
        }
      }
    }
    return new Result(program.name(), scalars, arrays, findings);
  }

  private static Result compare(CheckSubject.OfNetwork subject, CheckOptions options, Gpu gpu) {
    CompiledProgram network = subject.network();
    if (!network.target().equals(gpu.target())) {
      throw new UserError(
          network.program().name()
              + ": compiled for "
              + ((GpuTarget) network.target()).name()
              + ", this GPU is "
              + gpu.name());
    }
    int rows = Checks.rows(network, options);
    Arguments simulated = Checks.arguments(network, rows, options.seed());
    List<float[]> inputs =
        network.network().inputs().stream().map(b -> simulated.get(b).toFloats()).toList();
    List<Finding> findings =
        new ProgramInterpreter(network.program(), GridOptions.DEFAULT, Options.CHECKED)
            .check(simulated);
    List<OfArray> arrays = new ArrayList<>();
    if (findings.isEmpty()) {
      ProgramCheck.Reference reference = References.of(subject, rows);
      List<OutputCheck.Expected> right =
          reference == null ? List.of() : reference.outputs().apply(simulated);
      List<float[]> outputs =
          network.network().outputs().stream()
              .map(b -> new float[Math.toIntExact(rows * b.extent(1))])
              .toList();
      try (Executable executable = new GpuDevice(gpu).load(network, new ConstantStore())) {
        executable.run(rows, inputs, outputs);
      }
      for (int i = 0; i < outputs.size(); i++) {
        Buffer output = network.network().outputs().get(i);
        NdArray result =
            NdArray.ofFloats(outputs.get(i), rows, output.extent(1)).to(output.dtype());
        arrays.add(
            compare(
                output.name(),
                result,
                simulated.get(output),
                network.precision().tolerance(),
                reference == null ? null : right.get(i)));
      }
    }
    return new Result(network.program().name(), Map.of("rows", (long) rows), arrays, findings);
  }

  private static OfArray compare(
      Buffer buffer,
      Arguments executed,
      Arguments simulated,
      double tolerance,
      OutputCheck.@Nullable Expected expected) {
    return compare(buffer.name(), executed.get(buffer), simulated.get(buffer), tolerance, expected);
  }

  /** Where it is known what is right, each element is held against that, else against the other. */
  private static OfArray compare(
      String name,
      NdArray executed,
      NdArray simulated,
      double tolerance,
      OutputCheck.@Nullable Expected expected) {
    Verification verification = Verification.compare(executed, simulated);
    int bytes = executed.dtype().bytes();
    byte[] a = executed.bytes();
    byte[] b = simulated.bytes();
    long elements = a.length / bytes;
    long equal = 0;
    for (int at = 0; at + bytes <= a.length; at += bytes) {
      equal += java.util.Arrays.equals(a, at, at + bytes, b, at, at + bytes) ? 1 : 0;
    }
    return new OfArray(
        name,
        equal == elements,
        equal,
        elements,
        verification.relError(),
        verification.maxAbsError(),
        tolerance,
        equal == elements
            || verification.within(tolerance)
                && deviations(executed, simulated, tolerance, expected).honest()
                && samePadding(executed, simulated));
  }

  private static Deviations deviations(
      NdArray executed,
      NdArray simulated,
      double tolerance,
      OutputCheck.@Nullable Expected expected) {
    double[] result = executed.toDoubles();
    return expected != null
        ? expected.deviations(result)
        : Deviations.ofOrders(
            simulated.dtype(), result, simulated.toDoubles(), columns(simulated), tolerance);
  }

  private static int columns(NdArray array) {
    int rank = array.shape().length;
    return rank == 0 ? 1 : (int) Math.max(1, array.shape()[rank - 1]);
  }

  /** Whether what lies between the rows of a matrix, which is nobody's to write, is the same. */
  private static boolean samePadding(NdArray executed, NdArray simulated) {
    int bytes = executed.dtype().bytes();
    byte[] expected = simulated.bytes().clone();
    byte[] found = executed.bytes();
    for (int i = 0; i < executed.size(); i++) {
      int at = executed.offset(executed.coordinates(i)) * bytes;
      System.arraycopy(found, at, expected, at, bytes);
    }
    return java.util.Arrays.equals(expected, found);
  }
}
