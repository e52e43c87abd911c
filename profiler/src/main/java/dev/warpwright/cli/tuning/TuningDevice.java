package dev.warpwright.cli.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.command.Version;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.devices.Toolkit;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.KernelCheck;
import dev.warpwright.families.tuned.RejectedKernels;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.GpuTarget;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The GPU of this machine, without a context of its own, and how records name it.
 *
 * @param ids of the GPUs of its kind, itself the first, by which commands take turns; none if it is
 *     not real
 */
public record TuningDevice(
    String name, int sms, GpuTarget target, Environment environment, List<String> ids) {
  public TuningDevice {
    ids = List.copyOf(ids);
  }

  /** A device that is not real. */
  public TuningDevice(String name, int sms, GpuTarget target, Environment environment) {
    this(name, sms, target, environment, List.of());
  }

  /** Waits for the GPU that one kernel after the other is measured on. */
  public DeviceQueue.Turn turn(String command, Progress progress) {
    return DeviceQueue.ofUser().take(ids.stream().limit(1).toList(), command, progress);
  }

  /** Waits for all GPUs of the kind, on which several searches may measure. */
  public DeviceQueue.Turn turnOnAll(String command, Progress progress) {
    return DeviceQueue.ofUser().take(ids, command, progress);
  }

  /** The GPUs of its kind, each as the one that one kernel after the other is measured on. */
  List<TuningDevice> each() {
    if (ids.size() < 2) {
      return List.of(this);
    }
    return ids.stream()
        .map(
            id ->
                new TuningDevice(
                    name,
                    sms,
                    target,
                    environment,
                    Stream.concat(Stream.of(id), ids.stream()).distinct().toList()))
        .toList();
  }

  /** Opens the GPU that one kernel after the other is measured on. */
  Gpu open() {
    return ids.isEmpty() ? Gpu.require(target) : Gpu.require(target, ids.getFirst());
  }

  /** What chooses kernels for it. */
  public GemmChooser chooser(TuningDatabase database) {
    return new GemmChooser(
        new GemmChooser.Where(target, environment, sms),
        database,
        KernelCheck.system(),
        RejectedKernels.system());
  }

  /**
   * The GPU of this machine.
   *
   * @throws DeviceError if there is none
   */
  public static TuningDevice find() {
    if (CudaDriver.find().isEmpty()) {
      throw Devices.nothingToMeasureOn();
    }
    return look()
        .orElseThrow(
            () -> new DeviceError("no GPU here is of a kind that kernels can be generated for"));
  }

  /** As {@link #find}, if there is one. */
  public static Optional<TuningDevice> look() {
    Optional<CudaDriver> driver = CudaDriver.find();
    if (driver.isEmpty()) {
      return Optional.empty();
    }
    for (CudaDevice device : driver.get().devices()) {
      var target = GpuTarget.forCapability(device.major(), device.minor());
      if (target.isPresent()) {
        return Optional.of(
            new TuningDevice(
                device.name(),
                device.sms(),
                target.get(),
                GemmTuning.environment(
                    target.get(), device, Toolkit.version(), Version.current().version()),
                ids(driver.get(), device)));
      }
    }
    return Optional.empty();
  }

  private static List<String> ids(CudaDriver driver, CudaDevice first) {
    return Stream.concat(
            Stream.of(first),
            driver.devices().stream().filter(device -> device.name().equals(first.name())))
        .map(device -> "GPU-" + device.uuid())
        .distinct()
        .toList();
  }
}
