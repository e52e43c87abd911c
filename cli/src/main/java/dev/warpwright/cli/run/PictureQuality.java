package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.image.PngReader;
import dev.warpwright.model.npy.NpyArray;
import dev.warpwright.model.npy.NpyFile;
import java.nio.file.Path;
import java.util.Locale;

/**
 * How near a picture that came out is to another one: the peak signal-to-noise ratio.
 *
 * @param decibels 10 log10(1 / mean squared error) of values from 0 to 1; infinite if they are
 *     equal
 * @param beside the file of the other picture
 */
record PictureQuality(double decibels, Path beside) {
  /** Values are clamped to what a picture can show. */
  static PictureQuality of(float[] got, double[] wanted, Path beside) {
    double sum = 0;
    for (int i = 0; i < got.length; i++) {
      double difference = Math.clamp((double) got[i], 0, 1) - Math.clamp(wanted[i], 0, 1);
      sum += difference * difference;
    }
    return new PictureQuality(10 * Math.log10(got.length / sum), beside);
  }

  /**
   * The values of a picture.
   *
   * @param beside a .png file, or a .npy file of as many numbers
   * @param output that it is compared with
   * @throws UserError if it is another size
   */
  static double[] read(Path beside, ImageSize image, Value output) {
    double[] values;
    if (beside.toString().endsWith(".png")) {
      PngReader.Picture picture = PngReader.read(beside);
      if (picture.width() != image.width()
          || picture.height() != image.height()
          || picture.channels() != output.features()) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "%s: %dx%d pixels of %d channels, the output has %s of %d",
                beside,
                picture.width(),
                picture.height(),
                picture.channels(),
                image,
                output.features()));
      }
      values = new double[picture.values().length];
      for (int i = 0; i < values.length; i++) {
        values[i] = picture.values()[i];
      }
    } else {
      NpyArray array = NpyFile.read(beside);
      if (array.count() != image.pixels() * output.features() || !array.type().isFloat()) {
        throw new UserError(
            beside
                + ": "
                + array.shape()
                + " of "
                + array.type().code()
                + ", the output is "
                + image
                + " pixels of "
                + output.features()
                + " floats");
      }
      values = array.toDoubles();
    }
    return values;
  }

  String text() {
    return String.format(Locale.ROOT, "PSNR %.2f dB beside %s", decibels, beside);
  }

  Json json() {
    return Json.object().with("psnr", decibels).with("beside", beside.toString());
  }
}
