package dev.warpwright.cli.run;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.model.graph.Value;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which file belongs to which output of a model, as an option says it: {@code FILE} for a model of
 * one output; for several {@code NAME=FILE}, once for each that is wanted, or a folder with a file
 * {@code NAME.npy} for each.
 *
 * @param option its name, for messages
 * @param given what was given for it, each time
 */
public record OutputFiles(String option, List<String> given) {
  public OutputFiles {
    given = List.copyOf(given);
  }

  /**
   * The files, of some outputs or of all.
   *
   * @throws UserError if something else was given than the class says
   */
  Map<Value, Path> of(List<Value> outputs) {
    Map<Value, Path> files = new LinkedHashMap<>();
    for (String text : given) {
      Value named = named(text, outputs);
      if (named != null) {
        if (files.put(named, path(text, text.substring(named.name().length() + 1))) != null) {
          throw new UserError(
              option + ": there are two files for output " + Names.quote(named.name()));
        }
      } else if (given.size() > 1) {
        throw new UserError(
            option + " " + text + ": not NAME=FILE with the name of an output: " + names(outputs));
      } else if (outputs.size() == 1) {
        files.put(outputs.getFirst(), path(text, text));
      } else {
        files.putAll(inFolder(text, outputs));
      }
    }
    return files;
  }

  /** The output that comes before an equals sign; of {@code a=b=c} and outputs a and a=b, a=b. */
  private static @Nullable Value named(String text, List<Value> outputs) {
    return outputs.stream()
        .filter(output -> text.startsWith(output.name() + "="))
        .max(Comparator.comparingInt(output -> output.name().length()))
        .orElse(null);
  }

  private Map<Value, Path> inFolder(String text, List<Value> outputs) {
    Path folder = path(text, text);
    boolean isFile = text.endsWith(".npy") || text.endsWith(".png") || Files.isRegularFile(folder);
    if (isFile || text.contains("=") && !Files.isDirectory(folder)) {
      throw new UserError(
          option
              + " "
              + text
              + ": the model has "
              + outputs.size()
              + " outputs, "
              + names(outputs)
              + "; give a folder, or NAME=FILE for each");
    }
    Map<Value, Path> files = new LinkedHashMap<>();
    Set<String> taken = new HashSet<>();
    for (Value output : outputs) {
      files.put(output, folder.resolve(fileName(output.name(), taken)));
    }
    return files;
  }

  /** A name that is safe in every folder, and no other output's. */
  private static String fileName(String name, Set<String> taken) {
    String safe = name.replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^[.-]", "_");
    String fresh = safe;
    for (int i = 2; !taken.add(fresh); i++) {
      fresh = safe + "_" + i;
    }
    return fresh + ".npy";
  }

  private Path path(String text, String file) {
    try {
      if (!file.isEmpty()) {
        return Path.of(file);
      }
    } catch (InvalidPathException e) {
      throw new UserError(option + " " + Names.printable(text) + ": no name of a file", e);
    }
    throw new UserError(option + " " + text + ": no name of a file");
  }

  private static String names(List<Value> outputs) {
    return outputs.stream().map(v -> Names.quote(v.name())).collect(Collectors.joining(", "));
  }
}
