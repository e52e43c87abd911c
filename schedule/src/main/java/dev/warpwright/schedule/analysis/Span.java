package dev.warpwright.schedule.analysis;

/** The integers from {@code lo} to {@code hi}, both included. */
public record Span(long lo, long hi) {
  public static final Span ZERO = new Span(0, 0);

  public Span {
    if (lo > hi) {
      throw new IllegalArgumentException("empty span " + lo + ".." + hi);
    }
  }

  /** How many integers. */
  public long size() {
    return hi - lo + 1;
  }

  public Span plus(Span other) {
    return new Span(Math.addExact(lo, other.lo), Math.addExact(hi, other.hi));
  }

  public Span plus(long offset) {
    return new Span(Math.addExact(lo, offset), Math.addExact(hi, offset));
  }

  public Span times(long factor) {
    long a = Math.multiplyExact(lo, factor);
    long b = Math.multiplyExact(hi, factor);
    return new Span(Math.min(a, b), Math.max(a, b));
  }

  /** The smallest span that contains both. */
  public Span hull(Span other) {
    return new Span(Math.min(lo, other.lo), Math.max(hi, other.hi));
  }
}
