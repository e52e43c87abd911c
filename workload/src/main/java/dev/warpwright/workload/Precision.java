package dev.warpwright.workload;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.accuracy.SumAccuracy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How the matrices of a product are multiplied: the type of their elements, the type of the
 * accumulators, and what that leaves of accuracy.
 */
public enum Precision {
  /** Exact products of f32, so without tensor cores. */
  F32(DType.F32, DType.F32, 3e-6, SumAccuracy.OF_F32),
  /** f32 in memory, operands rounded to 10 bits of fraction. */
  TF32(DType.F32, DType.F32, 2e-3, SumAccuracy.OF_TF32),
  /** Operands in f16, accumulators in f32. */
  F16(DType.F16, DType.F32, 4e-3, SumAccuracy.OF_TENSOR),
  /** Operands in bf16, accumulators in f32. */
  BF16(DType.BF16, DType.F32, 2e-2, SumAccuracy.OF_TENSOR),
  /**
   * Accumulators rounded to f16 for each group of products that an instruction adds; in f32 where
   * threads multiply.
   */
  F16_ACCUMULATORS(DType.F16, DType.F16, 4e-3, SumAccuracy.OF_F16),
  /** Operands in 8-bit floats of 3 bits of mantissa, accumulators in f32. */
  E4M3(DType.F8E4M3, DType.F32, ErrorBound.of(DType.F8E4M3).unit(), SumAccuracy.OF_F8),
  /** Operands in 8-bit floats of 2 bits of mantissa, accumulators in f32. */
  E5M2(DType.F8E5M2, DType.F32, ErrorBound.of(DType.F8E5M2).unit(), SumAccuracy.OF_F8),
  /** Operands in signed bytes, accumulators in i32, exact. */
  INT8(DType.I8, DType.I32, 0, SumAccuracy.EXACT),
  /** Operands in unsigned bytes, accumulators in i32, exact. */
  UINT8(DType.U8, DType.I32, 0, SumAccuracy.EXACT),
  /** Operands and accumulators in f64. */
  F64(DType.F64, DType.F64, 1e-13, SumAccuracy.OF_F64);

  /** What networks are computed in; accumulators are f32. */
  public static final List<Precision> OF_NETWORKS = List.of(F32, TF32, F16, BF16);

  /** The same, and accumulators in f16, which somebody has to ask for. */
  public static final List<Precision> ASKED_OF_NETWORKS =
      List.of(F32, TF32, F16, BF16, F16_ACCUMULATORS);

  private final DType operand;
  private final DType accumulators;
  private final double tolerance;
  private final SumAccuracy accuracy;

  Precision(DType operand, DType accumulators, double tolerance, SumAccuracy accuracy) {
    this.operand = operand;
    this.accumulators = accumulators;
    this.tolerance = tolerance;
    this.accuracy = accuracy;
  }

  /** {@return element type of the matrices that are multiplied} */
  public DType operand() {
    return operand;
  }

  /** {@return bytes of a result's element: 8-bit operands give 16-bit results} */
  public int resultBytes() {
    return Math.max(2, operand.bytes());
  }

  /** {@return type of the accumulators} */
  public DType accumulators() {
    return accumulators;
  }

  /** {@return default bound of ‖out − ref‖ / ‖ref‖ for a verified result of the operands' type} */
  public double tolerance() {
    return tolerance;
  }

  /** {@return how precisely the accumulators of a product are computed} */
  public SumAccuracy accuracy() {
    return accuracy;
  }

  /** {@return the name, for example {@code bf16}} */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * {@return what products and accumulators are computed in, for example {@code f32} for bf16 too}
   */
  public String arithmetic() {
    return this == TF32 ? text() : accumulators.text();
  }

  /**
   * {@return whether this is what operands of its type are multiplied in unless something else is
   * asked}
   */
  public boolean isUsual() {
    return this == of(operand);
  }

  /**
   * {@return what operands of a type are multiplied in unless something else is asked for}
   *
   * @param operands type of A and B
   * @throws UserError if they are not multiplied
   */
  public static Precision of(DType operands) {
    return switch (operands) {
      case F32 -> F32;
      case F16 -> F16;
      case BF16 -> BF16;
      case F8E4M3 -> E4M3;
      case F8E5M2 -> E5M2;
      case I8 -> INT8;
      case U8 -> UINT8;
      case F64 -> F64;
      case BOOL, I32, U32, I64, U64, MBARRIER, HANDLE ->
          throw new UserError(
              "workloads over "
                  + operands
                  + " cannot be verified; use f16, bf16, f32, f64, i8 or an 8-bit float");
    };
  }

  /**
   * {@return operands of a type in an arithmetic}
   *
   * @param operands type of A and B
   * @param arithmetic as {@link #arithmetic()} gives it
   * @throws IllegalArgumentException if they are not multiplied in that
   */
  public static Precision of(DType operands, String arithmetic) {
    return Arrays.stream(values())
        .filter(p -> p.operand == operands && p.arithmetic().equals(arithmetic))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    String.format(
                        Locale.ROOT, "arithmetic \"%s\" is none for %s", arithmetic, operands)));
  }

  /**
   * Reads {@code bf16} and its like; {@code fp8} is e4m3.
   *
   * @param text as {@link #text()} gives it
   * @return the precision of that name
   * @throws UserError if it is none
   */
  public static Precision parse(String text) {
    return Arrays.stream(values())
        .filter(p -> p.text().equals(text.equals("fp8") ? E4M3.text() : text))
        .findFirst()
        .orElseThrow(
            () ->
                new UserError(
                    "dtype '"
                        + text
                        + "' is none of "
                        + Arrays.stream(values())
                            .map(Precision::text)
                            .collect(Collectors.joining(", "))));
  }

  /**
   * {@return whether a target has matrix instructions for it, or multiplies in threads}
   *
   * @param target where it is to run
   */
  public boolean supportedBy(GpuTarget target) {
    return switch (this) {
      case F32, F64 -> true;
      case F16, F16_ACCUMULATORS -> target.hasTensorF16();
      case TF32, BF16, INT8 -> target.hasAmpere();
      case E4M3, E5M2 -> target.supports(GpuTarget.SM_89.arch(), false);
      case UINT8 -> false;
    };
  }

  /**
   * Checks that a target has what it takes for a network.
   *
   * @param target where it is to run
   * @throws UserError if it has not
   */
  public void check(GpuTarget target) {
    if (!supportedBy(target)) {
      throw new UserError(
          target.name() + " has no " + text() + " matrix instructions; use --precision f32 or f16");
    }
  }

  /**
   * {@return whether the catalogue has a rate of the device for it}
   *
   * @param device of the catalogue
   */
  public boolean supportedBy(DeviceModel device) {
    return teraRate(device) > 0;
  }

  /**
   * {@return the device's peak rate, in operations a second}
   *
   * @param device of the catalogue
   * @throws UserError if the catalogue has none
   */
  public double peak(DeviceModel device) {
    if (!supportedBy(device)) {
      throw new UserError(
          device.name() + " multiplies no " + text() + "; choose another dtype or gpu");
    }
    return teraRate(device) * 1e12;
  }

  private double teraRate(DeviceModel device) {
    return switch (this) {
      case F32 -> device.fp32Tflops();
      case TF32 -> device.tf32Tflops();
      case F16, F16_ACCUMULATORS -> device.f16Tflops();
      case BF16 -> device.bf16Tflops();
      case E4M3, E5M2 -> device.fp8Tflops();
      case INT8, UINT8 -> device.int8Tops();
      case F64 -> 0;
    };
  }
}
