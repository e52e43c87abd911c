package dev.warpwright.export;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.model.graph.Value;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A kernel or a model as a header with a function that launches it, a host program that runs,
 * checks and times it, a PyTorch operator, and a build file. Nothing of Warpwright is needed to
 * compile or run them, and no library but CUDA's runtime.
 */
public final class CudaExport {
  /** What a class of {@link Form#JAVA} needs: the runtime and what it requires. */
  public static final String JARS = "warpwright-runtime, -cuda, -target, -text, -ir and -base";

  private CudaExport() {}

  /** What is written. */
  public enum Form {
    /** CUDA C++, a host program, a PyTorch operator and build files. */
    SOURCES,
    /** Machine code, a manifest in JSON and a loader in C; compiled here. */
    CUBIN,
    /** A Java class with machine code in it; compiled here. */
    JAVA
  }

  private static Map<String, byte[]> files(Exported exported, Form form) {
    return switch (form) {
      case SOURCES -> files(exported);
      case CUBIN -> BinaryFiles.ofC(exported);
      case JAVA -> BinaryFiles.ofJava(exported);
    };
  }

  /**
   * The files of a kernel by name.
   *
   * @param kernel for one shape
   * @param name of the function and the operator, if it is not the kernel's
   * @param form of what is written
   * @param about what it is, in a few words
   * @param trace the schedule that made it; null for a kernel written by hand
   * @throws dev.warpwright.base.UserError if the host program could not launch it
   */
  public static Map<String, byte[]> kernel(
      Kernel kernel,
      @Nullable String name,
      GpuTarget target,
      Form form,
      String about,
      @Nullable Trace trace) {
    Exported exported = Exported.ofKernel(kernel, target, about, trace);
    return files(name == null ? exported : exported.with(named(exported.program(), name)), form);
  }

  /** The files of a kernel by name, under its own name. */
  public static Map<String, byte[]> kernel(
      Kernel kernel, GpuTarget target, String about, @Nullable Trace trace) {
    return kernel(kernel, null, target, Form.SOURCES, about, trace);
  }

  /**
   * The files of a model by name, its weights and a sample of rows with their results among them.
   *
   * @param name of the function and the operator, if it is an identifier, else one made of it: two
   *     models in one process need two
   * @param rows of the sample, at least 1; the kernels are those for so many rows
   * @throws dev.warpwright.base.UserError if the target does not have the precision
   */
  public static Map<String, byte[]> model(
      String name, Model model, Precision precision, GpuTarget target, int rows, String about) {
    return files(exported(name, model, precision, new OfflineGpu(target), rows, about));
  }

  private static Exported exported(
      String name, Model model, Precision precision, OfflineGpu gpu, int rows, String about) {
    return exported(name, model, precision, gpu, rows, SampleFiles.REFERENCE_WORK, about);
  }

  /** With so many multiply-adds for the reference. */
  static Exported exported(
      String name,
      Model model,
      Precision precision,
      OfflineGpu gpu,
      int rows,
      long work,
      String about) {
    try (CompiledModel compiled = model.compile(gpu, precision)) {
      return exported(name, model, compiled.program(rows), gpu.gpu(), rows, work, about);
    }
  }

  private static Exported exported(
      String name,
      Model model,
      CompiledProgram program,
      GpuTarget target,
      int rows,
      long work,
      String about) {
    Map<String, Trace> traces = new LinkedHashMap<>();
    for (CompiledKernel kernel : program.kernels()) {
      traces.put(kernel.kernel().name(), kernel.trace());
    }
    Program named = named(bounded(program), name);
    Map<Buffer, Exported.State> counters = new LinkedHashMap<>();
    named.counters().forEach(buffer -> counters.put(buffer, new Exported.State.Zero()));
    Exported exported =
        new Exported(about + outputs(model), target, named, counters, null, traces, null);
    return exported.with(SampleFiles.of(model, program, rows, work, new Signature(exported)));
  }

  /**
   * The files of a program that computes a model, by name, as those of the model itself.
   *
   * @param name of the function and the operator
   * @param program for so many rows on the target
   * @param form of what is written
   * @throws dev.warpwright.base.UserError if the host program could not launch it
   */
  public static Map<String, byte[]> program(
      String name,
      Model model,
      CompiledProgram program,
      GpuTarget target,
      Form form,
      int rows,
      String about) {
    return files(
        exported(name, model, program, target, rows, SampleFiles.REFERENCE_WORK, about), form);
  }

