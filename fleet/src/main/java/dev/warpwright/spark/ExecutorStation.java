package dev.warpwright.spark;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.measure.ProcessMeasurer;
import dev.warpwright.workload.WorkloadKey;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.util.Utils;
import org.jspecify.annotations.Nullable;

/**
 * What an executor has: its worker processes, and its device if Spark gave it one. Without a device
 * it compiles only. Each outcome goes to the driver as soon as it is there; one that may be the
 * device's fault waits until the anchor kernel has shown that it is not.
 */
final class ExecutorStation {
  /** What a device that is broken does to innocent candidates, too. */
  private static final Set<FailureReason> SUSPICIOUS =
      EnumSet.of(FailureReason.WRONG, FailureReason.FAULT, FailureReason.HANG, FailureReason.CRASH);

  /**
   * The GPU of an executor that Spark has given none, unless the next one is in its environment.
   */
  static final String GPU = "spark.warpwright.gpu";

  private static final String GPU_VARIABLE = "WARPWRIGHT_GPU";

  private static volatile @Nullable ExecutorStation current;

  private final PluginContext context;
  private final FleetHost host;
  private final FleetSettings settings;
  private final int compilers;
  private final CompletableFuture<Optional<Equipped>> equipped = new CompletableFuture<>();
  private @Nullable ProcessMeasurer compiling;
  private String compilingFor = "";
  private double fastestAnchorUs = Double.POSITIVE_INFINITY;
  private long anchored;

  /** A device, what measures on it, and the kernel that it is judged by. */
  private record Equipped(FleetHost.Device device, ProcessMeasurer measurer, Candidate anchor) {}

  private ExecutorStation(PluginContext context) {
    this.context = context;
    this.settings = FleetSettings.of(context.conf());
    this.host = host(context.conf().get(FleetSettings.HOST, GpuHost.class.getName()));
    this.compilers = Math.max(1, context.conf().getInt("spark.executor.cores", 1));
  }

  private static FleetHost host(String name) {
    try {
      return (FleetHost)
          Class.forName(name, true, Thread.currentThread().getContextClassLoader())
              .getDeclaredConstructor()
              .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(FleetSettings.HOST + "=" + name + " is no host", e);
    }
  }

  static void open(PluginContext context) {
    ExecutorStation station = new ExecutorStation(context);
    current = station;
    Thread equip = new Thread(station::equip, "warpwright-device");
    equip.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    equip.setDaemon(true);
    equip.start();
  }

  static void shut() {
    ExecutorStation station = current;
    current = null;
    if (station != null) {
      station.close();
    }
  }

  /** Does a task; called by Spark in a thread of the executor. */
  static void work(FleetBatch batch) throws InterruptedException {
    ExecutorStation station = current;
    if (station == null) {
      throw new IllegalStateException("the executor ends");
    }
    try {
      station.perform(batch);
    } finally {
      station.send(new FleetMessage.Free(station.context.executorID(), batch.id()));
    }
  }

