package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.KernelResources;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A program of grid kernels in the interpreter, with its checks. */
public final class SimulatedExecutable implements Executable {
  private final CompiledProgram compiled;
  private final ProgramInterpreter interpreter;
  private final Arguments arguments;
  private List<String> findings = List.of();
  private int rows;
  private boolean closed;

  public SimulatedExecutable(CompiledProgram compiled) {
    this.compiled = compiled;
    this.interpreter =
        new ProgramInterpreter(compiled.program(), GridOptions.DEFAULT, Options.CHECKED);
    this.arguments = constants(compiled);
  }

  /** Arguments for the program of which only the constants are bound. */
  public static Arguments constants(CompiledProgram compiled) {
    Arguments arguments = Arguments.of(ProgramInterpreter.params(compiled.program()));
    for (PackedConstant constant : compiled.constants()) {
      arguments.bind(constant.buffer(), packed(constant));
    }
    return arguments;
  }

  /** A constant as kernels take it. */
  public static NdArray packed(PackedConstant constant) {
    Buffer original = constant.constant().buffer();
    Layout where = constant.where();
    if (where == null) {
      return NdArray.of(original).fillWith(constant.constant()::element);
    }
    NdArray laid = NdArray.of(original.withLayout(where)).fillWith(constant.constant()::element);
    NdArray packed = NdArray.of(constant.buffer());
    System.arraycopy(laid.bytes(), 0, packed.bytes(), 0, laid.bytes().length);
    return packed;
  }

  /** The interpreter has one memory: runs wait for each other. */
  @Override
  public Workspace newWorkspace() {
    return new Workspace() {
      @Override
      public void run(int rows, TensorBuffer[] inputs, TensorBuffer[] outputs) {
        runCopied(rows, inputs, outputs);
      }

      @Override
      public void close() {}
    };
  }

  private void runCopied(int rows, TensorBuffer[] inputs, TensorBuffer[] outputs) {
    List<float[]> in = new ArrayList<>();
    List<float[]> out = new ArrayList<>();
    for (int i = 0; i < inputs.length; i++) {
      int elements = Math.toIntExact(rows * compiled.network().inputs().get(i).extent(1));
      float[] values = new float[elements];
      Elements.move(
          Elements.segment(inputs[i]),
          inputs[i].type(),
          MemorySegment.ofArray(values),
          DType.F32,
          elements);
      in.add(values);
    }
    for (Buffer output : compiled.network().outputs()) {
      out.add(new float[Math.toIntExact(rows * output.extent(1))]);
    }
    run(rows, in, out);
    for (int i = 0; i < outputs.length; i++) {
      Elements.move(
          MemorySegment.ofArray(out.get(i)),
          DType.F32,
          Elements.segment(outputs[i]),
          outputs[i].type(),
          out.get(i).length);
    }
  }

  @Override
  public synchronized void run(int newRows, List<float[]> inputs, List<float[]> outputs) {
    if (closed) {
      throw new IllegalStateException("the program is closed");
    }
    rows = newRows;
    if (newRows == 0) {
      return;
    }
    int height = compiled.fixedRows().orElse(newRows);
    arguments.bind(compiled.network().rows().var(), height);
    for (int i = 0; i < inputs.size(); i++) {
      Buffer buffer = compiled.network().inputs().get(i);
      float[] filled = Arrays.copyOf(inputs.get(i), Math.toIntExact(height * buffer.extent(1)));
      arguments.bind(buffer, NdArray.ofFloats(filled, height, buffer.extent(1)).to(buffer.dtype()));
    }
    for (Buffer output : compiled.network().outputs()) {
      arguments.bind(output, NdArray.zeros(output.dtype(), height, output.extent(1)).poison());
    }
    findings = interpreter.check(arguments).stream().map(Finding::message).toList();
    for (int i = 0; i < outputs.size(); i++) {
      float[] result = arguments.get(compiled.network().outputs().get(i)).toFloats();
      System.arraycopy(result, 0, outputs.get(i), 0, outputs.get(i).length);
    }
  }

  /** The simulator keeps no time. */
  @Override
  public Timing time(int repetitions) {
    return new Timing(0, compiled.kernels().stream().map(k -> 0.0).toList());
  }

  @Override
  public synchronized List<String> findings() {
    return findings;
  }

  @Override
  public synchronized List<KernelFacts> kernelFacts() {
    Map<Var, Long> scalars = Map.of(compiled.network().rows().var(), (long) rows);
    List<KernelFacts> facts = new ArrayList<>();
    // Of each launch: several may have one kernel.
    for (Kernel kernel : compiled.kernels().stream().map(CompiledKernel::kernel).toList()) {
      List<Long> extents = new ArrayList<>();
      for (ThreadAxis axis : ThreadAxis.values()) {
        extents.add(ScalarEval.eval(kernel.extent(axis), scalars));
      }
      facts.add(
          new KernelFacts(
              kernel.name(),
              extents.subList(0, 3),
              extents.subList(3, 6).stream().map(Long::intValue).toList(),
              KernelResources.of(kernel).sharedBytes(),
              0));
    }
    return facts;
  }

  @Override
  public synchronized void close() {
    closed = true;
    findings = List.of();
  }
}
