package dev.warpwright.cli.manual;

import dev.warpwright.cli.command.Command;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** A command's page for {@code man}, in roff, of what picocli knows of the command. */
final class ManPage {
  private static final String EXIT =
      """
      .SH EXIT STATUS
      .TP
      0
      Done, and verified where there is something to verify.
      .TP
      1
      The result is wrong, or a check failed.
      .TP
      2
      Bad usage or bad input; one line says what, where and what to do.
      .TP
      3
      The device or the compiler is missing, or failed.
      """;

  private ManPage() {}

  /** The page's name: {@code warpwright-db-list}. */
  static String name(CommandSpec command) {
    return command.qualifiedName("-");
  }

  static String of(CommandSpec command) {
    CommandLine line = command.commandLine();
    List<String> description =
        List.of(command.usageMessage().description()).stream()
            .map(text -> String.format(Locale.ROOT, text))
            .toList();
    StringBuilder out = new StringBuilder();
    out.append(".TH ")
        .append(quoted(name(command).toUpperCase(Locale.ROOT)))
        .append(" 1 \"\" \"Warpwright\" \"Warpwright Manual\"\n");
    out.append(".SH NAME\n").append(text(name(command))).append(" \\- ");
    out.append(text(firstSentence(String.join(" ", description)))).append('\n');
    out.append(".SH SYNOPSIS\n.nf\n");
    line.getHelp()
        .synopsis(0)
        .lines()
        .forEach(each -> out.append(text(each.stripTrailing())).append('\n'));
    out.append(".fi\n.SH DESCRIPTION\n");
    for (String paragraph : description) {
      out.append(paragraph.isEmpty() ? ".PP" : text(paragraph)).append('\n');
    }
    parameters(out, command);
    options(out, command);
    commands(out, command);
    if (command.userObject() instanceof Command) {
      out.append(EXIT);
    }
    seeAlso(out, command);
    return out.toString();
  }

  private static void parameters(StringBuilder out, CommandSpec command) {
    List<PositionalParamSpec> shown =
        command.positionalParameters().stream().filter(each -> !each.hidden()).toList();
    if (shown.isEmpty()) {
      return;
    }
    out.append(".SH ARGUMENTS\n");
    for (PositionalParamSpec each : shown) {
      out.append(".TP\n.I ").append(text(each.paramLabel())).append('\n');
      description(out, each.description());
    }
  }

  private static void options(StringBuilder out, CommandSpec command) {
    List<OptionSpec> shown = command.options().stream().filter(each -> !each.hidden()).toList();
    if (shown.isEmpty()) {
      return;
    }
    out.append(".SH OPTIONS\n");
    for (OptionSpec each : shown) {
      List<String> names = new ArrayList<>();
      for (String name : each.names()) {
        names.add("\\fB" + text(name) + "\\fR");
      }
      String value = each.arity().max() == 0 ? "" : "=\\fI" + text(each.paramLabel()) + "\\fR";
      out.append(".TP\n").append(String.join(", ", names)).append(value).append('\n');
      description(out, each.description());
    }
  }

  private static void description(StringBuilder out, String[] description) {
    for (String each : description) {
      out.append(text(String.format(Locale.ROOT, each))).append('\n');
    }
  }

  private static void commands(StringBuilder out, CommandSpec command) {
    List<CommandSpec> shown = below(command);
    if (shown.isEmpty()) {
      return;
    }
    out.append(".SH COMMANDS\n");
    for (CommandSpec each : shown) {
      out.append(".TP\n.B ").append(text(each.name())).append('\n');
      out.append(text(firstSentence(String.join(" ", List.of(each.usageMessage().description())))));
      out.append('\n');
    }
  }

  private static List<CommandSpec> below(CommandSpec command) {
    return command.subcommands().values().stream()
        .map(CommandLine::getCommandSpec)
        .filter(each -> !each.usageMessage().hidden())
        .toList();
  }

  private static void seeAlso(StringBuilder out, CommandSpec command) {
    List<String> others = new ArrayList<>();
    if (command.parent() != null) {
      others.add(name(command.parent()));
    }
    below(command).forEach(each -> others.add(name(each)));
    if (!others.isEmpty()) {
      out.append(".SH SEE ALSO\n");
      for (int i = 0; i < others.size(); i++) {
        String comma = i + 1 < others.size() ? " ," : "";
        out.append(".BR ").append(text(others.get(i))).append(" (1)").append(comma).append('\n');
      }
    }
  }

  /** The first sentence, without its full stop. */
  private static String firstSentence(String text) {
    int end = text.indexOf(". ");
    int colon = text.indexOf(": ");
    int cut = end < 0 ? colon : colon < 0 ? end : Math.min(end, colon);
    String sentence = cut < 0 ? text : text.substring(0, cut);
    return sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
  }

  private static String quoted(String text) {
    return '"' + text(text) + '"';
  }

  /** Text as roff has to be told it: nothing in it is a command. */
  private static String text(String text) {
    String plain = Ansi.OFF.string(text).replace("\\", "\\e").replace("-", "\\-");
    return plain.startsWith(".") || plain.startsWith("'") ? "\\&" + plain : plain;
  }
}
