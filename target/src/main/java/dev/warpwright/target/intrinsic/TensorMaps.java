package dev.warpwright.target.intrinsic;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.target.SharedTile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The tensor maps that a kernel's TMA copies need, derived from the buffers' shapes and layouts.
 * The printed kernel takes them as parameters behind its own, in this order; who launches it
 * encodes them for the pointers at hand.
 *
 * @param maps each different one once, in the order of first use
 */
public record TensorMaps(List<Spec> maps) {
  private static final int MAX_BOX = 256;

  /**
   * A map of a matrix in global memory, or of several that lie one behind the other.
   *
   * @param global the kernel's parameter, of rank 2 or 3
   * @param rows of the box that one copy moves
   * @param cols of the box
   * @param swizzleBytes 0, 32, 64 or 128
   */
  public record Spec(Buffer global, int rows, int cols, int swizzleBytes) {}

  /** Copies the list. */
  public TensorMaps {
    maps = List.copyOf(maps);
  }

  /**
   * {@return the maps of a kernel}
   *
   * @param kernel for a grid
   * @throws UserError if a TMA copy cannot be described by a map; the message says which and why
   */
  public static TensorMaps of(Kernel kernel) {
    List<Spec> specs = new ArrayList<>();
    Walk.expressions(
        kernel.body(),
        e -> {
          if (e instanceof Expr.Call call) {
            spec(call).filter(spec -> !specs.contains(spec)).ifPresent(specs::add);
          }
        });
    return new TensorMaps(specs);
  }

  /**
   * {@return the map that a call needs; none if it is no bulk tensor copy}
   *
   * @param call of any intrinsic
   */
  public static Optional<Spec> spec(Expr.Call call) {
    boolean load = HopperIntrinsics.isTmaLoad(call.op());
    if (!load && !HopperIntrinsics.isTmaStore(call.op())) {
      return Optional.empty();
    }
    Expr.AddressOf tile = address(call, load ? 0 : 1);
    Buffer shared = tile.buffer();
    Buffer global = address(call, load ? 1 : 0).buffer();
    int rows = constant(call, call.args().get(load ? 3 : 2), "rows");
    int cols = constant(call, call.args().get(load ? 4 : 3), "columns");
    int rank = call.op().text().contains("3d") ? 3 : 2;
    if (global.rank() != rank) {
      throw new UserError(
          "TMA copy of " + global.name() + ": it has rank " + global.rank() + ", not " + rank);
    }
    if (!MatrixRows.are(global)) {
      throw new UserError(
          "TMA copy of "
              + global.name()
              + ": it has a layout, but only matrices of contiguous rows have maps");
    }
    if (global.dtype() != shared.dtype()) {
      throw new UserError(
          "TMA copy between "
              + global.name()
              + " ("
              + global.dtype()
              + ") and "
              + shared.name()
              + " ("
              + shared.dtype()
              + "): it converts nothing");
    }
    SharedTile layout = SharedTile.of(shared);
    int width = cols * global.dtype().bytes();
    if (width != layout.width()) {
      throw new UserError(
          "TMA copy of "
              + cols
              + " columns of "
              + global.name()
              + ": its rows take "
              + width
              + " bytes, those of "
              + shared.name()
              + " "
              + layout.width());
    }
    if (rows < 1 || rows > MAX_BOX || cols > MAX_BOX || width % 16 != 0) {
      throw new UserError(
          "TMA copy of "
              + rows
              + "x"
              + cols
              + " of "
              + global.name()
              + ": a box has 1 to 256 elements each way and"
              + " rows of a multiple of 16 bytes");
    }
    if (rows > shared.extent(shared.rank() - 2) || !Exprs.isConst(tile.indices().getLast(), 0)) {
      throw new UserError(
          "TMA copy of "
              + rows
              + " rows of "
              + global.name()
              + ": they must begin at column 0 of "
              + shared.name()
              + ", whose tiles have "
              + shared.extent(shared.rank() - 2)
              + " rows");
    }
    return Optional.of(new Spec(global, rows, cols, layout.swizzled() ? layout.width() : 0));
  }

  private static Expr.AddressOf address(Expr.Call call, int operand) {
    if (call.args().get(operand) instanceof Expr.AddressOf address) {
      return address;
    }
    throw new UserError(
        call.op().text()
            + " needs the address of an element, not "
            + IrPrinter.text(call.args().get(operand)));
  }

  private static int constant(Expr.Call call, Expr e, String what) {
    if (e instanceof Expr.IntImm imm) {
      return Math.toIntExact(imm.value());
    }
    throw new UserError(call.op().text() + " needs a constant number of " + what);
  }
}
