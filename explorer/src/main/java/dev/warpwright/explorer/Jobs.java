package dev.warpwright.explorer;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Work that takes longer than a request: it is started, asked after, and cancelled. Each runs in a
 * thread of its own; the oldest finished ones are forgotten. Work that nobody asks after any more
 * has lost its page, and ends as if it were cancelled.
 */
public final class Jobs implements AutoCloseable {
  private static final int MOST_RUNNING = 2;
  private static final int MOST_KEPT = 16;

  /** Browsers wake a page in the background once a minute. */
  private static final Duration PATIENCE = Duration.ofSeconds(75);

  /** What a job does. */
  @FunctionalInterface
  public interface Work {
    /**
     * Works until done or cancelled.
     *
     * @return the result, a JSON document
     */
    String run(Job job);
  }

  /** One job, as its work sees it. */
  public static final class Job {
    private final long patience;
    private volatile boolean cancelled;
    private volatile long asked = System.nanoTime();
    private volatile String state = "null";
    private volatile @Nullable String result;
    private volatile @Nullable String error;

    private Job(long patience) {
      this.patience = patience;
    }

    /** Whether the work should end, with what it has. */
    public boolean cancelled() {
      return cancelled || System.nanoTime() - asked > patience;
    }

    /** Tells how far it is, as a JSON document. */
    public void report(String json) {
      state = json;
    }

    private boolean running() {
      return result == null && error == null;
    }
  }

  private final Map<Long, Job> jobs = new LinkedHashMap<>();
  private final Duration patience;
  private long last;

  /** For pages in a browser. */
  public Jobs() {
    this(PATIENCE);
  }

  /**
   * As above.
   *
   * @param patience for so long nobody need ask after a job
   */
  public Jobs(Duration patience) {
    this.patience = patience;
  }

  /**
   * Starts a job.
   *
   * @return its number
   * @throws UserError if too many are running
   */
  public synchronized long start(String name, Work work) {
    if (jobs.values().stream().filter(Job::running).count() >= MOST_RUNNING) {
      throw new UserError(
          MOST_RUNNING + " searches or simulations are running; wait, or cancel one");
    }
    jobs.values().removeIf(job -> jobs.size() > MOST_KEPT && !job.running());
    long number = ++last;
    var job = new Job(patience.toNanos());
    jobs.put(number, job);
    Thread.ofPlatform()
        .daemon()
        .name(name + "-" + number)
        .start(
            () -> {
              try {
                job.result = work.run(job);
              } catch (UserError | DeviceError e) {
                job.error = String.valueOf(e.getMessage());
              } catch (RuntimeException | Error e) {
                job.error = "this is a bug in warpwright, please report it: " + e;
              }
            });
    return number;
  }

  /** How a job stands: running, its last report, its result or its error. */
  public String status(String number) {
    Job job = find(number);
    job.asked = System.nanoTime();
    String error = job.error;
    String result = job.result;
    return String.format(
        Locale.ROOT,
        "{\"running\": %b, \"progress\": %s, \"result\": %s, \"error\": %s}",
        result == null && error == null,
        job.state,
        result,
        error == null ? "null" : Text.quote(error));
  }

  /** Asks a job to end. */
  public void cancel(String number) {
    find(number).cancelled = true;
  }

  private synchronized Job find(String number) {
    Job job = number.matches("\\d{1,18}") ? jobs.get(Long.parseLong(number)) : null;
    if (job == null) {
      throw new UserError("there is no such job; start it again");
    }
    return job;
  }

  /** Asks all jobs to end. */
  @Override
  public synchronized void close() {
    jobs.values().forEach(job -> job.cancelled = true);
  }
}
