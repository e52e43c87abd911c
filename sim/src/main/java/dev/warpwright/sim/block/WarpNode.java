package dev.warpwright.sim.block;

/**
 * A compiled statement of a grid kernel, executed by the lanes of a warp in lockstep. Statements
 * that contain a place where a warp may stop (a barrier, a {@code while}) are executed step by step
 * by an {@link Activity}, so that another warp can go on meanwhile; all others at once.
 */
public abstract class WarpNode {
  /**
   * What is left of a statement in execution. {@link #advance} does a part of it, and either pops
   * this from the warp's stack or leaves it there for later.
   */
  public interface Activity {
    void advance(Warp w);
  }

  /** Whether a warp may stop inside. */
  public abstract boolean stops();

  /** Executes all of it; only where it does not stop. */
  public abstract void run(Warp w, int mask);

  /** Starts a statement that may stop. */
  abstract Activity start(Warp w, int mask);

  /** Executes at once or, if it may stop, makes it the next thing that the warp does. */
  public final void enter(Warp w, int mask) {
    if (stops()) {
      w.push(start(w, mask));
    } else {
      run(w, mask);
    }
  }

  /** A statement that never stops. */
  public interface Straight {
    void run(Warp w, int mask);
  }

  /** A statement that may stop. */
  public interface Starter {
    Activity start(Warp w, int mask);
  }

  public static WarpNode straight(Straight body) {
    return new WarpNode() {
      @Override
      public boolean stops() {
        return false;
      }

      @Override
      public void run(Warp w, int mask) {
        body.run(w, mask);
      }

      @Override
      Activity start(Warp w, int mask) {
        throw new IllegalStateException("this statement does not stop");
      }
    };
  }

  public static WarpNode stopping(Starter body) {
    return new WarpNode() {
      @Override
      public boolean stops() {
        return true;
      }

      @Override
      public void run(Warp w, int mask) {
        throw new IllegalStateException("this statement may stop");
      }

      @Override
      Activity start(Warp w, int mask) {
        return body.start(w, mask);
      }
    };
  }
}
