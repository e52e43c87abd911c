package dev.warpwright.model.weights;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Origin;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A tensor as a file holds it.
 *
 * @param type the element type; not every one can be computed with
 * @param shape empty for a scalar
 * @param data row-major, exactly as many bytes as type and shape need
 */
record StoredTensor(ElementType type, List<Long> shape, MemorySegment data) {
  StoredTensor {
    shape = List.copyOf(shape);
  }

  /** Whether networks can be computed with its elements. */
  boolean isUsable() {
    return type.dtype() == DType.F64
        || type.dtype() == DType.F32
        || type.dtype() == DType.F16
        || type.dtype() == DType.BF16;
  }

  /** As a constant of a graph; only if it {@link #isUsable}. */
  ConstantTensor toTensor(String name) {
    DType dtype = type.dtype();
    if (dtype == null || !isUsable()) {
      throw new IllegalStateException(name + " has type " + type);
    }
    return new ConstantTensor(name, dtype, shape, data, new Origin.Stored(name));
  }
}
