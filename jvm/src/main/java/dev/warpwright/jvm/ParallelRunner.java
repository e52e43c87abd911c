package dev.warpwright.jvm;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A small pool for parallel loops. The caller takes part; workers draw tickets for chunks of
 * iterations, so that a slow or descheduled thread delays only its own chunk. Threads wait by
 * spinning briefly, then by yielding, then they park: spinning longer collapses where cores are
 * shared, and a parked thread takes tens of microseconds to come back.
 *
 * <p>A loop that is started inside a loop, or while another caller's loop runs, runs on the calling
 * thread alone. Threads are daemons and start with the first loop.
 */
public final class ParallelRunner implements Parallel, AutoCloseable {
  /** How long a thread waits at full speed: longer than from one loop to the next in a kernel. */
  private static final long SPIN_NANOS = 20_000;

  /** How long it waits on while it lets other threads have the core, before it parks. */
  private static final long YIELD_NANOS = 300_000;

  private static final int CHUNKS_PER_WORKER = 8;

  private final int workers;

  /** The thread whose loop the workers have, or null. */
  private final AtomicReference<@Nullable Thread> caller = new AtomicReference<>();

  private final Worker[] threads;
  private volatile @Nullable Job current;
  private volatile boolean closed;
  private boolean started;

  /** A pool of as many workers as there are processors. */
  public ParallelRunner() {
    this(Runtime.getRuntime().availableProcessors());
  }

  /**
   * A pool.
   *
   * @param workers threads that take part in a loop, the caller included, at least 1
   */
  public ParallelRunner(int workers) {
    if (workers < 1) {
      throw new IllegalArgumentException("a pool needs at least one worker, not " + workers);
    }
    this.workers = workers;
    this.threads = new Worker[workers - 1];
  }

  @Override
  public void run(int count, Body body) {
    if (count <= 1 || workers == 1 || !caller.compareAndSet(null, Thread.currentThread())) {
      Parallel.SERIAL.run(count, body);
      return;
    }
    try {
      start();
      Job job = new Job(count, Math.max(1, count / (workers * CHUNKS_PER_WORKER)), body);
      current = job;
      for (Worker worker : threads) {
        worker.wake();
      }
      job.work();
      job.await();
      current = null;
    } finally {
      caller.set(null);
    }
  }

  private void start() {
    if (started) {
      return;
    }
    if (closed) {
      throw new IllegalStateException("the pool is closed");
    }
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Worker(i);
      threads[i].start();
    }
    started = true;
  }

  /** Ends the threads; a loop that runs is finished first. */
  @Override
  @SuppressWarnings("ThreadPriorityCheck") // A yield is a courtesy here, nothing depends on it.
  public void close() {
    Thread closing = Thread.currentThread();
    boolean inLoop = caller.get() == closing;
    while (!inLoop && !caller.compareAndSet(null, closing)) {
      Thread.yield();
    }
    closed = true;
    if (started) {
      for (Worker worker : threads) {
        LockSupport.unpark(worker);
      }
    }
    if (!inLoop) {
      caller.set(null);
    }
  }

  /** One loop. */
  private static final class Job {
    private final int count;
    private final int chunk;
    private final Body body;
    private final Thread caller = Thread.currentThread();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    Job(int count, int chunk, Body body) {
      this.count = count;
      this.chunk = chunk;
      this.body = body;
    }

    /** Draws chunks until none is left. */
    void work() {
      while (true) {
        int begin = next.get();
        if (begin >= count) {
          return;
        }
        int end = begin + Math.min(chunk, count - begin);
        if (!next.compareAndSet(begin, end)) {
          continue;
        }
        if (failure.get() == null) {
          try {
            body.run(begin, end);
          } catch (Throwable e) {
            failure.compareAndSet(null, e);
          }
        }
        if (done.addAndGet(end - begin) == count && Thread.currentThread() != caller) {
          LockSupport.unpark(caller);
        }
      }
    }

    /** Waits for the chunks that others drew; throws what one of them threw. */
    void await() {
      Patience patience = new Patience();
      while (done.get() < count && patience.waits()) {}
      boolean interrupted = false;
      while (done.get() < count) {
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      switch (failure.get()) {
        case null -> {}
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case Throwable e -> throw new IllegalStateException(e);
      }
    }
  }

  /** Waiting that gets cheaper for others the longer it takes. */
  private static final class Patience {
    private static final int SPINS_PER_LOOK = 32;
    private final long start = System.nanoTime();
    private boolean spinning = true;

    /** Waits a moment; false when it is time to park. */
    @SuppressWarnings("ThreadPriorityCheck") // A yield is a courtesy here, nothing depends on it.
    boolean waits() {
      if (spinning) {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
          Thread.onSpinWait();
        }
        spinning = System.nanoTime() - start < SPIN_NANOS;
        return true;
      }
      Thread.yield();
      return System.nanoTime() - start < YIELD_NANOS;
    }
  }

  private final class Worker extends Thread {
    private volatile boolean parked;

    Worker(int number) {
      super("warpwright-cpu-" + (number + 1));
      setDaemon(true);
    }

    void wake() {
      if (parked) {
        LockSupport.unpark(this);
      }
    }

    @Override
    public void run() {
      Job last = null;
      while (!closed) {
        Job job = awaitJob(last);
        if (job != null) {
          job.work();
          last = job;
        }
      }
    }

    /** A job other than the last one; null when woken for nothing. */
    private @Nullable Job awaitJob(@Nullable Job last) {
      Patience patience = new Patience();
      do {
        Job job = current;
        if (job != null && job != last) {
          return job;
        }
      } while (patience.waits());
      // The caller sets the job before it reads the flag, we set the flag before we read the job:
      // one of us sees the other.
      parked = true;
      Job job = current;
      if ((job == null || job == last) && !closed) {
        LockSupport.park(ParallelRunner.this);
      }
      parked = false;
      job = current;
      return job == last ? null : job;
    }
  }
}
