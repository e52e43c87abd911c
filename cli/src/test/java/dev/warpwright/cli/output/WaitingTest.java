package dev.warpwright.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class WaitingTest {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final CountDownLatch three = new CountDownLatch(3);

  private final Progress progress =
      new Progress() {
        @Override
        public void say(String line) {
          throw new IllegalStateException("no line of its own: " + line);
        }

        @Override
        public void status(String line, boolean news) {
          assertThat(news).isFalse();
          lines.add(line);
          three.countDown();
        }
      };

  @Test
  void aStepThatLastsIsToldWithItsTime() throws InterruptedException {
    try (Waiting _ = new Waiting(progress, "choosing kernels", 5)) {
      three.await();
    }
    assertThat(lines).startsWith("choosing kernels, 3 s", "choosing kernels, 4 s");
    int told = lines.size();
    Thread.sleep(30);
    assertThat(lines).hasSize(told);
  }

  @Test
  void theNextStepBeginsAtOne() throws InterruptedException {
    try (Waiting waiting = new Waiting(progress, "choosing kernels", 200)) {
      waiting.step("predicting the other ways");
      three.await();
    }
    assertThat(lines).startsWith("predicting the other ways, 1 s");
  }

  @Test
  void whatIsDoneAtOnceIsNotTold() {
    try (Waiting waiting = new Waiting(progress, "choosing kernels")) {
      waiting.step("predicting the other ways");
    }
    assertThat(lines).isEmpty();
  }
}
