package dev.warpwright.sim.finding;

/**
 * Something may be wrong in what compiled code executes: then the closures execute everything again
 * and say what it is.
 */
public final class Suspicion extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final Suspicion INSTANCE = new Suspicion();

  private Suspicion() {
    super("to be executed by the interpreter", null, false, false);
  }

  /** The only one, to be thrown. */
  public static Suspicion raise() {
    return INSTANCE;
  }
}
