package dev.warpwright.compiler.buffer;

import dev.warpwright.ir.type.DType;
import java.lang.foreign.MemorySegment;

/**
 * Elements in a memory segment.
 *
 * @param segment the memory
 * @param type the element type
 */
public record SegmentTensor(MemorySegment segment, DType type) implements TensorBuffer {
  @Override
  public long elements() {
    return segment.byteSize() / type.bytes();
  }

  @Override
  public boolean isReadOnly() {
    return segment.isReadOnly();
  }

  @Override
  public boolean overlaps(TensorBuffer other) {
    return switch (other) {
      case SegmentTensor(MemorySegment theirs, DType _) ->
          segment.asOverlappingSlice(theirs).isPresent();
      case ArrayTensor array -> array.overlaps(this);
      case DeviceBuffer device -> device.overlaps(this);
    };
  }
}
