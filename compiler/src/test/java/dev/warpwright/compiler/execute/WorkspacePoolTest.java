package dev.warpwright.compiler.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Warpwright;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls get memory of their own, wait only at the limit, and a closed pool gives no more. */
class WorkspacePoolTest {
  private final CpuDevice device = new CpuDevice();
  private final CompiledModel model =
      Warpwright.load(Path.of("..", "models", "digits-relu-128-64", "model.onnx")).compile(device);
  private final WorkspacePool pool = new WorkspacePool(model.executable(1), 2);

  /** The common pool may have a single thread, which who waits would hold. */
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void close() {
    threads.shutdownNow();
    model.close();
    device.close();
  }

  @Test
  void oneCallerGetsTheSameAgainAndTwoGetTheirOwn() {
    WorkspacePool.Lease first = pool.take();
    WorkspacePool.Lease second = pool.take();
    assertThat(second.workspace()).isNotSameAs(first.workspace());
    pool.give(first);
    assertThat(pool.take()).isSameAs(first);
  }

  @Test
  void whoComesBeyondTheLimitWaitsForWhatIsGivenBack() {
    pool.take();
    WorkspacePool.Lease second = pool.take();
    CountDownLatch asked = new CountDownLatch(1);
    var third =
        CompletableFuture.supplyAsync(
            () -> {
              asked.countDown();
              return pool.take();
            },
            threads);
    await(asked);
    assertThat(third).isNotDone();
    pool.give(second);
    assertThat(third.join()).isSameAs(second);
  }

  @Test
  void closingWaitsForWhoHasOneAndFailsWhoWaits() {
    WorkspacePool.Lease first = pool.take();
    WorkspacePool.Lease second = pool.take();
    CountDownLatch asked = new CountDownLatch(2);
    var third =
        CompletableFuture.supplyAsync(
            () -> {
              asked.countDown();
              return pool.take();
            },
            threads);
    var closing =
        CompletableFuture.runAsync(
            () -> {
              asked.countDown();
              pool.close();
            },
            threads);
    await(asked);
    assertThat(closing).isNotDone();
    assertThatThrownBy(third::join)
        .hasRootCauseMessage("the compiled model is closed; compile the model again");
    pool.give(first);
    assertThat(closing).isNotDone();
    pool.give(second);
    closing.join();
    assertThatThrownBy(pool::take).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> first.workspace().run(0, null, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the program is closed");
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
