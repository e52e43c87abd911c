package dev.warpwright.sim.expr;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.FloatMode;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.sim.memory.Shadow;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the compilers of one function share.
 *
 * @param source text of the function, for messages
 * @param precision of float arithmetic and storage
 * @param grid whether threads of a grid execute: then accesses go through {@link Shadow}s where
 *     there are, and vector accesses must be aligned
 * @param track whether reads of never written elements are errors
 * @param counts whether requests to memory are counted
 * @param code takes what can be bytecode, null if all is closures
 */
public record Context(
    Source source,
    FloatMode precision,
    Symbols symbols,
    boolean grid,
    boolean track,
    boolean counts,
    @Nullable ExprCode code) {

  /** Everything is compiled to closures. */
  public Context(
      Source source,
      FloatMode precision,
      Symbols symbols,
      boolean grid,
      boolean track,
      boolean counts) {
    this(source, precision, symbols, grid, track, counts, null);
  }

  /** Whether accesses look for a {@link Shadow}. */
  boolean checked() {
    return grid || track;
  }

  /** The type in which a buffer's elements are stored. */
  public DType stored(DType dtype) {
    return precision == FloatMode.DOUBLE && dtype.isFloat() ? DType.F64 : dtype;
  }

  /** An error at a statement. */
  public SimulationError fault(
      Finding.Kind kind, Stmt where, Frame f, String element, String detail) {
    return source.fault(kind, where, f.who(), element, detail);
  }

  public SimulationError outOfBounds(Buffer buffer, long[] coordinates, Stmt where, Frame f) {
    long[] shape = shape(buffer, f);
    return fault(
        Finding.Kind.OUT_OF_BOUNDS,
        where,
        f,
        Source.element(buffer, coordinates),
        buffer.scope() + " " + buffer.dtype() + " has shape " + Arrays.toString(shape));
  }

  /** What is known of a buffer's elements: nothing yet. */
  public Shadow shadow(
      Buffer buffer, int elements, boolean initialisation, boolean races, FindingSink sink) {
    return new Shadow(source, symbols.slot(buffer), buffer, elements, initialisation, races, sink);
  }

  /** The buffer's shape in this execution. */
  public long[] shape(Buffer buffer, Frame f) {
    long[] shape = new long[buffer.rank()];
    for (int d = 0; d < shape.length; d++) {
      shape[d] = extent(buffer, d, f);
    }
    return shape;
  }

  /** An extent of the buffer in this execution. */
  public long extent(Buffer buffer, int d, Frame f) {
    return f.extent(buffer, symbols.slot(buffer), d);
  }

  /** Whether extents other than the outermost depend on scalars. */
  public static boolean hasSymbolicRows(Buffer buffer) {
    return buffer.shape().stream().skip(1).anyMatch(e -> !(e instanceof Expr.IntImm));
  }
}
