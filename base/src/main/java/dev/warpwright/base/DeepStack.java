package dev.warpwright.base;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs work that recurses as deep as the user's data: programs are trees, and a network of 1000
 * layers is a tree a few thousand levels deep, for which a usual stack is too small. All such work
 * goes through here, so that depth is bounded in one place and what is deeper is refused with one
 * line.
 */
public final class DeepStack {
  /** Reserved only: what is not reached takes no memory. */
  private static final long BYTES = 1L << 29;

  private DeepStack() {}

  /** A thread that has the stack already: work inside of work stays on it. */
  private static final class Deep<T> extends Thread {
    private final Supplier<T> work;
    private @Nullable T result;
    private @Nullable Throwable failure;

    Deep(Supplier<T> work) {
      super(null, null, Thread.currentThread().getName(), BYTES);
      this.work = work;
      setDaemon(Thread.currentThread().isDaemon());
    }

    @Override
    @SuppressWarnings("CatchingUnchecked")
    public void run() {
      try {
        result = work.get();
      } catch (StackOverflowError e) {
        failure = new UserError("nested too deeply to be read or compiled; make it shallower", e);
      } catch (RuntimeException | Error e) {
        failure = e;
      }
    }
  }

  /**
   * {@return what {@code work} returns or throws}
   *
   * @param <T> of the result
   * @param work run once, on a thread with a large stack unless this one has it
   * @throws UserError if it recursed deeper than even the large stack allows
   */
  @SuppressWarnings("NullAway") // the result is what work returned, null only if that may be
  public static <T extends @Nullable Object> T call(Supplier<T> work) {
    if (Thread.currentThread() instanceof Deep) {
      return work.get();
    }
    Deep<T> thread = new Deep<>(work);
    thread.start();
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        // Whoever interrupts means the work, which decides what becomes of it.
        interrupted = true;
        thread.interrupt();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    switch (thread.failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new IllegalStateException(e);
    }
    return thread.result;
  }
}
