package dev.warpwright.sim.expr;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Compiles loads, stores and addresses of one element or vector of a buffer. */
public final class MemoryAccess {
  private final ExprCompiler exprs;
  private final Context context;
  private final Buffer buffer;
  private final List<Expr> indices;
  private final LongExpr[] compiled;
  private final int slot;
  private final DType stored;

  public MemoryAccess(ExprCompiler exprs, Buffer buffer, List<Expr> indices) {
    this.exprs = exprs;
    this.context = exprs.context();
    this.buffer = buffer;
    this.indices = indices;
    this.compiled = indices.stream().map(exprs::index).toArray(LongExpr[]::new);
    this.slot = context.symbols().slot(buffer);
    this.stored = context.stored(buffer.dtype());
  }

  public DType stored() {
    return stored;
  }

  public int slot() {
    return slot;
  }

  public int lanes() {
    return indices.isEmpty() ? 1 : indices.getLast().type().lanes();
  }

  /** Values of the indices, for messages. */
  public long[] coordinates(Frame f) {
    long[] at = new long[compiled.length];
    for (int d = 0; d < at.length; d++) {
      at[d] = compiled[d].eval(f);
    }
    return at;
  }

  public SimulationError outOfBounds(Frame f) {
    return context.outOfBounds(buffer, coordinates(f), exprs.where(), f);
  }

  /** Element offset in the storage, after checking bounds (and, in a grid, alignment). */
  public LongExpr offset() {
    LongExpr offset = boundedOffset();
    int lanes = lanes();
    if (lanes == 1) {
      return offset;
    }
    if (isContiguous() && exprs.allLanes()) {
      return contiguous(offset, lanes);
    }
    return context.grid() ? aligned(offset, lanes) : offset;
  }

  /** Whether the lanes are adjacent elements whatever the base is. */
  private boolean isContiguous() {
    long[] strides = linearStrides(buffer);
    boolean dense =
        Context.hasSymbolicRows(buffer)
            ? buffer.layout() == null
            : strides != null && strides[strides.length - 1] == 1;
    return dense && indices.getLast() instanceof Expr.Ramp ramp && ramp.stride() == 1;
  }

  /** Computes and checks the offset in lane 0, which comes first, for all lanes. */
  private LongExpr contiguous(LongExpr offset, int lanes) {
    int first = context.symbols().slot(new Var("offset", Type.of(DType.I64)));
    int elements = alignedElements(lanes);
    return f -> {
      if (f.lane != 0) {
        return f.ints[first] + f.lane;
      }
      long at = offset.eval(f);
      f.lane = lanes - 1;
      // Fails if the last lane is outside.
      long last = offset.eval(f);
      f.lane = 0;
      if (context.grid()) {
        requireAligned(f, at, elements);
      }
      f.ints[first] = last - (lanes - 1);
      return at;
    };
  }

  /** Elements of the vector access, at most 16 bytes, that a vector is made of. */
  private int alignedElements(int lanes) {
    return Math.min(lanes * buffer.dtype().bytes(), 16) / buffer.dtype().bytes();
  }

  private void requireAligned(Frame f, long at, int elements) {
    int bytes = elements * buffer.dtype().bytes();
    if (at % elements != 0 || buffer.alignment() < bytes) {
      throw misaligned(
          f,
          "needs "
              + bytes
              + " bytes, buffer has "
              + buffer.alignment()
              + ", element offset is "
              + at);
    }
  }

  private LongExpr aligned(LongExpr offset, int lanes) {
    int elements = alignedElements(lanes);
    return f -> {
      long at = offset.eval(f);
      int lane = f.lane;
      if (lane % elements == 0) {
        requireAligned(f, at, elements);
      } else {
        f.lane = lane - 1;
        long before = offset.eval(f);
        f.lane = lane;
        if (at != before + 1) {
          throw misaligned(f, "lanes are not adjacent in memory");
        }
      }
      return at;
    };
  }

  private SimulationError misaligned(Frame f, String detail) {
    return context.fault(
        Finding.Kind.MISALIGNED, exprs.where(), f, Source.element(buffer, coordinates(f)), detail);
  }

