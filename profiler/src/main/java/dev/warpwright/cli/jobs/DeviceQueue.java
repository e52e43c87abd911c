package dev.warpwright.cli.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.families.tuned.TuningLocation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * One after the other on each device: two that measure at the same time disturb each other's times.
 * A command takes a turn on all devices it measures on and keeps it until it ends; others wait, and
 * say so. A turn is a lock of the operating system on a file of the user's state folder, so it ends
 * with the process, however that ends.
 */
public final class DeviceQueue {
  private static final int LONGEST = 200;

  /** What the system's locks do not tell apart: turns of this process. */
  private static final Map<Path, Semaphore> HERE = new ConcurrentHashMap<>();

  private final Path folder;

  DeviceQueue(Path folder) {
    this.folder = folder;
  }

  /** The user's. */
  public static DeviceQueue ofUser() {
    return new DeviceQueue(TuningLocation.stateFolder().resolve("devices"));
  }

  /** A turn, which ends when it is closed. */
  public static final class Turn implements AutoCloseable {
    private final List<Held> held = new ArrayList<>();

    private Turn() {}

    @Override
    public void close() {
      held.reversed().forEach(Held::close);
      held.clear();
    }
  }

  /** A device that is ours. */
  private record Held(FileChannel channel, Semaphore here) {
    void close() {
      try {
        // Its text goes first: nobody reads the name of one that has ended.
        channel.truncate(0);
        channel.close();
      } catch (IOException e) {
        // The lock ends with the process then.
      } finally {
        here.release();
      }
    }
  }

  /**
   * Waits until nobody else measures on some devices.
   *
   * @param devices names that tell them apart; empty if none of them is real
   * @param command for those who wait, for example {@code tune}
   * @param progress is told once if there is something to wait for
   */
  public Turn take(List<String> devices, String command, Progress progress) {
    Turn turn = new Turn();
    Waiting waiting = new Waiting(progress);
    try {
      // In one order, so that two commands on several devices do not wait for each other.
      for (String device : devices.stream().sorted().distinct().toList()) {
        Path file = folder.resolve(device.replaceAll("[^A-Za-z0-9-]", "_") + ".lock");
        turn.held.add(take(file, command, waiting));
      }
      return turn;
    } catch (IOException e) {
      // Times may be disturbed, but there are times.
      progress.say(
          "cannot lock the device in "
              + folder
              + " ("
              + e.getMessage()
              + "): let nothing else run on it");
      return turn;
    } catch (InterruptedException e) {
      turn.close();
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted while waiting for the device");
    } finally {
      waiting.end();
    }
  }

  private Held take(Path file, String command, Waiting waiting)
      throws IOException, InterruptedException {
    Files.createDirectories(folder);
    Semaphore here = HERE.computeIfAbsent(file.toAbsolutePath(), f -> new Semaphore(1));
    if (!here.tryAcquire()) {
      waiting.say("another command of this process");
      here.acquire();
    }
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      if (lock == null) {
        // Through the same channel: closing another one would end this process's locks.
        waiting.say(holder(channel));
        channel.lock();
      }
      byte[] text =
          (JobFolder.own().orElse("process " + ProcessHandle.current().pid())
                  + " ("
                  + command
                  + ")")
              .getBytes(UTF_8);
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(text), 0);
      return new Held(channel, here);
    } catch (IOException | RuntimeException e) {
      if (channel != null) {
        channel.close();
      }
      here.release();
      throw e;
    }
  }

  private static String holder(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(LONGEST);
    int count = channel.read(bytes, 0);
    return count <= 0 ? "another command" : OneLine.of(new String(bytes.array(), 0, count, UTF_8));
  }

  /** One that waits: tells it, and marks its job. */
  private static final class Waiting {
    private final Progress progress;
    private boolean told;

    Waiting(Progress progress) {
      this.progress = progress;
    }

    void say(String holder) {
      if (!told) {
        told = true;
        JobFolder.queued(true);
        progress.say("waiting for the device: " + holder + " measures on it");
      }
    }

    void end() {
      if (told) {
        JobFolder.queued(false);
      }
    }
  }
}
