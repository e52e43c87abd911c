package dev.warpwright.compiler.fusion;

/** What a {@link FusionRule} says of a network before any kernel is made. */
public sealed interface Verdict {
  /**
   * It fits.
   *
   * @param micros that it is expected to take; NaN where nothing is known of the device
   * @param weighed by which it competes: {@code micros}, or more where what it makes serves less
   */
  record Fires(double micros, double weighed) implements Verdict {
    Fires(double micros) {
      this(micros, micros);
    }
  }

  /**
   * It fits, but is taken only where no other rule can be applied.
   *
   * @param reason why, without a full stop
   */
  record LastResort(String reason) implements Verdict {}

  /**
   * It does not fit.
   *
   * @param reason what does not, without a full stop
   */
  record DoesNotFire(String reason) implements Verdict {}
}
