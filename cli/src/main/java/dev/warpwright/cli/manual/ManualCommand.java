package dev.warpwright.cli.manual;

import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes the pages; the distribution is made with it. */
@CommandLine.Command(
    name = "manual",
    hidden = true,
    description = "Write a page for 'man' for each command: warpwright.1, warpwright-run.1, …")
public final class ManualCommand extends Command {
  @Spec @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "DIR", description = "Where the pages go.")
  Path folder = Path.of(".");

  @Override
  public Report perform(Progress progress) {
    CommandSpec own = spec;
    if (own == null) {
      throw new IllegalStateException("the command is no part of a command line");
    }
    Map<String, byte[]> files = new LinkedHashMap<>();
    pages(own.root())
        .forEach((name, text) -> files.put(name, text.getBytes(StandardCharsets.UTF_8)));
    AtomicFile.writeAll(folder, files);
    return new Report(
        true,
        OneLine.of("wrote " + files.size() + " pages into " + folder),
        Json.object().with("files", Json.array(files.keySet(), Json::of)));
  }

  /** The pages of a command and those below it, by their files' names. */
  static Map<String, String> pages(CommandSpec command) {
    Map<String, String> pages = new LinkedHashMap<>();
    add(command, pages);
    return pages;
  }

  private static void add(CommandSpec command, Map<String, String> pages) {
    if (command.usageMessage().hidden()) {
      return;
    }
    pages.put(ManPage.name(command) + ".1", ManPage.of(command));
    command.subcommands().values().forEach(sub -> add(sub.getCommandSpec(), pages));
  }
}
