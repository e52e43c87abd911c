package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.buffer.DeviceStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The workspaces of an executable: as many as calls were under way at once, up to a limit at which
 * calls wait. Where one is free, taking and giving back are an atomic operation each.
 */
public final class WorkspacePool implements AutoCloseable {
  /** A workspace that somebody has. */
  public static final class Lease {
    private final Workspace workspace;
    private final AtomicBoolean busy = new AtomicBoolean(true);

    private Lease(Workspace workspace) {
      this.workspace = workspace;
    }

    public Workspace workspace() {
      return workspace;
    }
  }

  private final Executable executable;
  private final int most;

  /** One for each stream that calls were given to. */
  private final Map<DeviceStream, Lease> streams = new HashMap<>();

  /** Replaced, never changed. */
  private volatile Lease[] leases = {};

  private volatile int waiting;
  private volatile boolean closed;

  /**
   * A pool.
   *
   * @param most workspaces at once, at least 1
   */
  public WorkspacePool(Executable executable, int most) {
    this.executable = executable;
    this.most = most;
  }

  public Executable executable() {
    return executable;
  }

  /**
   * A workspace for the caller alone, to be given back.
   *
   * @throws IllegalStateException if the pool is closed
   */
  public Lease take() {
    Lease lease = find();
    return lease == null ? awaited(this::findOrMake) : lease;
  }

  private @Nullable Lease find() {
    Lease[] all = leases;
    if (all.length == 0) {
      return null;
    }
    // Threads begin at different ones, so that each tends to find the one it had.
    int start = all.length == 1 ? 0 : (int) (Thread.currentThread().threadId() % all.length);
    for (int i = 0; i < all.length; i++) {
      Lease lease = all[start + i < all.length ? start + i : start + i - all.length];
      if (!lease.busy.getPlain() && lease.busy.compareAndSet(false, true)) {
        if (closed) {
          give(lease);
          throw closedError();
        }
        return lease;
      }
    }
    return null;
  }

  private @Nullable Lease findOrMake() {
    Lease lease = find();
    if (lease == null && leases.length < most) {
      lease = new Lease(executable.newWorkspace());
      Lease[] more = Arrays.copyOf(leases, leases.length + 1);
      more[leases.length] = lease;
      leases = more;
    }
    return lease;
  }

  /**
   * What an attempt gives, tried again after each change until it gives something.
   *
   * @throws IllegalStateException if the pool is closed
   */
  private synchronized Lease awaited(Supplier<@Nullable Lease> attempt) {
    boolean interrupted = false;
    waiting++;
    try {
      while (true) {
        if (closed) {
          throw closedError();
        }
        Lease lease = attempt.get();
        if (lease != null) {
          return lease;
        }
        interrupted |= !awaitChange();
      }
    } finally {
      waiting--;
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * The workspace for calls on a stream, for the caller alone until it is given back. Those of
   * streams that were closed are closed.
   *
   * @throws IllegalStateException if the pool or the stream is closed
   */
  public Lease take(DeviceStream stream) {
    return awaited(() -> findOrMake(stream));
  }

  private @Nullable Lease findOrMake(DeviceStream stream) {
    Lease known = streams.get(stream);
    if (known != null) {
      return known.busy.compareAndSet(false, true) ? known : null;
    }
    closeUnused();
    Lease made = new Lease(executable.newWorkspace(stream));
    streams.put(stream, made);
    return made;
  }

  private void closeUnused() {
    streams
        .entrySet()
        .removeIf(
            entry -> {
              boolean unused =
                  entry.getKey().isClosed() && entry.getValue().busy.compareAndSet(false, true);
              if (unused) {
                entry.getValue().workspace.close();
              }
              return unused;
            });
  }

  /** Gives a workspace back. */
  public void give(Lease lease) {
    lease.busy.set(false);
    // Whoever waits has said so before it looked at the flag: one of us sees the other.
    if (waiting > 0 || closed) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** Waits for something to be given back; false if the thread was interrupted. */
  private boolean awaitChange() {
    try {
      wait();
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  private static IllegalStateException closedError() {
    return new IllegalStateException("the compiled model is closed; compile the model again");
  }

  /** Waits for the calls under way; those that come later fail. The executable stays open. */
  @Override
  public synchronized void close() {
    closed = true;
    boolean interrupted = false;
    notifyAll();
    List<Lease> all = new ArrayList<>(List.of(leases));
    all.addAll(streams.values());
    for (Lease lease : all) {
      while (!lease.busy.compareAndSet(false, true)) {
        interrupted |= !awaitChange();
      }
      lease.workspace.close();
    }
    leases = new Lease[0];
    streams.clear();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
