package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "analyze",
    description = {
      "What a workload costs on a device: memory or compute bound, waves and tail, L2.",
      "",
      "gemm           M= N= K=",
      "ffn            M=, D=4096 H=14336 gated=1",
      "attention      M= queries, S= keys, heads=32 kv=8 d=128 batch=1 causal=1",
      "model=         llama3-8b, llama2-13b, llama3-70b or gpt3; M= tokens, batch= sequences, S="
          + " keys",
      "file=          a model of your own: {\"layers\": [{\"name\": \"up\", \"N\": 13824, \"K\":"
          + " 5120}]}; M=",
      "gpu=h200       devices of the catalogue, with commas: a100,a40,4090,3050,h200",
      "gpufile=       a device of your own: {\"name\": \"mine\", \"like\": \"a100\", \"SMs\": 96,"
          + " \"GBs\": 1600}",
      "M=1..4096      one number may be a range: a line for each, doubled each time",
      "dtype=bf16     f32, tf32, f16, bf16, e4m3, e5m2 or int8",
      ""
    })
public final class AnalyzeCommand extends Command {
  private final Action<AnalyzeRequest> action;

  @Parameters(arity = "0..*", paramLabel = "WORD", description = "A kind and its values.")
  List<String> words = List.of();

  @Option(names = "--csv", paramLabel = "FILE", description = "Write the table there.")
  @Nullable Path csv;

  @Option(names = "--svg", paramLabel = "FILE", description = "Draw the roofline there.")
  @Nullable Path svg;

  public AnalyzeCommand(Action<AnalyzeRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    AnalyzeSweep sweep = AnalyzeSweep.of(words, at -> AnalyzeRequest.of(at, null, null));
    if (sweep != null) {
      if (csv != null || svg != null) {
        throw new UserError("--csv and --svg are of one workload; give no range");
      }
      return sweep.report();
    }
    return action.perform(AnalyzeRequest.of(words, csv, svg), progress);
  }
}
