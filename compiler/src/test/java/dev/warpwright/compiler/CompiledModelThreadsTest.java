package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** An application has more than one thread, and closes what it no longer needs. */
class CompiledModelThreadsTest {
  private static final int THREADS = 8;
  private static final int CALLS = 150;
  private static final int FEATURES = 64;
  private static final int[] BATCHES = {1, 2, 3, 7, 16, 33};

  private final RealModel digits = RealModel.of("digits-relu-128-64/model.onnx");

  @Test
  void threadsGetTheirOwnResults() throws Exception {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    try (CpuDevice device = new CpuDevice();
        CompiledModel model = digits.load().compile(device)) {
      float[] rows = digits.input();
      int count = rows.length / FEATURES;
      // What each single row gives; rows do not depend on each other.
      List<float[]> expected = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        expected.add(model.run(slice(rows, i, 1)));
      }
      List<Callable<Integer>> work = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        Random random = new Random(seed + t);
        work.add(
            () -> {
              int wrong = 0;
              for (int call = 0; call < CALLS; call++) {
                int batch = BATCHES[random.nextInt(BATCHES.length)];
                int first = random.nextInt(count - batch);
                float[] y = model.run(slice(rows, first, batch));
                wrong += same(y, expected, first, batch) ? 0 : 1;
              }
              return wrong;
            });
      }
      try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
        for (Future<Integer> wrong : threads.invokeAll(work)) {
          assertThat(wrong.get()).as("wrong results of %d calls", CALLS).isZero();
        }
      }
    }
  }

  private static float[] slice(float[] rows, int first, int count) {
    return Arrays.copyOfRange(rows, first * FEATURES, (first + count) * FEATURES);
  }

  /** Other batches have other kernels, which may add up in another order. */
  private static boolean same(float[] y, List<float[]> expected, int first, int batch) {
    for (int i = 0; i < batch; i++) {
      float[] row = expected.get(first + i);
      for (int j = 0; j < row.length; j++) {
        if (!(Math.abs(y[i * row.length + j] - row[j]) <= 1e-4f * (1 + Math.abs(row[j])))) {
          return false;
        }
      }
    }
    return true;
  }

  @Test
  void aClosedModelSaysSo() {
    try (CpuDevice device = new CpuDevice()) {
      CompiledModel model = digits.load().compile(device);
      float[] x = slice(digits.input(), 0, 1);
      var executable = model.executable(1);
      model.run(x);
      model.close();
      assertThatThrownBy(() -> model.run(x))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the compiled model is closed; compile the model again");
      assertThatThrownBy(() -> model.prepare(1)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> executable.run(1, List.of(x), List.of(new float[10])))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the program is closed");
      assertThatCode(model::close).doesNotThrowAnyException();
    }
  }

  @Test
  void aModelThatIsClosedWhileItRunsFinishesThatCall() throws Exception {
    try (CpuDevice device = new CpuDevice()) {
      CompiledModel model = digits.load().compile(device);
      float[] x = slice(digits.input(), 0, 16);
      float[] expected = model.run(x);
      CountDownLatch running = new CountDownLatch(THREADS - 1);
      AtomicInteger wrong = new AtomicInteger();
      try (ExecutorService threads = Executors.newFixedThreadPool(THREADS - 1)) {
        List<Future<?>> ends = new ArrayList<>();
        for (int t = 1; t < THREADS; t++) {
          ends.add(
              threads.submit(
                  () -> {
                    while (true) {
                      if (!Arrays.equals(expected, model.run(x))) {
                        wrong.incrementAndGet();
                      }
                      running.countDown();
                    }
                  }));
        }
        running.await();
        model.close();
        for (Future<?> end : ends) {
          assertThatThrownBy(end::get)
              .isInstanceOf(ExecutionException.class)
              .cause()
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("closed");
        }
      }
      assertThat(wrong).hasValue(0);
    }
  }
}
