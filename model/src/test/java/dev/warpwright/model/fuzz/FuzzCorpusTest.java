package dev.warpwright.model.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The inputs that fuzzing starts from, called {@code valid-…}, and those that it has found: none
 * may do anything but be read, or be refused with one line.
 */
class FuzzCorpusTest {

  @ParameterizedTest
  @EnumSource(Target.class)
  void isReadOrRefused(Target target) throws Exception {
    List<Path> inputs = inputs(target);
    assertThat(inputs).isNotEmpty();
    for (Path input : inputs) {
      assertTimeoutPreemptively(
          Duration.ofMinutes(5), () -> checkInTime(target, input), input.toString());
    }
  }

  /** Time of the processor, not of the clock: a machine may be busy with something else. */
  private static void checkInTime(Target target, Path input) throws IOException {
    byte[] bytes = Files.readAllBytes(input);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long start = threads.getCurrentThreadCpuTime();
    boolean read = target.check(bytes);
    long nanoseconds = threads.getCurrentThreadCpuTime() - start;
    boolean valid = input.getFileName().toString().startsWith("valid-");
    assertThat(read || !valid).as("%s is read", input).isTrue();
    assertThat(nanoseconds).as("time for %s", input).isLessThan(5_000_000_000L);
  }

  private static List<Path> inputs(Target target) throws IOException, URISyntaxException {
    URL folder = FuzzCorpusTest.class.getResource("/fuzz/" + target.text());
    assertThat(folder).isNotNull();
    try (Stream<Path> files = Files.list(Path.of(folder.toURI()))) {
      return files.sorted().toList();
    }
  }
}
