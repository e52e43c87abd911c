package dev.warpwright.space.record;

import java.util.Locale;

/** Why a candidate has no time. */
public enum FailureReason {
  /** It does not fit the device or the workload; nothing was compiled. */
  REJECTED,
  /** The compiler refused it. */
  COMPILE,
  /** It keeps registers in memory, or the compiler serialised its matrix instructions. */
  SPILL,
  /** The device refused to launch it. */
  LAUNCH,
  /** Its result is wrong. */
  WRONG,
  /** It accessed what it may not, or the device reported another error. */
  FAULT,
  /** It did not end in time. */
  HANG,
  /** The process it ran in died. */
  CRASH,
  /**
   * Nobody was there to measure it, which says nothing about it: this is never recorded, so that a
   * later search measures it.
   */
  UNMEASURED;

  /** {@return the name in small letters, as records have it} */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Reads {@link #text()}.
   *
   * @param text in small letters
   * @return the reason
   * @throws IllegalArgumentException if there is none of this name
   */
  public static FailureReason parse(String text) {
    return valueOf(text.toUpperCase(Locale.ROOT));
  }
}
