package dev.warpwright.parallel.split;

import dev.warpwright.model.graph.ConstantTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What a device holds of a constant.
 *
 * @param whole the constant
 * @param kind which part
 * @param devices how many have a part
 */
public record Slice(ConstantTensor whole, Kind kind, int devices) {
  /** How a constant is divided. */
  public enum Kind {
    /**
     * Features: rows of a weight [N, K], elements of a vector [N]. The last device's are filled up
     * with the last feature.
     */
    FEATURES,
    /** Inputs: columns of a weight [N, K]. The last device's are filled up with zeros. */
    INPUTS,
    /** All on the first device, zeros on the others: what is added once to a sum. */
    FIRST
  }

  /** Features of a device, of so many in all. */
  static int share(int features, int devices) {
    return Math.ceilDiv(features, devices);
  }

  /** The part of a device, always a new tensor. */
  ConstantTensor of(int device) {
    return switch (kind) {
      case FEATURES -> features(device);
      case INPUTS -> inputs(device);
      case FIRST ->
          tensor(
              whole.shape(),
              device == 0
                  ? whole.data()
                  : Arena.ofAuto().allocate(whole.data().byteSize(), Long.BYTES));
    };
  }

  private ConstantTensor tensor(List<Long> shape, MemorySegment data) {
    return new ConstantTensor(whole.name(), whole.dtype(), shape, data);
  }

  private ConstantTensor features(int device) {
    long all = whole.shape().getFirst();
    long share = share((int) all, devices);
    long row = whole.data().byteSize() / all;
    List<Long> shape = new ArrayList<>(whole.shape());
    shape.set(0, share);
    long first = device * share;
    if (first + share <= all) {
      return tensor(shape, whole.data().asSlice(first * row, share * row));
    }
    MemorySegment part = Arena.ofAuto().allocate(share * row, Long.BYTES);
    for (long i = 0; i < share; i++) {
      long from = Math.min(first + i, all - 1);
      MemorySegment.copy(whole.data(), from * row, part, i * row, row);
    }
    return tensor(shape, part);
  }

  private ConstantTensor inputs(int device) {
    long n = whole.shape().getFirst();
    long k = whole.shape().get(1);
    long share = share((int) k, devices);
    long first = Math.min(device * share, k);
    int element = whole.dtype().bytes();
    long there = Math.min(share, k - first) * element;
    MemorySegment part = Arena.ofAuto().allocate(n * share * element, Long.BYTES);
    for (long row = 0; row < n; row++) {
      MemorySegment.copy(
          whole.data(), (row * k + first) * element, part, row * share * element, there);
    }
    return tensor(List.of(n, share), part);
  }
}
