package dev.warpwright.cli.jobs;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "jobs",
    description = {
      "What runs in the background since 'tune --detach': 'jobs' lists it, 'jobs watch 3' follows"
          + " job 3 and prints its result, 'jobs cancel 3' ends it. Jobs on one device take turns:"
          + " those that wait are queued."
    })
public final class JobsCommand extends Command {
  private final Action<JobsRequest> action;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "TASK",
      description = "list, watch or cancel; default: list.")
  String task = "list";

  @Parameters(index = "1", arity = "0..1", paramLabel = "ID", description = "A job's number.")
  @Nullable Long id;

  public JobsCommand(Action<JobsRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    JobsRequest.Task what = task();
    if (id == null && what != JobsRequest.Task.LIST) {
      throw new UserError(
          "'jobs " + task + "' needs the number of a job, as 'jobs " + task + " 1'");
    }
    return action.perform(new JobsRequest(what, id == null ? 0 : id), progress);
  }

  private JobsRequest.Task task() {
    for (JobsRequest.Task each : JobsRequest.Task.values()) {
      if (each.name().toLowerCase(Locale.ROOT).equals(task)) {
        return each;
      }
    }
    throw new UserError("'" + task + "': jobs can be listed (list), watched or cancelled");
  }
}
