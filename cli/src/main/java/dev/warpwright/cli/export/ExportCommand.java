package dev.warpwright.cli.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.command.NetworkOptions;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.export.CudaExport;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "export",
    description = {
      "Write a kernel, a tuned GEMM or a model as CUDA C++ with a host program that runs, checks"
          + " and times it, and as a PyTorch operator; nvcc alone compiles them.",
      "",
      "KEY=VALUE: the shape of a rung, 4096 unless given (MNK=4096 or MN=1024 K=2048); what makes a"
          + " GEMM, as for perf ('export gemm MNK=4096 dtype=bf16 bias=1 act=gelu -o DIR'); or"
          + " values of the kernel's scalars."
    })
public final class ExportCommand extends Command {
  private final Action<ExportRequest> action;

  @Parameters(
      index = "0",
      paramLabel = "WHAT",
      description =
          "ladder:RUNG, for example ladder:warp-tiles; gemm, for the best known kernel of a"
              + " GEMM; mlp, ffn or layer, for a network with random weights; a file of one kernel in"
              + " text, or of one function with --schedule; or a model's.")
  String what = "";

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY=VALUE", description = "See above.")
  List<String> arguments = List.of();

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      required = true,
      description = "Where the files go.")
  Path folder = Path.of(".");

  @Option(
      names = "--target",
      paramLabel = "T",
      split = ",",
      converter = TargetName.Converter.class,
      description =
          "The GPU: auto (this machine's, sm_90a where there is none), sm_75, sm_80, sm_86, sm_89 or"
              + " sm_90a; or several, as sm_80,sm_86,sm_90a:"
              + " then all are built, and the one that fits is found at run time.")
  List<TargetName> targets = List.of(TargetName.AUTO);

  @Mixin NetworkOptions network = new NetworkOptions();

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "The number of rows that a model is compiled for and checked on (256).")
  int rows = 256;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "Of the function, the PyTorch operator and the project; default: after the model or the"
              + " kernel. Two exports in one process need two.")
  @Nullable String name;

  @Option(
      names = "--schedule",
      paramLabel = "STEPS",
      description =
          "Of a file that holds a function: how it is scheduled, as 'kernel' takes it and 'tune"
              + " FILE.ir' writes it.")
  @Nullable Path schedule;

  @Option(
      names = "--force",
      description = "Replace files in DIR that no export wrote, or that were changed since.")
  boolean force;

  @Option(
      names = "--cubin",
      description =
          "Machine code in place of sources, with a manifest in JSON and a loader in C of one"
              + " header; it is compiled here.")
  boolean cubin;

  @Option(
      names = "--java",
      description =
          "A Java class with machine code in it and a method that launches it; it needs the jars "
              + CudaExport.JARS
              + ", and no compiler.")
  boolean java;

  public ExportCommand(Action<ExportRequest> action) {
    this.action = action;
  }

  private CudaExport.Form form() {
    if (cubin && java) {
      throw new UserError("--cubin or --java, not both; export into two folders");
    }
    if ((cubin || java) && targets.size() > 1) {
      throw new UserError(
          (cubin ? "--cubin" : "--java")
              + ": machine code is for one --target; export each into a folder of its own");
    }
    return cubin ? CudaExport.Form.CUBIN : java ? CudaExport.Form.JAVA : CudaExport.Form.SOURCES;
  }

  @Override
  public Report perform(Progress progress) {
    NetworkOptions.checkRows(rows);
    if (name != null && !name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
      throw new UserError(
          "--name "
              + name
              + ": letters, digits and _, the first one no digit; it names a function");
    }
    return action.perform(
        new ExportRequest(
            what,
            new KeyValues(arguments),
            folder,
            targets,
            network.precision(),
            network.architecture(),
            rows,
            name,
            form(),
            schedule,
            force),
        progress);
  }
}
