package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.image.Png;
import dev.warpwright.model.npy.NpyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a run's outputs go.
 *
 * @param files the .npy or .png files; none for nowhere
 * @param image the size of the picture that an output is; null for arrays
 * @param beside a picture that it is compared with; null for none
 */
public record Output(OutputFiles files, @Nullable ImageSize image, @Nullable Path beside) {
  /** Outputs that are compared with no picture. */
  public Output(OutputFiles files, @Nullable ImageSize image) {
    this(files, image, null);
  }

  /**
   * The file of each output that is to be written, checked as far as can be known before the run,
   * which may take long.
   *
   * @throws UserError if a file cannot be written or an output is no such picture
   */
  Map<Value, Path> check(int rows, List<Value> outputs) {
    Map<Value, Path> chosen = files.of(outputs);
    if (image != null
        && !chosen.isEmpty()
        && chosen.keySet().stream().noneMatch(v -> isPicture(chosen.get(v), outputs))) {
      throw new UserError(
          "--image " + image + ": say which output is the picture, --out NAME=FILE.png");
    }
    chosen.forEach((output, file) -> check(rows, output, file, outputs));
    return chosen;
  }

  private void check(int rows, Value output, Path file, List<Value> outputs) {
    Path folder = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file)) {
      throw new UserError("cannot write " + file + ": it is a folder");
    }
    if (folder != null && outputs.size() > 1 && files.given().size() == 1) {
      makeFolder(folder);
    }
    if (folder == null || !Files.isDirectory(folder)) {
      throw new UserError("cannot write " + file + ": there is no folder " + folder);
    }
    if (!Files.isWritable(Files.exists(file) ? file : folder)) {
      throw new UserError("cannot write " + file + ": permission denied");
    }
    if (!isPicture(file, outputs)) {
      return;
    }
    check(rows, output);
  }

  /** Whether the rows of an output are pixels. */
  private void check(int rows, Value output) {
    int features = output.features();
    if (features != 1 && features != 3) {
      throw new UserError(
          "--image " + image + ": a pixel has 1 or 3 values, the model's output has " + features);
    }
    if (image != null && image.pixels() != rows) {
      throw new UserError(
          "--image "
              + image
              + ": that is "
              + image.pixels()
              + " pixels, the output has "
              + rows
              + " rows");
    }
  }

  /** The folder for several outputs, in one that is there. */
  private static void makeFolder(Path folder) {
    Path parent = folder.getParent();
    if (!Files.exists(folder) && parent != null && Files.isDirectory(parent)) {
      try {
        Files.createDirectory(folder);
      } catch (IOException e) {
        throw new UserError("cannot write to " + folder + ": it cannot be made", e);
      }
    }
  }

  /**
   * The picture that the output is compared with, by its values; null for none.
   *
   * @throws UserError if it cannot be read, has another size, or the model several outputs
   */
  double @Nullable [] compared(int rows, List<Value> outputs) {
    if (beside == null || image == null) {
      return null;
    }
    if (outputs.size() != 1) {
      throw new UserError(
          "--beside " + beside + ": for models of one output, this has " + outputs.size());
    }
    check(rows, outputs.getFirst());
    return PictureQuality.read(beside, image, outputs.getFirst());
  }

  private boolean isPicture(@Nullable Path file, List<Value> outputs) {
    return image != null && (outputs.size() == 1 || String.valueOf(file).endsWith(".png"));
  }

  /**
   * Writes each output in one step: never half of it.
   *
   * @param chosen what {@link #check} said
   * @param results [rows, features] of each output
   * @param leading the dimensions of the rows
   * @param outputs of the model
   */
  void write(
      Map<Value, Path> chosen, List<float[]> results, List<Long> leading, List<Value> outputs) {
    chosen.forEach(
        (output, file) -> {
          float[] values = results.get(outputs.indexOf(output));
          if (image != null && isPicture(file, outputs)) {
            Png.write(file, image.width(), image.height(), output.features(), values);
          } else {
            List<Long> shape = new ArrayList<>(leading);
            shape.addAll(output.trailing());
            NpyFile.write(file, shape, values);
          }
        });
  }
}
