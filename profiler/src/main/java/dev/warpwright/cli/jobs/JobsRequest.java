package dev.warpwright.cli.jobs;

/**
 * Asks for jobs.
 *
 * @param id of the job to watch or cancel
 */
public record JobsRequest(Task task, long id) {
  /** What to do. */
  public enum Task {
    LIST,
    WATCH,
    CANCEL
  }
}
