package dev.warpwright.compiler;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.model.graph.Value;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What callers give for inputs or for outputs, looked at in one place: one line says what is wrong.
 */
final class ModelArguments {
  private final List<Value> values;
  private final String what;
  private final int[] features;

  /**
   * For values of a model.
   *
   * @param what {@code input} or {@code output}
   */
  ModelArguments(List<Value> values, String what) {
    this.values = List.copyOf(values);
    this.what = what;
    this.features = values.stream().mapToInt(Value::features).toArray();
  }

  int count() {
    return features.length;
  }

  int features(int index) {
    return features[index];
  }

  /** The features of the only value. */
  int onlyFeatures() {
    if (features.length != 1) {
      throw new UserError(
          "the model has "
              + features.length
              + " "
              + what
              + "s: "
              + names()
              + "; runAll takes and gives them by name");
    }
    return features[0];
  }

  String name(int index) {
    return values.get(index).name();
  }

  /** Refuses an index that no value has. */
  void checkIndex(int index) {
    if (index < 0 || index >= features.length) {
      throw new UserError(
          "index = " + index + ": the model has " + features.length + " " + what + "s, from 0 on");
    }
  }

  /** Refuses row counts of which one of the values is no array of Java. */
  void checkArrays(int rows) {
    for (int i = 0; i < features.length; i++) {
      if ((long) rows * features[i] > Integer.MAX_VALUE) {
        throw new UserError(
            "rows = "
                + rows
                + ": the "
                + quoted(i)
                + " would have more elements than an array of Java");
      }
    }
  }

  private String names() {
    return values.stream().map(v -> Names.quote(v.name())).collect(Collectors.joining(", "));
  }

  private String quoted(int index) {
    return what + " " + Names.quote(name(index));
  }

  /** The rows of so many elements of a value. */
  int rows(int index, long elements) {
    int width = features[index];
    long rows = elements / width;
    if (rows * width != elements) {
      throw new UserError(
          "the "
              + quoted(index)
              + " has "
              + elements
              + " elements, which are no whole rows of "
              + width
              + " features");
    }
    if (rows > Integer.MAX_VALUE) {
      throw new UserError("the " + quoted(index) + " has " + rows + " rows, more than 2^31 - 1");
    }
    return (int) rows;
  }

  /** Refuses what has not exactly so many rows, or is null. */
  void check(int index, int rows, @Nullable TensorBuffer tensor) {
    long wanted = needed(index, rows, tensor);
    if (tensor != null && tensor.elements() != wanted) {
      throw wrongLength(index, rows, tensor, wanted);
    }
  }

  /** Refuses what has fewer rows, or is null. */
  void checkAtLeast(int index, int rows, @Nullable TensorBuffer tensor) {
    long wanted = needed(index, rows, tensor);
    if (tensor != null && tensor.elements() < wanted) {
      throw wrongLength(index, rows, tensor, wanted);
    }
  }

  /** The only value, of at least so many rows; refuses all else. */
  TensorBuffer[] only(int rows, @Nullable TensorBuffer tensor) {
    onlyFeatures();
    checkRows(rows);
    checkAtLeast(0, rows, tensor);
    return new TensorBuffer[] {tensor};
  }

  private static void checkRows(int rows) {
    if (rows < 0) {
      throw new UserError("a model runs 0 or more rows, not " + rows);
    }
  }

  private long needed(int index, int rows, @Nullable TensorBuffer tensor) {
    if (tensor == null) {
      throw new UserError(
          "the "
              + quoted(index)
              + " is null; it needs "
              + rows
              + " rows of "
              + features[index]
              + " features");
    }
    return (long) rows * features[index];
  }

  private UserError wrongLength(int index, int rows, TensorBuffer tensor, long wanted) {
    return new UserError(
        "the "
            + quoted(index)
            + " has "
            + tensor.elements()
            + " elements, "
            + rows
            + " rows of "
            + features[index]
            + " features need "
            + wanted);
  }

  /**
   * Refuses outputs that cannot be written, or that are memory of an input.
   *
   * @param tensors the outputs
   */
  void checkWritable(TensorBuffer[] tensors, TensorBuffer[] in, ModelArguments inputs) {
    for (int i = 0; i < tensors.length; i++) {
      if (tensors[i].isReadOnly()) {
        throw new UserError("the " + quoted(i) + " is read-only");
      }
      for (int j = 0; j < in.length; j++) {
        if (tensors[i].overlaps(in[j])) {
          throw new UserError(
              "the "
                  + quoted(i)
                  + " overlaps the "
                  + inputs.quoted(j)
                  + "; give it memory of its own");
        }
      }
    }
  }

  /** One array of so many rows for each value, in the model's order; refuses all else. */
  TensorBuffer[] checked(int rows, List<float[]> arrays) {
    checkRows(rows);
    if (arrays.size() != features.length) {
      throw new UserError(
          "the model has " + features.length + " " + what + "s, not " + arrays.size());
    }
    TensorBuffer[] tensors = new TensorBuffer[features.length];
    for (int i = 0; i < tensors.length; i++) {
      float[] array = arrays.get(i);
      check(i, rows, array == null ? null : TensorBuffer.of(array));
      tensors[i] = TensorBuffer.of(array);
    }
    return tensors;
  }

  /** What is given for each value, of at least so many rows, in the model's order. */
  TensorBuffer[] inOrder(int rows, Map<String, ? extends @Nullable TensorBuffer> byName) {
    checkRows(rows);
    TensorBuffer[] tensors = inOrder(byName);
    for (int i = 0; i < tensors.length; i++) {
      checkAtLeast(i, rows, tensors[i]);
    }
    return tensors;
  }

  /** What is given for each value, in the model's order. */
  TensorBuffer[] inOrder(@Nullable Map<String, ? extends @Nullable TensorBuffer> byName) {
    if (byName == null) {
      throw new UserError("the map of " + what + "s is null; it needs " + wanted());
    }
    for (String name : byName.keySet()) {
      if (values.stream().noneMatch(v -> v.name().equals(name))) {
        throw new UserError(
            "the model has no "
                + what
                + " "
                + Names.quote(String.valueOf(name))
                + "; it needs "
                + wanted());
      }
    }
    TensorBuffer[] tensors = new TensorBuffer[features.length];
    for (int i = 0; i < tensors.length; i++) {
      TensorBuffer tensor = byName.get(name(i));
      if (tensor == null) {
        throw new UserError(
            "there is nothing for the model's " + quoted(i) + "; it needs " + wanted());
      }
      tensors[i] = tensor;
    }
    return tensors;
  }

  private String wanted() {
    return values.stream()
        .map(v -> Names.quote(v.name()) + " of " + v.features() + " features")
        .collect(Collectors.joining(", "));
  }
}
