package dev.warpwright.ir.accuracy;

import dev.warpwright.ir.type.DType;

/**
 * How far an element of a type may be from its reference, given the deviation of what is rounded;
 * see the package.
 *
 * @param unit unit roundoff of the type; 0 for integers and where nothing is rounded
 * @param tiny half of its least number
 */
public record ErrorBound(double unit, double tiny) {
  /** So many standard deviations is no element off. */
  public static final double DEVIATIONS = 16;

  /**
   * {@return the bound of elements that were rounded once to a type}
   *
   * @param type of the elements
   */
  public static ErrorBound of(DType type) {
    return switch (type) {
      case F64 -> new ErrorBound(0x1p-53, Double.MIN_VALUE);
      case F32 -> new ErrorBound(0x1p-24, 0x1p-150);
      case F16 -> new ErrorBound(0x1p-11, 0x1p-25);
      case BF16 -> new ErrorBound(0x1p-8, 0x1p-134);
      case F8E4M3 -> new ErrorBound(0x1p-4, 0x1p-10);
      case F8E5M2 -> new ErrorBound(0x1p-3, 0x1p-17);
      case BOOL, I8, U8, I32, U32, I64, U64, MBARRIER, HANDLE -> new ErrorBound(0, 0);
    };
  }

  /**
   * {@return the bound of elements that were rounded so often, or of the difference of so many that
   * were once}
   *
   * @param roundings at least 1
   */
  public ErrorBound times(int roundings) {
    return new ErrorBound(roundings * unit, roundings * tiny);
  }

  /**
   * {@return the greatest error of an honest element}
   *
   * @param reference of higher precision
   * @param deviation before rounding
   */
  public double limit(double reference, double deviation) {
    double before = DEVIATIONS * deviation;
    return unit * (Math.abs(reference) + before) + before + tiny;
  }

  /**
   * {@return the mean square of its errors, and a bit more}
   *
   * @param reference of higher precision
   * @param deviation before rounding
   */
  public double variance(double reference, double deviation) {
    double rounding = unit * reference;
    return (rounding * rounding + tiny * tiny) / 3 + deviation * deviation;
  }
}
