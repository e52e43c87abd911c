package dev.warpwright.cli;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.DeviceError;
import dev.warpwright.base.Spelling;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.output.LiveProgress;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Takes a command line apart, performs its command, prints the report, and names the exit code. */
final class Cli {
  /** If this is in the environment, what ends a command is printed with its stack trace. */
  private static final String TRACE = "WARPWRIGHT_TRACE";

  private final PrintStream out;
  private final PrintStream err;
  private final CommandLine parser;

  /**
   * @param commands the commands there are, in the order in which the help lists them
   */
  Cli(PrintStream out, PrintStream err, List<Command> commands) {
    this.out = out;
    this.err = err;
    var root = CommandSpec.create().name("warpwright");
    root.usageMessage()
        .description(
            "Turns fully connected networks and chains of matmuls into few fused, verified"
                + " kernels.")
        .synopsisSubcommandLabel("COMMAND");
    root.addOption(
        OptionSpec.builder("-h", "--help")
            .usageHelp(true)
            .description(
                "Print this help; 'warpwright COMMAND --help' and 'warpwright help COMMAND' tell"
                    + " about a command.")
            .build());
    this.parser = new CommandLine(root);
    // A word such as @mean is what it says, not a file of further words.
    parser.setExpandAtFiles(false);
    for (Command command : commands) {
      parser.addSubcommand(command);
    }
  }

  /** Performs the command of one command line; its result is one of {@link ExitCode}. */
  int execute(String... args) {
    // The command as a whole: what it reads, compiles, prints and refuses may all be deep.
    return DeepStack.call(() -> executeHere(args));
  }

  private int executeHere(String... args) {
    try {
      return written(out, err, perform(args));
    } catch (ParameterException e) {
      String command = e.getCommandLine().getCommandSpec().qualifiedName();
      return refuse(ExitCode.USAGE, OneLine.cut(what(e)) + "; see '" + command + " --help'", e);
    } catch (UserError e) {
      return refuse(ExitCode.USAGE, message(e), e);
    } catch (InvalidPathException e) {
      return refuse(ExitCode.USAGE, "'" + e.getInput() + "' cannot be a file's name", e);
    } catch (UncheckedIOException e) {
      return refuse(ExitCode.USAGE, reason(e), e);
    } catch (DeviceError e) {
      return refuse(ExitCode.DEVICE, message(e), e);
    } catch (OutOfMemoryError e) {
      String more = "; give Java more with WARPWRIGHT_JAVA_OPTS=-Xmx8g";
      return refuse(ExitCode.DEVICE, "out of memory (" + message(e) + ")" + more, e);
    } catch (StackOverflowError e) {
      return refuse(ExitCode.USAGE, "nested too deeply to be read or compiled", e);
    } catch (InternalError e) {
      // The only way in which Java tells that the pages of a mapped file are gone.
      return String.valueOf(e.getMessage()).contains("unsafe memory access")
          ? refuse(ExitCode.USAGE, "a file was cut off or its disk failed while it was read", e)
          : bug(e);
    } catch (RuntimeException | Error e) {
      return bug(e);
    }
  }

  /** What a command line has that there is not, and what was meant. */
  private static String what(ParameterException e) {
    CommandSpec spec = e.getCommandLine().getCommandSpec();
    if (!(e instanceof UnmatchedArgumentException unmatched)) {
      return message(e);
    }
    String given = unmatched.getUnmatched().getFirst().replaceFirst("=.*", "");
    boolean option = given.startsWith("-");
    List<String> known = new ArrayList<>();
    if (option) {
      spec.options().forEach(each -> known.addAll(List.of(each.names())));
    } else {
      known.addAll(spec.subcommands().keySet());
    }
    String meant = Spelling.meant(given, known).strip();
    boolean atRoot = !(e.getCommandLine().getCommand() instanceof Command);
    String no = atRoot || option ? "there is no '" + given + "'" : message(e);
    return no + (meant.isEmpty() ? "" : "; " + meant);
  }

  /** A PrintStream keeps its troubles to itself: a full disk must not look like success. */
  static int written(PrintStream out, PrintStream err, int code) {
    if (out.checkError()) {
      err.println("warpwright: cannot write to standard output");
      return ExitCode.USAGE;
    }
    return code;
  }

  /** The end of every road that nobody thought of. */
  private int bug(Throwable e) {
    return refuse(
        ExitCode.DEVICE,
        OneLine.cut("this is a bug in warpwright: " + e)
            + "; please report it with what "
            + TRACE
            + "=1 prints",
        e);
  }

  private int refuse(int code, String line, Throwable e) {
    say(line);
    if (System.getenv(TRACE) != null) {
      e.printStackTrace(err);
    }
    return code;
  }

  /** {@code help} and {@code help run}, which other tools have, mean {@code --help}. */
  private String[] asOption(String... args) {
    if (args.length == 0 || !args[0].equals("help")) {
      return args;
    }
    if (args.length > 1 && !parser.getSubcommands().containsKey(args[1])) {
      String meant = Spelling.meant(args[1], parser.getSubcommands().keySet()).strip();
      throw new ParameterException(
          parser, "there is no '" + args[1] + "'" + (meant.isEmpty() ? "" : "; " + meant));
    }
    List<String> words = new ArrayList<>(List.of(args).subList(1, args.length));
    words.add("--help");
    return words.toArray(String[]::new);
  }

  private int perform(String... args) {
    ParseResult parsed = parser.parseArgs(asOption(args));
    while (parsed.hasSubcommand()) {
      parsed = parsed.subcommand();
    }
    CommandLine line = parsed.commandSpec().commandLine();
    if (parsed.isUsageHelpRequested()) {
      out.print(line.getUsageMessage(Ansi.OFF));
      return ExitCode.OK;
    }
    if (!(parsed.commandSpec().userObject() instanceof Command command)) {
      throw new ParameterException(line, "a command is missing");
    }
    Report report;
    LiveProgress progress = new LiveProgress(err, LiveProgress.isTerminal());
    try {
      report = command.perform(progress);
    } finally {
      progress.end();
    }
    print(out, report, command.json);
    return report.code();
  }

  /** Prints a report the way {@code json} asks for. */
  static void print(PrintStream out, Report report, boolean json) {
    String text = json ? report.json().write() : report.text();
    if (!text.isEmpty()) {
      out.println(text);
    }
  }

  private void say(String line) {
    err.println("warpwright: " + OneLine.cut(line));
  }

  private static String message(Throwable e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message;
  }

  private static String reason(UncheckedIOException e) {
    Throwable cause = e.getCause();
    return switch (cause) {
      case null -> message(e);
      case NoSuchFileException missing -> missing.getFile() + ": no such file";
      case AccessDeniedException denied -> denied.getFile() + ": no permission";
      case NotDirectoryException file -> file.getFile() + ": not a folder";
      default -> message(cause);
    };
  }
}
