package dev.warpwright.spark;

import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.fleet.Fleet;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.WorkloadKey;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;

/**
 * Executors of a Spark application. A task is a job of one partition that prefers the executor
 * which {@link FleetDesk} has chosen; what is unfinished when its executor dies, hangs or turns out
 * to be sick goes to another one.
 */
final class SparkFleet implements Fleet {
  /** So often work is begun before its candidates stay unmeasured. */
  private static final int ATTEMPTS = 8;

  private static final double WATCH_SECONDS = 1;

  private final JavaSparkContext context;
  private final FleetDesk desk;
  private final int executors;
  private final double startSeconds;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * A fleet.
   *
   * @param executors that were asked for
   * @param startSeconds to wait for all of them
   */
  SparkFleet(JavaSparkContext context, FleetDesk desk, int executors, double startSeconds) {
    this.context = context;
    this.desk = desk;
    this.executors = executors;
    this.startSeconds = startSeconds;
    context
        .sc()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
                desk.remove(removed.executorId());
              }
            });
  }

  @Override
  public List<Kind> kinds() throws InterruptedException {
    desk.await(executors, startSeconds);
    return desk.kinds();
  }

  /** Executors that have said what they have. */
  int size() {
    return desk.size();
  }

  @Override
  public Measurer measurer(Kind kind, WorkloadKey workload, boolean free) {
    return new SparkMeasurer(this, kind, workload, free, desk.settings().batch());
  }

  /** Begins; the work's listener is told of each outcome. */
  void start(FleetDesk.Work work, Runnable ended) {
    desk.add(work);
    threads.execute(
        () -> {
          try {
            perform(work);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          } finally {
            desk.forget(work);
            ended.run();
          }
        });
  }

  private void perform(FleetDesk.Work work) throws InterruptedException {
    if (desk.hasIdleCompiler()) {
      run(work, true);
    }
    for (int begun = 0; desk.isOpen(work); ) {
      if (begun == ATTEMPTS) {
        desk.fail(
            work,
            new Outcome.Failed(
                FailureReason.UNMEASURED, "no executor finished it in " + ATTEMPTS + " attempts"));
        return;
      }
      if (!run(work, false)) {
        desk.fail(
            work,
            new Outcome.Failed(
                FailureReason.UNMEASURED, "no device of its kind is left in the fleet"));
        return;
      }
      begun += desk.wasBegun(work) ? 1 : 0;
    }
  }

  /** Runs one job; false if there is nobody to run it. */
  private boolean run(FleetDesk.Work work, boolean compileOnly) throws InterruptedException {
    var chosen = desk.choose(work, compileOnly);
    if (chosen.isEmpty()) {
      return false;
    }
    JavaFutureAction<?> job = submit(work.batch.compiling(compileOnly), chosen.get());
    double limit = desk.settings().silence();
    try {
      while (true) {
        try {
          job.get((long) (1000 * Math.min(WATCH_SECONDS, limit)), TimeUnit.MILLISECONDS);
          return true;
        } catch (TimeoutException e) {
          if (desk.silence(work) > limit) {
            desk.giveUp(work);
            return true;
          }
        } catch (ExecutionException e) {
          // Its executor died too often for Spark, or the job was cancelled: what it had finished
          // is here, the rest is another job's.
          return true;
        }
      }
    } finally {
      job.cancel(true);
      desk.ended(chosen.get());
    }
  }

  private JavaFutureAction<?> submit(FleetBatch batch, FleetDesk.Chosen chosen) {
    ClassTag<FleetBatch> tag = ClassTag.apply(FleetBatch.class);
    String place = "executor_" + chosen.host() + "_" + chosen.executor();
    var parts =
        CollectionConverters.asScala(
                List.of(new Tuple2<>(batch, CollectionConverters.asScala(List.of(place)).toSeq())))
            .toSeq();
    context
        .sc()
        .setJobDescription((batch.compileOnly() ? "compile " : "measure ") + batch.workload());
    context.sc().setInterruptOnCancel(true);
    return new JavaRDD<>(context.sc().makeRDD(parts, tag), tag).foreachAsync(ExecutorStation::work);
  }

  @Override
  public List<String> remarks() {
    return desk.remarks();
  }

  @Override
  public void close() {
    threads.shutdownNow();
    context.close();
  }
}
