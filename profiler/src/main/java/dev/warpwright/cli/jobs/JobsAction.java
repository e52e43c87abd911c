package dev.warpwright.cli.jobs;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Lists, watches and ends jobs. */
public final class JobsAction implements Action<JobsRequest> {
  private static final long LOOK_MILLIS = 200;
  private static final long PATIENCE_SECONDS = 10;

  private final JobFolder jobs;

  public JobsAction(JobFolder jobs) {
    this.jobs = jobs;
  }

  @Override
  public Report perform(JobsRequest request, Progress progress) {
    try {
      return switch (request.task()) {
        case LIST -> list();
        case WATCH -> watch(jobs.find(request.id()), progress);
        case CANCEL -> cancel(jobs.find(request.id()));
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted");
    }
  }

  private Report list() {
    List<Job> all = jobs.all();
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%4s  %-9s %9s  %s",
            "job",
            "state",
            "age",
            "command, and what it said last"));
    for (Job job : all) {
      lines.add(
          String.format(
              Locale.ROOT,
              "%4d  %-9s %9s  %s",
              job.id(),
              state(job),
              age(job),
              OneLine.of(String.join(" ", job.command()))));
      if (!job.lastLine().isEmpty()) {
        lines.add(" ".repeat(28) + OneLine.of(job.lastLine()));
      }
    }
    return new Report(
        true,
        all.isEmpty() ? "no jobs" : String.join(System.lineSeparator(), lines),
        Json.object().with("jobs", Json.array(all, JobsAction::json)));
  }

  private static String state(Job job) {
    return job.state().name().toLowerCase(Locale.ROOT);
  }

  private static String age(Job job) {
    Duration age = Duration.between(job.startedAt(), Instant.now());
    return age.toHours() > 0
        ? String.format(Locale.ROOT, "%d h %d min", age.toHours(), age.toMinutesPart())
        : age.toMinutes() > 0
            ? String.format(Locale.ROOT, "%d min", age.toMinutes())
            : String.format(Locale.ROOT, "%d s", Math.max(0, age.toSeconds()));
  }

  private static Json.Members json(Job job) {
    Optional<Integer> code = job.exitCode();
    Json.Members json =
        Json.object()
            .with("id", job.id())
            .with("state", state(job))
            .with("pid", job.pid())
            .with("command", Json.array(job.command(), Json::of))
            .with("startedAt", job.startedAt().toString())
            .with("folder", job.folder().toString())
            .with("last", job.lastLine());
    return code.isPresent() ? json.with("exitCode", code.get()) : json;
  }

  private static Report watch(Job job, Progress progress) throws InterruptedException {
    int shown = 0;
    while (true) {
      Job.State state = job.state();
      List<String> lines = job.text(Job.LOG).lines().toList();
      // The last line may be half written while the job runs.
      int whole =
          state.isUnderWay() && !job.text(Job.LOG).endsWith("\n") ? lines.size() - 1 : lines.size();
      for (; shown < whole; shown++) {
        String line = lines.get(shown);
        progress.say(line.startsWith("warpwright: ") ? line.substring(12) : line);
      }
      if (!state.isUnderWay()) {
        return ended(job, state);
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
  }

  private static Report ended(Job job, Job.State state) {
    String result = job.text(Job.RESULT).stripTrailing();
    String text =
        String.format(Locale.ROOT, "job %d: %s", job.id(), state.name().toLowerCase(Locale.ROOT));
    return new Report(
        state == Job.State.DONE,
        result.isEmpty() ? text : result + System.lineSeparator() + text,
        json(job).with("result", result));
  }

  /** Asks the process to end, and makes it if it does not. */
  private static Report cancel(Job job) throws InterruptedException {
    Optional<ProcessHandle> process = job.process();
    if (process.isEmpty() || job.exitCode().isPresent()) {
      throw new UserError("job " + job.id() + " does not run any more: it is " + state(job));
    }
    job.markCancelled();
    List<ProcessHandle> children = process.get().descendants().toList();
    process.get().destroy();
    try {
      process.get().onExit().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException e) {
      process.get().destroyForcibly();
    }
    children.forEach(ProcessHandle::destroyForcibly);
    return new Report(true, "job " + job.id() + ": cancelled", json(job));
  }
}
