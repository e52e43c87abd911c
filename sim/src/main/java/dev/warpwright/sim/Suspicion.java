package dev.warpwright.sim;

/**
 * Something may be wrong in what compiled code executes: then the closures execute everything again
 * and say what it is.
 */
final class Suspicion extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final Suspicion INSTANCE = new Suspicion();

  private Suspicion() {
    super("to be executed by the interpreter", null, false, false);
  }

  /** The only one, to be thrown. */
  static Suspicion raise() {
    return INSTANCE;
  }
}
