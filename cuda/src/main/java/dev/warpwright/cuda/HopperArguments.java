package dev.warpwright.cuda;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.target.MatrixDescriptor;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.TensorMaps;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Prints the arguments of intrinsics. Operands of warpgroup products become descriptors, tiles of
 * TMA copies a tensor map and coordinates, or two addresses and bytes; all others are printed as
 * they are.
 */
final class HopperArguments {
  private final ExprPrinter exprs;
  private final Uses uses;
  private final Map<TensorMaps.Spec, String> maps;

  HopperArguments(ExprPrinter exprs, Uses uses, Map<TensorMaps.Spec, String> maps) {
    this.exprs = exprs;
    this.uses = uses;
    this.maps = maps;
  }

  List<String> arguments(Expr.Call call, TargetIntrinsic intrinsic) {
    List<Expr> args = call.args();
    WgmmaGemm product = HopperIntrinsics.wgmma(intrinsic);
    if (product != null) {
      return List.of(
          print(args.get(0)),
          product.fromRegisters()
              ? print(args.get(1))
              : descriptor(args.get(1), product.mnMajorA()),
          descriptor(args.get(2), product.mnMajorB()),
          print(args.get(3)));
    }
    if (intrinsic == HopperIntrinsics.BULK_LOAD_LINEAR) {
      long elements = ((Expr.IntImm) args.get(3)).value() * ((Expr.IntImm) args.get(4)).value();
      return List.of(
          rows(args.get(0)),
          rows(args.get(1)),
          Long.toString(elements * buffer(args.get(0)).dtype().bytes()),
          print(args.get(2)));
    }
    TensorMaps.Spec spec = TensorMaps.spec(call).orElse(null);
    if (spec == null) {
      return args.stream().map(this::print).toList();
    }
    String map = "&" + maps.get(spec);
    List<String> printed = new ArrayList<>();
    if (HopperIntrinsics.isTmaStore(intrinsic)) {
      printed.add(map);
      printed.addAll(coordinates(args.get(0)));
      printed.add(rows(args.get(1)));
      return printed;
    }
    printed.add(rows(args.get(0)));
    printed.add(map);
    printed.addAll(coordinates(args.get(1)));
    printed.add(print(args.get(2)));
    if (HopperIntrinsics.isMulticast(intrinsic)) {
      printed.add(print(args.get(5)));
    }
    return printed;
  }

  private static Buffer buffer(Expr operand) {
    if (!(operand instanceof Expr.AddressOf address)) {
      throw new IllegalArgumentException("an operand of wgmma is no address: " + operand);
    }
    return address.buffer();
  }

  /**
   * The descriptor of an operand.
   *
   * @param across whether it is stored across K, in panels of rows or columns of the product
   */
  private String descriptor(Expr operand, boolean across) {
    Buffer buffer = buffer(operand);
    int width = MatrixDescriptor.of(buffer).width();
    // Most of it does not change in a loop, and the rest is added to it.
    String start = exprs.chunks((Expr.AddressOf) operand).orElseGet(() -> print(operand) + ", 0");
    if (!across) {
      return String.format(
          Locale.ROOT, "%s<%d>(%s)", uses.helper(Helper.MATRIX_DESCRIPTOR), width, start);
    }
    return String.format(
        Locale.ROOT,
        "%s<%d, %d>(%s)",
        uses.helper(Helper.MATRIX_DESCRIPTOR_ACROSS),
        width,
        MatrixDescriptor.panelBytes(buffer),
        start);
  }

  /** Column, row and matrix of the tile's first element: the innermost coordinate comes first. */
  private List<String> coordinates(Expr tile) {
    return ((Expr.AddressOf) tile).indices().reversed().stream().map(this::print).toList();
  }

  private String rows(Expr tile) {
    return exprs.rows((Expr.AddressOf) tile).string();
  }

  private String print(Expr e) {
    return exprs.print(e).string();
  }
}
