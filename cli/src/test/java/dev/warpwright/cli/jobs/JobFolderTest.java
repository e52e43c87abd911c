package dev.warpwright.cli.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.output.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JobFolderTest {
  @TempDir private Path folder;
  private final List<Job> started = new ArrayList<>();

  /** A job that says what it was given, and waits if it was told to. */
  static final class Waiting {
    private Waiting() {}

    public static void main(String[] args) throws InterruptedException {
      System.err.println("warpwright: working");
      System.out.println("result " + args[0]);
      if (args[0].equals("wait")) {
        TimeUnit.MINUTES.sleep(5);
      }
      int code = args[0].equals("fail") ? 1 : 0;
      JobFolder.ended(code);
      System.exit(code);
    }
  }

  private JobFolder jobs() {
    return new JobFolder(folder.resolve("jobs"), Waiting.class.getName());
  }

  private Job start(String argument) {
    Job job = jobs().start(List.of(argument));
    started.add(job);
    return job;
  }

  private Report perform(JobsRequest.Task task, long id, List<String> said) {
    return new JobsAction(jobs()).perform(new JobsRequest(task, id), said::add);
  }

  @AfterEach
  void endAll() {
    started.forEach(job -> job.process().ifPresent(ProcessHandle::destroyForcibly));
  }

  @Test
  void aJobThatEndsIsDoneOrFailed() {
    List<String> said = new ArrayList<>();
    Report done = perform(JobsRequest.Task.WATCH, start("fine").id(), said);
    assertThat(said).containsExactly("working");
    assertThat(done.ok()).isTrue();
    assertThat(done.text().lines()).containsExactly("result fine", "job 1: done");
    Report failed = perform(JobsRequest.Task.WATCH, start("fail").id(), said);
    assertThat(failed.ok()).isFalse();
    assertThat(failed.text()).endsWith("job 2: failed");
    assertThat(perform(JobsRequest.Task.LIST, 0, said).text())
        .containsPattern("1 +done .* fine")
        .containsPattern("2 +failed .* fail")
        .contains("working");
    assertThatThrownBy(() -> perform(JobsRequest.Task.CANCEL, 1, said))
        .isInstanceOf(UserError.class)
        .hasMessage("job 1 does not run any more: it is done");
  }

  @Test
  void aJobCanBeCancelledAndIsNotTakenForAnother() throws IOException, InterruptedException {
    Job job = start("wait");
    while (job.lastLine().isEmpty()) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    assertThat(job.state()).isEqualTo(Job.State.RUNNING);
    perform(JobsRequest.Task.CANCEL, job.id(), new ArrayList<>());
    assertThat(job.process()).isEmpty();
    assertThat(job.state()).isEqualTo(Job.State.CANCELLED);

    Job killed = start("wait");
    ProcessHandle process = killed.process().orElseThrow();
    process.destroyForcibly();
    process.onExit().join();
    assertThat(killed.state()).isEqualTo(Job.State.DIED);

    // The number of a process that is not the job's: this one.
    Path own = Files.createDirectories(folder.resolve("jobs/77"));
    Job stranger =
        new Job(
            own,
            77,
            ProcessHandle.current().pid(),
            job.processStart(),
            List.of("tune"),
            job.startedAt());
    stranger.describe();
    assertThat(jobs().find(77).state()).isEqualTo(Job.State.DIED);
    // The same without a time by which to tell: it was not told the job's folder.
    new Job(own, 77, ProcessHandle.current().pid(), null, List.of("tune"), job.startedAt())
        .describe();
    assertThat(jobs().find(77).process()).isEmpty();
    assertThat(jobs().find(77).state()).isEqualTo(Job.State.DIED);
    assertThatThrownBy(() -> perform(JobsRequest.Task.CANCEL, 77, new ArrayList<>()))
        .isInstanceOf(UserError.class);
  }

  /** A system that does not say when a process began. */
  @Test
  void aJobWithoutItsTimeIsKnownByItsFolder() throws InterruptedException {
    Job job = start("wait");
    while (job.lastLine().isEmpty()) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    Job timeless = new Job(job.folder(), job.id(), job.pid(), null, job.command(), job.startedAt());
    assertThat(timeless.process()).isPresent();
  }

  @Test
  void whatIsNoJobIsNotListed() throws IOException {
    assertThat(perform(JobsRequest.Task.LIST, 0, new ArrayList<>()).text()).isEqualTo("no jobs");
    Files.createDirectories(folder.resolve("jobs/5"));
    Files.createDirectories(folder.resolve("jobs/rubbish"));
    Files.writeString(folder.resolve("jobs/rubbish/job.json"), "{}");
    assertThat(jobs().all()).isEmpty();
    assertThatThrownBy(() -> jobs().find(5))
        .isInstanceOf(UserError.class)
        .hasMessage("there is no job 5; 'warpwright jobs' lists them");
  }
}
