package dev.warpwright.cli.manual;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@CommandLine.Command(
    name = "completion",
    description = {
      "Print a script by which bash and zsh complete commands, options and their values: 'source"
          + " <(warpwright completion)'. The distribution has it in share/bash-completion."
    })
public final class CompletionCommand extends Command {
  @Spec @Nullable CommandSpec spec;

  @Override
  public Report perform(Progress progress) {
    CommandSpec own = spec;
    if (own == null) {
      throw new IllegalStateException("the command is no part of a command line");
    }
    String script = AutoComplete.bash("warpwright", own.root().commandLine());
    return new Report(true, script.stripTrailing(), Json.object().with("script", script));
  }
}
