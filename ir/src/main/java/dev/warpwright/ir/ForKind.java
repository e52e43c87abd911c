package dev.warpwright.ir;

/** How the iterations of a loop are carried out. */
public enum ForKind {
  /** One after the other. */
  SERIAL("for"),
  /** One after the other, as straight-line code. Constant extent. */
  UNROLLED("unroll"),
  /** As lanes of vectors. Constant extent; no iteration depends on another. */
  VECTORIZED("vector"),
  /** Host only: iterations may run at the same time on several cores. */
  PARALLEL("parallel"),
  /** The loop variable is an index of the launch; the {@code axis} of the loop says which. */
  THREAD_BOUND("bind"),
  /** Serial in meaning; loads of later iterations are issued early (attribute {@code stages}). */
  PIPELINED("pipeline"),
  /** Serial in meaning; distributed over as many blocks as run at once. */
  PERSISTENT("persistent");

  private final String keyword;

  ForKind(String keyword) {
    this.keyword = keyword;
  }

  /** {@return the keyword that opens such a loop in the text form} */
  public String keyword() {
    return keyword;
  }
}