  private LongExpr boundedOffset() {
    Layout layout = buffer.layout();
    int rank = buffer.rank();
    if (rank == 0) {
      return f -> 0;
    }
    if (Context.hasSymbolicRows(buffer)) {
      return f -> {
        if (!inBounds(f)) {
          throw outOfBounds(f);
        }
        return symbolicOffset(f);
      };
    }
    long[] strides = linearStrides(buffer);
    LongExpr x = compiled[0];
    if (strides != null && rank == 1) {
      long s0 = strides[0];
      return f -> {
        long i = x.eval(f);
        if (i < 0 || i >= f.outer[slot]) {
          throw outOfBounds(f);
        }
        return i * s0;
      };
    }
    if (strides != null && rank == 2) {
      LongExpr y = compiled[1];
      long s0 = strides[0];
      long s1 = strides[1];
      long columns = buffer.extent(1);
      return f -> {
        long i = x.eval(f);
        long j = y.eval(f);
        if (i < 0 || i >= f.outer[slot] || j < 0 || j >= columns) {
          throw outOfBounds(f);
        }
        return i * s0 + j * s1;
      };
    }
    long[] extents = new long[rank];
    for (int d = 1; d < rank; d++) {
      extents[d] = buffer.extent(d);
    }
    return f -> {
      long[] at = coordinates(f);
      for (int d = 0; d < rank; d++) {
        if (at[d] < 0 || at[d] >= (d == 0 ? f.outer[slot] : extents[d])) {
          throw outOfBounds(f);
        }
      }
      return storageOffset(layout, strides, at);
    };
  }

  /** Offset in row-major storage whose rows have a length that is known only now. */
  private long symbolicOffset(Frame f) {
    long offset = 0;
    for (int d = 0; d < compiled.length; d++) {
      offset = offset * context.extent(buffer, d, f) + compiled[d].eval(f);
    }
    return offset;
  }

  /**
   * Element offset of a coordinate.
   *
   * @param strides {@link #linearStrides} of the buffer
   */
  public static long storageOffset(@Nullable Layout layout, long @Nullable [] strides, long[] at) {
    if (strides == null) {
      return Objects.requireNonNull(layout).offset(at);
    }
    long sum = 0;
    for (int d = 0; d < at.length; d++) {
      sum += at[d] * strides[d];
    }
    return sum;
  }

  /** Strides where the offset is a linear function of the coordinates, else null. */
  public static long @Nullable [] linearStrides(Buffer buffer) {
    int rank = buffer.rank();
    long[] strides = new long[rank];
    Layout layout = buffer.layout();
    if (Context.hasSymbolicRows(buffer)) {
      if (layout != null) {
        throw new IllegalArgumentException(
            buffer.name() + " has a layout and rows of symbolic length");
      }
      return null;
    }
    if (layout == null) {
      long stride = 1;
      for (int d = rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= d == 0 ? 1 : buffer.extent(d);
      }
      return strides;
    }
    if (!layout.swizzle().isIdentity()) {
      return null;
    }
    for (int d = 0; d < rank; d++) {
      List<Mode> modes = layout.dimensions().get(d);
      if (modes.size() != 1) {
        return null;
      }
      strides[d] = modes.getFirst().stride();
    }
    return strides;
  }

  /** The offset without checks; coordinates outside give what the layout's arithmetic gives. */
  public LongExpr uncheckedOffset() {
    if (Context.hasSymbolicRows(buffer)) {
      return this::symbolicOffset;
    }
    long[] strides = linearStrides(buffer);
    Layout layout = buffer.layout();
    return f -> storageOffset(layout, strides, coordinates(f));
  }

  /** Whether the coordinates are inside. */
  public boolean inBounds(Frame f) {
    for (int d = 0; d < compiled.length; d++) {
      long i = compiled[d].eval(f);
      if (i < 0 || i >= context.extent(buffer, d, f)) {
        return false;
      }
    }
    return true;
  }

  /** Whether elements of the storage are numbered by the one index. */
  private boolean isFlat() {
    long[] strides = linearStrides(buffer);
    return strides != null && strides.length == 1 && strides[0] == 1 && lanes() == 1;
  }

  /** The only index, checked. */
  private int flatIndex(Frame f, LongExpr index) {
    long i = index.eval(f);
    if (i < 0 || i >= f.outer[slot]) {
      throw outOfBounds(f);
    }
    return (int) i;
  }

