package dev.warpwright.cli.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DeviceQueueTest {
  private static final List<String> DEVICE = List.of("GPU-0");

  @TempDir private Path folder;
  private final List<Job> started = new ArrayList<>();

  /** A job that measures on a device, as soon as it may, until it is killed. */
  static final class Measuring {
    private Measuring() {}

    public static void main(String[] args) throws InterruptedException {
      DeviceQueue queue = new DeviceQueue(Path.of(args[0]));
      try (DeviceQueue.Turn _ =
          queue.take(DEVICE, "tune", line -> System.err.println("warpwright: " + line))) {
        System.err.println("warpwright: measuring");
        TimeUnit.MINUTES.sleep(5);
      }
    }
  }

  private Path locks() {
    return folder.resolve("devices");
  }

  private Job start() {
    Job job =
        new JobFolder(folder.resolve("jobs"), Measuring.class.getName())
            .start(List.of(locks().toString()));
    started.add(job);
    return job;
  }

  @AfterEach
  void endAll() {
    started.forEach(job -> job.process().ifPresent(ProcessHandle::destroyForcibly));
  }

  private static void waitFor(Job job, String line) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!job.lastLine().contains(line)) {
      assertThat(System.nanoTime()).as(job.text(Job.LOG)).isLessThan(end);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void jobsOnOneDeviceTakeTurnsEvenWhenOneIsKilled() throws InterruptedException {
    Job first = start();
    waitFor(first, "measuring");
    Job second = start();
    waitFor(second, "waiting for the device: job 1 (tune) measures on it");
    assertThat(first.state()).isEqualTo(Job.State.RUNNING);
    assertThat(second.state()).isEqualTo(Job.State.QUEUED);
    assertThat(
            new JobsAction(new JobFolder(folder.resolve("jobs"), "none"))
                .perform(new JobsRequest(JobsRequest.Task.LIST, 0), line -> {})
                .text())
        .containsPattern("1 +running")
        .containsPattern("2 +queued");

    // kill -9: nothing of it can tell anybody.
    ProcessHandle process = first.process().orElseThrow();
    process.destroyForcibly();
    process.onExit().join();
    waitFor(second, "measuring");
    assertThat(first.state()).isEqualTo(Job.State.DIED);
    assertThat(second.state()).isEqualTo(Job.State.RUNNING);

    Job third = start();
    waitFor(third, "waiting for the device: job 2 (tune)");
    ProcessHandle waiting = third.process().orElseThrow();
    waiting.destroyForcibly();
    waiting.onExit().join();
    assertThat(third.state()).as("killed while it waited").isEqualTo(Job.State.DIED);
  }

  @Test
  void commandsOfOneProcessTakeTurnsToo() throws InterruptedException {
    DeviceQueue queue = new DeviceQueue(locks());
    List<String> said = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch waits = new CountDownLatch(1);
    Thread second;
    try (DeviceQueue.Turn _ = queue.take(DEVICE, "perf", said::add);
        DeviceQueue.Turn _ = queue.take(List.of("GPU-1"), "perf", said::add)) {
      assertThat(said).as("another device").isEmpty();
      second =
          new Thread(
              () -> {
                try (DeviceQueue.Turn _ =
                    queue.take(
                        List.of("GPU-1", "GPU-0", "GPU-0"),
                        "tune",
                        line -> {
                          said.add(line);
                          waits.countDown();
                        })) {
                  said.add("measuring");
                }
              });
      second.start();
      assertThat(waits.await(60, TimeUnit.SECONDS)).isTrue();
      said.add("done");
    }
    second.join();
    assertThat(said)
        .containsExactly(
            "waiting for the device: another command of this process measures on it",
            "done",
            "measuring");
  }

  @Test
  void whereNothingCanBeLockedThereAreTimesNevertheless() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "no folder");
    List<String> said = new ArrayList<>();
    try (DeviceQueue.Turn _ = new DeviceQueue(file).take(DEVICE, "perf", said::add)) {
      assertThat(said).singleElement().asString().contains("cannot lock the device");
    }
    assertThat(folder).isDirectoryNotContaining(path -> path.endsWith("devices"));
  }
}