  private void equip() {
    Optional<Equipped> found = Optional.empty();
    try {
      Optional<Map<String, String>> environment = host.environment(address());
      if (environment.isPresent()) {
        FleetHost.Device device = host.device(environment.get());
        ProcessMeasurer measurer =
            new ProcessMeasurer(
                host.setup(device.environment().target(), compilers, environment.get()));
        found = Optional.of(new Equipped(device, measurer, host.anchor(device)));
      }
    } catch (IOException | RuntimeException e) {
      // The driver counts executors without a device; the reason is in the executor's log.
      System.err.println("warpwright: no device: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    equipped.complete(found);
    // Not the context's name: on executors, which serve no RPC, it has none.
    String name = Utils.localHostName();
    send(
        new FleetMessage.Hello(
            context.executorID(),
            name,
            host.name(context.executorID(), name),
            found.map(Equipped::device).orElse(null)));
  }

  private Optional<String> address() {
    ResourceInformation gpus = context.resources().get("gpu");
    if (gpus != null && gpus.addresses().length > 0) {
      return Optional.of(gpus.addresses()[0]);
    }
    String named = System.getenv(GPU_VARIABLE);
    return Optional.ofNullable(named == null ? context.conf().get(GPU, null) : named);
  }

  private synchronized void close() {
    equipped.thenAccept(found -> found.ifPresent(device -> device.measurer().close()));
    if (compiling != null) {
      compiling.close();
    }
  }

  /** One way: what is lost because the driver is gone is of no use to anybody. */
  private void send(FleetMessage message) {
    try {
      context.send(message.words());
    } catch (IOException e) {
      System.err.println("warpwright: the driver is gone: " + e);
    }
  }

  private void perform(FleetBatch batch) throws InterruptedException {
    String me = context.executorID();
    List<Integer> open = begin(batch);
    if (open.isEmpty()) {
      return;
    }
    try {
      if (batch.compileOnly()) {
        compile(batch, open);
      } else {
        measure(batch, open, equipped.get().orElseThrow());
      }
    } catch (ExecutionException | RuntimeException e) {
      // Of what is ours and not a candidate's: it speaks against the machine.
      send(new FleetMessage.Sick(me, batch.id(), String.valueOf(e).lines().findFirst().orElse("")));
    }
  }

  /** Which candidates of a task are still wanted, here. */
  private List<Integer> begin(FleetBatch batch) {
    try {
      String answer =
          (String)
              context.ask(
                  new FleetMessage.Begin(context.executorID(), batch.id(), batch.compileOnly())
                      .words());
      List<Integer> open = new ArrayList<>();
      for (String word : answer.split(" ")) {
        if (!word.isEmpty()) {
          open.add(Integer.parseInt(word));
        }
      }
      return open;
    } catch (Exception e) {
      throw new IllegalStateException("the driver does not answer", e);
    }
  }

  private void compile(FleetBatch batch, List<Integer> open)
      throws InterruptedException, ExecutionException {
    FleetHost.Device device = device(batch);
    ProcessMeasurer measurer = compilerFor(batch.target());
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int index : open) {
      all.add(
          measurer
              .compileOnly(candidate(batch, device, index))
              .thenAccept(
                  failure ->
                      send(
                          failure.isPresent()
                              ? new FleetMessage.Result(
                                  context.executorID(), batch.id(), index, "", failure.get())
                              : new FleetMessage.Compiled(
                                  context.executorID(), batch.id(), index))));
    }
    for (CompletableFuture<Void> each : all) {
      each.get();
    }
  }

  private synchronized ProcessMeasurer compilerFor(String target) {
    if (compiling != null && compilingFor.equals(target)) {
      return compiling;
    }
    if (compiling != null) {
      compiling.close();
    }
    compiling = new ProcessMeasurer(host.setup(target, compilers, Map.of()));
    compilingFor = target;
    return compiling;
  }

  private void measure(FleetBatch batch, List<Integer> open, Equipped equipped)
      throws InterruptedException, ExecutionException {
    String me = context.executorID();
    if (System.nanoTime() - anchored > settings.quiet() * 1e9 || anchored == 0) {
      Optional<String> sick = sickness(equipped);
      if (sick.isPresent()) {
        send(new FleetMessage.Sick(me, batch.id(), sick.get()));
        return;
      }
    }
    FleetHost.Device device = device(batch);
    BlockingQueue<Map.Entry<Integer, Measurer.Trial>> finished = new LinkedBlockingQueue<>();
    for (int index : open) {
      equipped
          .measurer()
          .measure(candidate(batch, device, index))
          .thenAccept(trial -> finished.add(Map.entry(index, trial)));
    }
    List<FleetMessage.Result> held = new ArrayList<>();
    for (int i = 0; i < open.size(); i++) {
      Map.Entry<Integer, Measurer.Trial> next = finished.take();
      Measurer.Trial trial = next.getValue();
      FleetMessage.Result result =
          new FleetMessage.Result(
              me, batch.id(), next.getKey(), trial.sourceHash(), trial.outcome());
      if (trial.outcome() instanceof Outcome.Failed failed
          && SUSPICIOUS.contains(failed.reason())) {
        held.add(result);
        send(new FleetMessage.Alive(me, batch.id()));
      } else {
        send(result);
      }
    }
    if (held.isEmpty()) {
      return;
    }
    Optional<String> sick = sickness(equipped);
    if (sick.isPresent()) {
      send(new FleetMessage.Sick(me, batch.id(), sick.get()));
    } else {
      held.forEach(this::send);
    }
  }

  private static FleetHost.Device device(FleetBatch batch) {
    return new FleetHost.Device(new Environment(batch.target(), "", "", "", ""), batch.sms());
  }

  private Candidate candidate(FleetBatch batch, FleetHost.Device device, int index) {
    return host.candidate(
        WorkloadKey.parse(batch.workload()),
        batch.free(),
        device,
        Point.parse(batch.points().get(index)));
  }

  /** What is wrong with the device, by its anchor kernel; empty if nothing is. */
  private Optional<String> sickness(Equipped equipped)
      throws InterruptedException, ExecutionException {
    Outcome outcome = equipped.measurer().measure(equipped.anchor()).get().outcome();
    anchored = System.nanoTime();
    return switch (outcome) {
      case Outcome.Failed failed ->
          Optional.of(
              "its anchor kernel fails: " + failed.reason().text() + ", " + failed.message());
      case Outcome.Measured measured -> {
        fastestAnchorUs = Math.min(fastestAnchorUs, measured.timeUs());
        yield measured.timeUs() <= fastestAnchorUs * (1 + settings.drift())
            ? Optional.empty()
            : Optional.of(
                String.format(
                    Locale.ROOT,
                    "its anchor kernel takes %.2f us and took %.2f us (%d MHz, %d °C)",
                    measured.timeUs(),
                    fastestAnchorUs,
                    measured.clockMhz(),
                    measured.temperature()));
      }
    };
  }
}