  /** {@link #loadReal} of f32 in one closure: the most frequent access by far in kernels. */
  private DoubleExpr loadFlat() {
    LongExpr index = compiled[0];
    if (!context.checked()) {
      return f -> Bytes.getFloat(f.memory[slot], flatIndex(f, index) * 4);
    }
    return f -> {
      int i = flatIndex(f, index);
      Shadow shadow = f.shadows[slot];
      if (shadow != null) {
        shadow.read(f, i, exprs.where());
      }
      return Bytes.getFloat(f.memory[slot], i * 4);
    };
  }

  /** Counts an access that a warp's threads make, once for all lanes of a vector. */
  private LongExpr counted(LongExpr offset, boolean reads) {
    if (!context.counts() || (buffer.scope() != Scope.SHARED && buffer.scope() != Scope.GLOBAL)) {
      return offset;
    }
    Counting.Kind kind =
        buffer.scope() == Scope.SHARED
            ? reads ? Counting.Kind.SHARED_LOAD : Counting.Kind.SHARED_STORE
            : reads ? Counting.Kind.GLOBAL_LOAD : Counting.Kind.GLOBAL_STORE;
    Counting.Site site = new Counting.Site(exprs.where(), kind, slot);
    int element = stored.bytes();
    int bytes = lanes() * element;
    return f -> {
      long at = offset.eval(f);
      if (f.requests != null && f.lane == 0) {
        f.requests.access(site, f.laneBit, at * element, bytes, f.memory[slot].length);
      }
      return at;
    };
  }

  private LongExpr readOffset() {
    LongExpr offset = counted(offset(), true);
    if (!context.checked()) {
      return offset;
    }
    return f -> {
      long at = offset.eval(f);
      Shadow shadow = f.shadows[slot];
      if (shadow != null) {
        shadow.read(f, (int) at, exprs.where());
      }
      return at;
    };
  }

  /** Offset for a store, which is recorded as written. */
  public LongExpr writeOffset() {
    if (!context.checked()) {
      return offset();
    }
    if (isFlat() && !context.counts()) {
      LongExpr index = compiled[0];
      return f -> {
        int at = flatIndex(f, index);
        Shadow shadow = f.shadows[slot];
        if (shadow != null) {
          shadow.write(f, at, exprs.where());
        }
        return at;
      };
    }
    LongExpr offset = counted(offset(), false);
    return f -> {
      long at = offset.eval(f);
      Shadow shadow = f.shadows[slot];
      if (shadow != null) {
        shadow.write(f, (int) at, exprs.where());
      }
      return at;
    };
  }

  DoubleExpr loadReal() {
    if (stored == DType.F32 && isFlat() && !context.counts()) {
      return loadFlat();
    }
    LongExpr at = readOffset();
    return switch (stored) {
      case F32 -> f -> Bytes.getFloat(f.memory[slot], (int) at.eval(f) * 4);
      case F64 -> f -> Bytes.getDouble(f.memory[slot], (int) at.eval(f) * 8);
      default -> {
        int bytes = stored.bytes();
        yield f -> Bytes.real(stored, f.memory[slot], (int) at.eval(f) * bytes);
      }
    };
  }

  LongExpr loadInteger() {
    LongExpr at = readOffset();
    int bytes = stored.bytes();
    return switch (stored) {
      case I32 -> f -> Bytes.getInt(f.memory[slot], (int) at.eval(f) * 4);
      default -> f -> Bytes.integer(stored, f.memory[slot], (int) at.eval(f) * bytes);
    };
  }

  /** Stores a scalar. */
  public Exec storeReal(DoubleExpr value) {
    LongExpr at = writeOffset();
    int bytes = stored.bytes();
    return switch (stored) {
      case F32 ->
          f -> {
            float v = (float) value.eval(f);
            Bytes.putFloat(f.memory[slot], (int) at.eval(f) * 4, v);
          };
      case F64 ->
          f -> {
            double v = value.eval(f);
            Bytes.putDouble(f.memory[slot], (int) at.eval(f) * 8, v);
          };
      default ->
          f -> {
            double v = value.eval(f);
            Bytes.putReal(stored, f.memory[slot], (int) at.eval(f) * bytes, v);
          };
    };
  }

  public Exec storeInteger(LongExpr value) {
    LongExpr at = writeOffset();
    int bytes = stored.bytes();
    return f -> {
      long v = value.eval(f);
      Bytes.putInteger(stored, f.memory[slot], (int) at.eval(f) * bytes, v);
    };
  }
}
