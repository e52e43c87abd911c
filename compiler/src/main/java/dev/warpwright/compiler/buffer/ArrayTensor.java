package dev.warpwright.compiler.buffer;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A whole Java array.
 *
 * @param array a {@code float[]} for f32, a {@code short[]} with the bits for f16 and bf16
 * @param type the element type
 * @param elements how many, 0 or more
 */
public record ArrayTensor(Object array, DType type, long elements) implements TensorBuffer {
  @Override
  public boolean overlaps(TensorBuffer other) {
    return switch (other) {
      case ArrayTensor tensor -> tensor.array == array;
      case SegmentTensor(MemorySegment segment, DType _) ->
          segment.heapBase().orElse(null) == array;
      case DeviceBuffer device -> device.overlaps(this);
    };
  }

  static ArrayTensor of(float @Nullable [] array) {
    if (array == null) {
      throw new UserError("the array is null; a float[] of whole rows is needed");
    }
    return new ArrayTensor(array, DType.F32, array.length);
  }

  /** The array behind a segment that is all of it, so that nothing need be copied. */
  static Optional<TensorBuffer> whole(MemorySegment segment, DType type) {
    if (segment.isReadOnly()) {
      return Optional.empty();
    }
    return switch (segment.heapBase().orElse(null)) {
      case float[] a when type == DType.F32 && segment.byteSize() == 4L * a.length ->
          Optional.of(new ArrayTensor(a, type, a.length));
      case short[] a when type != DType.F32 && segment.byteSize() == 2L * a.length ->
          Optional.of(new ArrayTensor(a, type, a.length));
      case null, default -> Optional.empty();
    };
  }
}
