package dev.warpwright.lower.tile;

/** What a pass over tile programs cannot do; the message says with what and why, on one line. */
public final class PassRefusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public PassRefusal(String message) {
    super(message);
  }
}