  /**
   * The files of a model for several GPUs, one of which is found at run time.
   *
   * @param gpus in any order; of one it is {@link #model(String, Model, Precision, GpuTarget, int,
   *     String)}, and only then in another form than sources
   * @throws dev.warpwright.base.UserError if a target does not have the precision
   */
  public static Map<String, byte[]> model(
      String name,
      Model model,
      Precision precision,
      List<OfflineGpu> gpus,
      Form form,
      int rows,
      String about) {
    if (gpus.size() == 1) {
      return files(exported(name, model, precision, gpus.getFirst(), rows, about), form);
    }
    if (form != Form.SOURCES) {
      throw new UserError("machine code is for one target; export each into a folder of its own");
    }
    List<Exported> variants =
        gpus.stream().map(gpu -> exported(name, model, precision, gpu, rows, about)).toList();
    return FatFiles.of(variants);
  }

  /**
   * A kernel for a target.
   *
   * @param trace the schedule that made it; null for a kernel written by hand
   */
  public record Variant(Kernel kernel, GpuTarget target, @Nullable Trace trace) {}

  /**
   * The files of kernels that compute the same on several targets, one of which is found at run
   * time.
   *
   * @param name of the function and the operator
   * @throws dev.warpwright.base.UserError if the host program could not launch one
   */
  public static Map<String, byte[]> kernels(String name, List<Variant> variants, String about) {
    return FatFiles.of(
        variants.stream()
            .map(v -> Exported.ofKernel(v.kernel(), v.target(), about, v.trace()))
            .map(each -> each.with(named(each.program(), name)))
            .toList());
  }

  private static Program named(Program program, String name) {
    return new Program(
        ProjectText.name(name), program.params(), program.workspace(), program.steps());
  }

  /** The program for no more rows than its kernels compute. */
  private static Program bounded(CompiledProgram compiled) {
    Program program = compiled.program();
    return new Program(
        program.name(),
        program.params().stream().map(p -> bounded(p, compiled.fixedRows())).toList(),
        program.workspace(),
        program.steps());
  }

  private static ProgramParam bounded(ProgramParam param, OptionalInt rows) {
    return param.param() instanceof ScalarParam scalar && rows.isPresent()
        ? new ProgramParam(
            param.role(), new ScalarParam(scalar.var(), scalar.min(), rows.getAsInt()))
        : param;
  }

  /** What a model of several outputs gives, in the order of the operator's results. */
  private static String outputs(Model model) {
    List<Value> outputs = model.graph().outputs();
    return outputs.size() == 1
        ? ""
        : outputs.stream()
            .map(output -> Names.quote(output.name()))
            .collect(Collectors.joining(", ", ", which gives ", ""));
  }

  static Map<String, byte[]> files(Exported exported) {
    Signature signature = new Signature(exported);
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("kernel.cuh", HeaderText.of(exported, signature));
    texts.put("main.cu", HostProgramText.of(exported, signature));
    texts.put("torch_op.cu", TorchBuildText.library(exported, signature));
    texts.put("torch_op.py", TorchText.module(exported, signature));
    if (ModuleText.has(exported)) {
      texts.put("module.py", ModuleText.of(List.of(exported), signature));
    }
    texts.put("__init__.py", ProjectText.init(exported));
    texts.put("CMakeLists.txt", ProjectText.cmake(exported));
    texts.put("Makefile", ProjectText.makefile(exported));
    texts.put("README.md", ProjectText.readme(exported, signature));
    traces(texts, exported, exported.traces().size() == 1);
    Map<String, byte[]> files = bytes(texts);
    if (exported.sample() != null) {
      files.putAll(exported.sample().files());
    }
    return files;
  }

  /** Adds the traces of kernels; one alone needs no name. */
  static void traces(Map<String, String> texts, Exported exported, boolean alone) {
    exported
        .traces()
        .forEach(
            (kernel, trace) ->
                texts.put(alone ? "trace.json" : "trace-" + kernel + ".json", trace.toJson()));
  }

  static Map<String, byte[]> bytes(Map<String, String> texts) {
    Map<String, byte[]> files = new LinkedHashMap<>();
    texts.forEach((name, text) -> files.put(name, text.getBytes(StandardCharsets.UTF_8)));
    return files;
  }

  /** Options of nvcc; -arch=sm_90a would compile for sm_90, too, which lacks instructions. */
  static String flags(GpuTarget target) {
    String number = target.name().substring("sm_".length());
    return String.format(
        Locale.ROOT,
        "-gencode=arch=compute_%s,code=sm_%s -std=c++17 -fmad=false -O3",
        number,
        number);
  }
}
