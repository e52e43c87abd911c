package dev.warpwright.verify;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.families.attention.ProjectedAttention;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.measure.data.AttentionData;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.parallel.program.ParallelProgram;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What can be checked. */
public sealed interface CheckSubject {
  /** The name in the report. */
  String name();

  /** A function before it is scheduled or lowered: bounds and uninitialised elements. */
  record OfFunction(PrimFunc function) implements CheckSubject {
    @Override
    public String name() {
      return function.name();
    }
  }

  /** A kernel on random data, or on what its attributes say that its buffers hold. */
  record OfKernel(Kernel kernel) implements CheckSubject {
    @Override
    public String name() {
      return kernel.name();
    }
  }

  /**
   * The launches of a program on random data; what it gives out is poisoned before.
   *
   * @param tables contents of buffers that are no random data
   * @param meaning a kernel that computes the same from buffers of the same names, and whose
   *     attributes say what; null if nobody knows
   */
  record OfProgram(Program program, Map<Buffer, List<Integer>> tables, @Nullable Kernel meaning)
      implements CheckSubject {
    public OfProgram {
      tables = Map.copyOf(tables);
    }

    /** Of which nobody knows what it computes. */
    public OfProgram(Program program, Map<Buffer, List<Integer>> tables) {
      this(program, tables, null);
    }

    /** Random inputs, the tables, and poisoned outputs. */
    Arguments data(Map<String, Long> scalars, long seed) {
      return KernelData.of(program, tables, scalars, seed);
    }

    @Override
    public String name() {
      return program.name();
    }
  }

  /**
   * The launches of an attention, on ragged entries that differ from seed to seed.
   *
   * @param features of an output projection; 0 without one
   */
  record OfAttention(Attention attention, GpuTarget target, int features, Program program)
      implements CheckSubject {
    /** As its kernels are launched. */
    public OfAttention(AttentionKernels kernels) {
      this(kernels, kernels.program());
    }

    /** Launches of its kernels, or of some that are to be as right. */
    public OfAttention(AttentionKernels kernels, Program program) {
      this(kernels.attention(), kernels.target(), 0, program);
    }

    /** With an output projection. */
    public OfAttention(ProjectedAttention kernel) {
      this(kernel.attention(), kernel.target(), kernel.features(), kernel.program());
    }

    /** Ragged entries, full ones if their lengths are not given. */
    AttentionCache cache(long seed) {
      return program.params().stream().anyMatch(p -> p.param().name().equals("lengths"))
          ? AttentionCache.random(attention, seed)
          : AttentionCache.full(attention, seed);
    }

    /** Random inputs, and a poisoned output. */
    Arguments data(long seed) {
      return AttentionData.of(cache(seed), ProgramInterpreter.params(program), seed);
    }

    @Override
    public String name() {
      return program.name();
    }
  }

  /**
   * The launches of a compiled network, with its weights, on random rows.
   *
   * @param graph what it should compute; null if nobody knows
   */
  record OfNetwork(CompiledProgram network, @Nullable Graph graph) implements CheckSubject {
    @Override
    public String name() {
      return network.program().name();
    }
  }

  /** The launches of a network on several devices, on random rows. */
  record OfParallel(ParallelProgram parallel) implements CheckSubject {
    @Override
    public String name() {
      return parallel.program().name();
    }
  }
}
