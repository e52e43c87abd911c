package dev.warpwright.cli.run;

import dev.warpwright.ir.UserError;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.image.Png;
import dev.warpwright.model.npy.NpyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a run's output goes.
 *
 * @param file the .npy or .png file; null for nowhere
 * @param image the size of the picture that the output is; null for an array
 */
public record Output(@Nullable Path file, @Nullable ImageSize image) {
  /**
   * Checks what can be known before the run, which may take long.
   *
   * @throws UserError if the file cannot be written or the output is no such picture
   */
  void check(int rows, int features) {
    if (file == null) {
      return;
    }
    Path folder = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file)) {
      throw new UserError("cannot write " + file + ": it is a folder");
    }
    if (folder == null || !Files.isDirectory(folder)) {
      throw new UserError("cannot write " + file + ": there is no folder " + folder);
    }
    if (!Files.isWritable(Files.exists(file) ? file : folder)) {
      throw new UserError("cannot write " + file + ": permission denied");
    }
    if (image != null && features != 1 && features != 3) {
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

  /**
   * Writes in one step: never half of it.
   *
   * @param values [rows, features]
   * @param leading the dimensions of the rows
   * @param value the model's output
   */
  void write(float[] values, List<Long> leading, Value value) {
    if (file == null) {
      return;
    }
    if (image == null) {
      List<Long> shape = new ArrayList<>(leading);
      shape.addAll(value.trailing());
      NpyFile.write(file, shape, values);
    } else {
      Png.write(file, image.width(), image.height(), value.features(), values);
    }
  }
}
