package dev.warpwright.ir;

import java.util.ArrayList;
import java.util.List;

/**
 * Maps coordinates to an element offset. Each dimension is a mixed-radix number of {@link Mode}s,
 * fastest first; the offset is the sum of digit × stride, then swizzled. The last mode of a
 * dimension takes what is left of the coordinate, so an outermost extent may be exceeded where the
 * buffer's own extent is symbolic.
 *
 * <p>The text form is {@code (16:1,4:1024),(64:16)}, a parenthesised list of extent:stride for each
 * dimension, followed by {@code ^<bits,base,shift>} where there is a swizzle.
 *
 * @param dimensions the modes of each, fastest first
 * @param swizzle of the offsets
 */
public record Layout(List<List<Mode>> dimensions, Swizzle swizzle) {
  /** Copies the lists and checks that each dimension has a mode. */
  public Layout {
    dimensions = dimensions.stream().map(List::copyOf).toList();
    for (List<Mode> modes : dimensions) {
      if (modes.isEmpty()) {
        throw new IllegalArgumentException("a dimension of a layout needs at least one mode");
      }
    }
  }

  /**
   * {@return one mode for each dimension}
   *
   * @param shape extents, outermost first
   * @param strides in elements, one for each dimension
   */
  public static Layout strided(long[] shape, long[] strides) {
    List<List<Mode>> dimensions = new ArrayList<>();
    for (int i = 0; i < shape.length; i++) {
      dimensions.add(List.of(new Mode(shape[i], strides[i])));
    }
    return new Layout(dimensions, Swizzle.NONE);
  }

  /**
   * {@return row-major without gaps}
   *
   * @param shape extents, outermost first
   */
  public static Layout rowMajor(long... shape) {
    long[] strides = new long[shape.length];
    long stride = 1;
    for (int i = shape.length - 1; i >= 0; i--) {
      strides[i] = stride;
      stride *= shape[i];
    }
    return strided(shape, strides);
  }

  /** {@return the number of dimensions} */
  public int rank() {
    return dimensions.size();
  }

  /**
   * {@return product of the extents of a dimension's modes}
   *
   * @param dimension from 0, the outermost
   */
  public long extent(int dimension) {
    return dimensions.get(dimension).stream()
        .mapToLong(Mode::extent)
        .reduce(1, Math::multiplyExact);
  }

  /**
   * {@return one more than the greatest offset of a coordinate inside the extents (strides must not
   * be negative)}
   */
  public long cosize() {
    long last = 0;
    for (List<Mode> modes : dimensions) {
      for (Mode mode : modes) {
        last = Math.addExact(last, Math.multiplyExact(mode.extent() - 1, mode.stride()));
      }
    }
    // The swizzle permutes within aligned groups of 2^(base + shift + bits) elements.
    if (!swizzle.isIdentity()) {
      long group = 1L << (swizzle.base() + swizzle.shift() + swizzle.bits());
      return Math.multiplyExact(Math.floorDiv(last, group) + 1, group);
    }
    return last + 1;
  }

  /**
   * {@return the offset of an element, in elements}
   *
   * @param coordinates one for each dimension
   */
  public long offset(long... coordinates) {
    if (coordinates.length != rank()) {
      throw new IllegalArgumentException(
          coordinates.length + " coordinates for a layout of rank " + rank());
    }
    long offset = 0;
    for (int i = 0; i < coordinates.length; i++) {
      long rest = coordinates[i];
      List<Mode> modes = dimensions.get(i);
      for (int m = 0; m < modes.size(); m++) {
        Mode mode = modes.get(m);
        boolean last = m == modes.size() - 1;
        long digit = last ? rest : rest % mode.extent();
        rest /= mode.extent();
        offset += digit * mode.stride();
      }
    }
    return swizzle.apply(offset);
  }

  /**
   * {@return the offset as an expression of scalar {@code i32} coordinates}
   *
   * @param coordinates one for each dimension
   */
  public Expr offset(List<? extends Expr> coordinates) {
    if (coordinates.size() != rank()) {
      throw new IllegalArgumentException(
          coordinates.size() + " coordinates for a layout of rank " + rank());
    }
    Expr offset = Exprs.i32(0);
    for (int i = 0; i < coordinates.size(); i++) {
      Expr rest = coordinates.get(i);
      List<Mode> modes = dimensions.get(i);
      for (int m = 0; m < modes.size(); m++) {
        Mode mode = modes.get(m);
        boolean last = m == modes.size() - 1;
        Expr digit = last ? rest : Exprs.mod(rest, mode.extent());
        rest = last ? rest : Exprs.div(rest, mode.extent());
        offset = Exprs.add(offset, Exprs.mul(digit, mode.stride()));
      }
    }
    if (swizzle.isIdentity()) {
      return offset;
    }
    long mask = ((1L << swizzle.bits()) - 1) << (swizzle.base() + swizzle.shift());
    return Exprs.bitXor(offset, Exprs.shr(Exprs.bitAnd(offset, mask), swizzle.shift()));
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (List<Mode> modes : dimensions) {
      text.append(text.isEmpty() ? "(" : ",(");
      for (int m = 0; m < modes.size(); m++) {
        text.append(m == 0 ? "" : ",")
            .append(modes.get(m).extent())
            .append(':')
            .append(modes.get(m).stride());
      }
      text.append(')');
    }
    if (!swizzle.isIdentity()) {
      text.append("^<").append(swizzle.bits()).append(',').append(swizzle.base()).append(',');
      text.append(swizzle.shift()).append('>');
    }
    return text.toString();
  }

  /**
   * One digit of a coordinate: {@code extent} values, each step moves the offset by {@code stride}
   * elements.
   *
   * @param extent at least 1
   * @param stride in elements
   */
  public record Mode(long extent, long stride) {
    /** Checks the extent. */
    public Mode {
      if (extent < 1) {
        throw new IllegalArgumentException("extent of a mode must be at least 1, not " + extent);
      }
    }
  }

  /**
   * XORs bits of an element offset: bits {@code [base + shift, base + shift + bits)} into bits
   * {@code [base, base + bits)}. {@code (3, 4, 3)} on byte offsets is the 128-byte swizzle of bulk
   * copies and wgmma; on elements of 2 bytes it is {@code (3, 3, 3)}.
   *
   * @param bits how many bits, 0 for the identity
   * @param base lowest bit that changes
   * @param shift distance to the bits that are read, at least {@code bits}
   */
  public record Swizzle(int bits, int base, int shift) {
    public static final Swizzle NONE = new Swizzle(0, 0, 0);

    /** Checks that the bits that are changed are others than those that change them. */
    public Swizzle {
      if (bits < 0 || base < 0 || shift < bits) {
        throw new IllegalArgumentException("swizzle <" + bits + "," + base + "," + shift + ">");
      }
    }

    /** {@return whether it changes nothing} */
    public boolean isIdentity() {
      return bits == 0;
    }

    /**
     * {@return the swizzled offset; applied twice it gives the offset again}
     *
     * @param offset in elements
     */
    public long apply(long offset) {
      long mask = ((1L << bits) - 1) << (base + shift);
      return offset ^ ((offset & mask) >> shift);
    }
  }
}
