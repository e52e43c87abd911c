package dev.warpwright.compiler;

import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.npy.NpyFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A model file of the repository's folder {@code models}.
 *
 * @param file the model
 */
record RealModel(Path file) {
  static RealModel of(String path) {
    return new RealModel(models().resolve(path));
  }

  /** All ONNX files, those of both exporters. */
  static List<RealModel> all() {
    return ending(".onnx");
  }

  /** All files whose name ends like this. */
  static List<RealModel> ending(String end) {
    try (Stream<Path> files = Files.walk(models())) {
      return files
          .filter(file -> file.toString().endsWith(end))
          .sorted()
          .map(RealModel::new)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path models() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.isDirectory(folder.resolve("models"))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new IllegalStateException("no folder 'models' above the working directory");
    }
    return folder.resolve("models");
  }

  /** Loads it; weights without a graph get theirs from {@code arch.json}. */
  Model load() {
    boolean graph = file.toString().matches(".*\\.(onnx|pt2)");
    Path description = file.resolveSibling("arch.json");
    return Warpwright.load(file, graph ? null : Architecture.parse(description.toString()));
  }

  /** The network's name, that of its folder. */
  String network() {
    return file.getParent().getFileName().toString();
  }

  float[] input() {
    return NpyFile.read(file.resolveSibling("input.npy")).toFloats();
  }

  double[] expected() {
    return array("expected_f64.npy");
  }

  /** The array of a file beside the model. */
  double[] array(String name) {
    return NpyFile.read(file.resolveSibling(name)).toDoubles();
  }

  /** A number from {@code info.json}. */
  double info(String key) {
    try {
      String json = Files.readString(file.resolveSibling("info.json"));
      Matcher matcher = Pattern.compile("\"" + key + "\": ([-+.eE0-9]+)").matcher(json);
      if (!matcher.find()) {
        throw new IllegalStateException("no " + key + " in info.json of " + this);
      }
      return Double.parseDouble(matcher.group(1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    Path folder = file.getParent();
    return (folder == null ? "" : folder.getFileName() + "/") + file.getFileName();
  }
}
