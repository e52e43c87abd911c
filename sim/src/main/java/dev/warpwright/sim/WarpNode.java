package dev.warpwright.sim;

/**
 * A compiled statement of a grid kernel, executed by the lanes of a warp in lockstep. Statements
 * that contain a place where a warp may stop (a barrier, a {@code while}) are executed step by step
 * by an {@link Activity}, so that another warp can go on meanwhile; all others at once.
 */
abstract class WarpNode {
  /**
   * What is left of a statement in execution. {@link #advance} does a part of it, and either pops
   * this from the warp's stack or leaves it there for later.
   */
  interface Activity {
    void advance(Warp w);
  }

  /** Whether a warp may stop inside. */
  abstract boolean stops();

  /** Executes all of it; only where it does not stop. */
  abstract void run(Warp w, int mask);

  /** Starts a statement that may stop. */
  abstract Activity start(Warp w, int mask);

  /** Executes at once or, if it may stop, makes it the next thing that the warp does. */
  final void enter(Warp w, int mask) {
    if (stops()) {
      w.push(start(w, mask));
    } else {
      run(w, mask);
    }
  }

  /** A statement that never stops. */
  interface Straight {
    void run(Warp w, int mask);
  }

  /** A statement that may stop. */
  interface Starter {
    Activity start(Warp w, int mask);
  }

  static WarpNode straight(Straight body) {
    return new WarpNode() {
      @Override
      boolean stops() {
        return false;
      }

      @Override
      void run(Warp w, int mask) {
        body.run(w, mask);
      }

      @Override
      Activity start(Warp w, int mask) {
        throw new IllegalStateException("this statement does not stop");
      }
    };
  }

  static WarpNode stopping(Starter body) {
    return new WarpNode() {
      @Override
      boolean stops() {
        return true;
      }

      @Override
      void run(Warp w, int mask) {
        throw new IllegalStateException("this statement may stop");
      }

      @Override
      Activity start(Warp w, int mask) {
        return body.start(w, mask);
      }
    };
  }
}
