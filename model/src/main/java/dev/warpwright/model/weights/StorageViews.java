package dev.warpwright.model.weights;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.model.graph.ConstantTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;

/**
 * Tensors as PyTorch stores them: views of storages, with strides. One that lies row by row stays
 * in the file; a transposed matrix is copied once; other views are refused.
 */
final class StorageViews {
  private final String file;

  /** Copies may not add up to more than this. */
  private long copyBudget;

  /**
   * The views of one file.
   *
   * @param file its name in messages, printable
   * @param size its size in bytes
   */
  StorageViews(String file, long size) {
    this.file = file;
    this.copyBudget = size;
  }

  /**
   * The elements of a view, row by row.
   *
   * @param storage all of it, a whole number of elements
   * @param offset of the first element, in elements, not negative
   * @param shape no dimension is negative
   * @param strides in elements, as many as dimensions
   * @throws UserError if the view leaves the storage, or is of a kind that is not supported
   */
  StoredTensor tensor(
      String name,
      ElementType type,
      MemorySegment storage,
      long offset,
      List<Long> shape,
      List<Long> strides) {
    long count = ConstantTensor.elementCount(shape);
    long elements = storage.byteSize() / type.bytes();
    if (count < 0 || count > elements - offset) {
      throw error(
          name,
          String.format(
              Locale.ROOT,
              "has shape %s from element %d on, but its storage has %d",
              shape,
              offset,
              elements));
    }
    MemorySegment data = storage.asSlice(offset * type.bytes(), count * type.bytes());
    if (count == 0 || isContiguous(shape, strides)) {
      return new StoredTensor(type, shape, data);
    }
    if (shape.size() != 2 || !strides.equals(List.of(1L, shape.getFirst()))) {
      throw error(
          name,
          String.format(
              Locale.ROOT,
              "is a view of shape %s with strides %s, which is not supported; call .contiguous() on"
                  + " it before saving",
              shape,
              strides));
    }
    return new StoredTensor(type, shape, transpose(name, type, shape, data));
  }

  /** Whether the elements lie row by row; the stride of a dimension of size 1 does not matter. */
  private static boolean isContiguous(List<Long> shape, List<Long> strides) {
    long expected = 1;
    for (int i = shape.size() - 1; i >= 0; i--) {
      if (shape.get(i) != 1 && strides.get(i) != expected) {
        return false;
      }
      expected *= shape.get(i);
    }
    return true;
  }

  private MemorySegment transpose(
      String name, ElementType type, List<Long> shape, MemorySegment data) {
    copyBudget -= data.byteSize();
    if (copyBudget < 0) {
      throw error(name, "is one of too many transposed views of the same bytes");
    }
    long rows = shape.getFirst();
    long columns = shape.getLast();
    int size = type.bytes();
    MemorySegment copy = Arena.ofAuto().allocate(data.byteSize(), 64);
    for (long row = 0; row < rows; row++) {
      for (long column = 0; column < columns; column++) {
        MemorySegment.copy(
            data, (column * rows + row) * size, copy, (row * columns + column) * size, size);
      }
    }
    return copy;
  }

  private UserError error(String name, String what) {
    return new UserError(file + ": tensor " + Names.quote(name) + " " + what);
  }
}
