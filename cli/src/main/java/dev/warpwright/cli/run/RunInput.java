package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.npy.NpyArray;
import dev.warpwright.model.npy.NpyFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * What a model is run on.
 *
 * @param values of each input, [rows, features], row-major
 * @param leading the shape in which the rows came
 */
record RunInput(List<float[]> values, int rows, List<Long> leading) {
  private static final int DEFAULT_ROWS = 64;

  /**
   * The input that a request names, or random numbers for all.
   *
   * @param inputs the model's
   * @param outputs what the model computes
   * @throws UserError if the file does not fit the model, or the rows do not fit into memory
   */
  static RunInput of(
      RunRequest request, List<Value> inputs, List<Value> outputs, Progress progress) {
    Path file = request.input();
    ImageSize image = request.output().image();
    if (file == null
        && image != null
        && request.model().batch().isEmpty()
        && inputs.size() == 1
        && inputs.getFirst().features() == 2) {
      Heap.checkRun("--image " + image, image.pixels(), 2, outputs);
      return pixels(image);
    }
    if (file == null) {
      return random(request, inputs, outputs);
    }
    if (inputs.size() != 1) {
      throw new UserError(
          file
              + ": the model has "
              + inputs.size()
              + " inputs; run takes one file for one, leave out --input for random data");
    }
    Value value = inputs.getFirst();
    RunInput input = read(file, request, value, outputs, progress);
    float[] values = input.values.getFirst();
    NonFinite.tell(file.toString(), values.length, value.features(), i -> values[i], progress);
    return input;
  }

  /** The places of pixels, x and y from -1 to 1, x fastest; of one row or column 0. */
  private static RunInput pixels(ImageSize image) {
    float[] places = new float[Math.toIntExact(2 * image.pixels())];
    for (int y = 0; y < image.height(); y++) {
      for (int x = 0; x < image.width(); x++) {
        int at = 2 * (y * image.width() + x);
        places[at] = place(x, image.width());
        places[at + 1] = place(y, image.height());
      }
    }
    return new RunInput(
        List.of(places), places.length / 2, List.of((long) image.height(), (long) image.width()));
  }

  private static float place(int pixel, int of) {
    return of == 1 ? 0 : (float) (2.0 * pixel / (of - 1) - 1);
  }

  private static RunInput random(RunRequest request, List<Value> inputs, List<Value> outputs) {
    long rows = request.model().batch().orElse(fixedRows(inputs.getFirst()));
    int widest = inputs.stream().mapToInt(Value::features).max().orElseThrow();
    Heap.checkRun("--batch " + rows, rows, widest, outputs);
    Random random = new Random(request.seed());
    List<float[]> all = new ArrayList<>();
    for (Value input : inputs) {
      float[] values = new float[(int) rows * input.features()];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) random.nextGaussian();
      }
      all.add(values);
    }
    return new RunInput(all, (int) rows, List.of(rows));
  }

  private static RunInput read(
      Path file, RunRequest request, Value value, List<Value> outputs, Progress progress) {
    int features = value.features();
    NpyArray array = NpyFile.read(file);
    List<Long> shape = array.shape();
    List<Long> leading = leading(shape, value);
    if (leading == null) {
      throw new UserError(
          file + ": the input has the shape " + shape + ", the model takes " + value.typeText());
    }
    if (!array.type().isFloat()) {
      throw new UserError(
          file
              + ": the input holds "
              + array.type().code()
              + ", the model takes floats; save it as float32");
    }
    long rows = array.count() / features;
    Heap.checkRun(file.toString(), rows, features, outputs);
    float[] values = array.toFloats();
    if (request.model().batch().isEmpty()) {
      return new RunInput(List.of(values), (int) rows, leading);
    }
    int wanted = request.model().batch().getAsInt();
    if (wanted > rows) {
      throw new UserError("--batch " + wanted + ": " + file + " has only " + rows + " rows");
    }
    if (wanted < rows) {
      progress.say(
          String.format(Locale.ROOT, "--batch %d: the first of %d rows of %s", wanted, rows, file));
    }
    return new RunInput(
        List.of(Arrays.copyOf(values, wanted * features)), wanted, List.of((long) wanted));
  }

  /**
   * The dimensions that are rows: those before the model's dimensions of features, or before one
   * that has them all. Null if neither fits.
   */
  private static @Nullable List<Long> leading(List<Long> shape, Value value) {
    for (List<Long> features : List.of(value.trailing(), List.of((long) value.features()))) {
      int split = shape.size() - features.size();
      if (split >= 0 && shape.subList(split, shape.size()).equals(features)) {
        return shape.subList(0, split);
      }
    }
    return null;
  }

  /** The rows that the file fixes, or a default. */
  private static int fixedRows(Value value) {
    long rows = 1;
    for (Dim dim : value.leading()) {
      if (!(dim instanceof Dim.Fixed(long size))) {
        return DEFAULT_ROWS;
      }
      rows *= size;
    }
    return Math.toIntExact(rows);
  }

  /**
   * The outputs that a request expects.
   *
   * @return [rows, features] each; nothing for those that it names no file for
   * @throws UserError if a file does not fit
   */
  Map<Value, double[]> expected(RunRequest request, List<Value> outputs) {
    Map<Value, double[]> expected = new HashMap<>();
    request
        .expect()
        .of(outputs)
        .forEach((output, file) -> expected.put(output, expected(file, request, output)));
    return expected;
  }

  /**
   * An output that a request expects.
   *
   * @param value the model's output
   * @return [rows, features]
   * @throws UserError if the file does not fit
   */
  private double[] expected(Path file, RunRequest request, Value value) {
    int features = value.features();
    NpyArray array = NpyFile.read(file);
    List<Long> shape = array.shape();
    long wanted = (long) rows * features;
    boolean fits =
        leading(shape, value) != null
            && (request.model().batch().isPresent()
                ? array.count() >= wanted
                : array.count() == wanted);
    if (!fits) {
      throw new UserError(
          file
              + ": the expected output has the shape "
              + shape
              + ", "
              + rows
              + " rows of "
              + features
              + " features come out"
              + (request.input() == null ? "; give the rows that it belongs to as --input" : ""));
    }
    if (!array.type().isFloat()) {
      throw new UserError(
          file
              + ": the expected output holds "
              + array.type().code()
              + ", floats come out; save it as float64");
    }
    return Arrays.copyOf(array.toDoubles(), (int) wanted);
  }
}
