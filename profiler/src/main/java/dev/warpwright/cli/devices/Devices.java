package dev.warpwright.cli.devices;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.Target;
import java.util.Optional;

/** Opens what {@code --target} names. */
public final class Devices {
  private Devices() {}

  /**
   * The device.
   *
   * @param mustRun whether a GPU target without its device is an error, not a reason to compile
   *     only
   */
  public static Device open(TargetName name, boolean mustRun, Progress progress) {
    return switch (name) {
      case CPU -> new CpuDevice();
      case AUTO -> {
        Optional<Gpu> gpu = Gpu.find();
        if (gpu.isPresent()) {
          yield new GpuDevice(gpu.get());
        }
        progress.say(whyNoGpu() + ": running on the CPU");
        yield new CpuDevice();
      }
      case SIM -> new SimulatedDevice(GpuTarget.SM_90A);
      case SM_75, SM_80, SM_86, SM_89, SM_90A -> {
        GpuTarget target = target(name);
        try {
          yield new GpuDevice(require(target, "use --target auto or cpu"));
        } catch (DeviceError e) {
          if (mustRun) {
            throw e;
          }
          yield new OfflineGpu(target);
        }
      }
    };
  }

  /**
   * The GPU that runs code for a target.
   *
   * @param instead what the command line takes where there is none
   * @throws DeviceError if there is none
   */
  public static Gpu require(GpuTarget target, String instead) {
    return Gpu.find(target).orElseThrow(() -> new DeviceError(whyNot(target) + "; " + instead));
  }

  public static GpuTarget target(TargetName name) {
    return GpuTarget.find(name.text())
        .orElseThrow(() -> new IllegalArgumentException(name + " is no GPU target"));
  }

  /**
   * The GPU to print or compile for: the named one; for {@code auto} the one of this machine, or
   * the newest.
   */
  public static GpuTarget cudaTarget(TargetName name) {
    return switch (name) {
      case AUTO ->
          CudaDriver.find().stream()
              .flatMap(driver -> driver.devices().stream())
              .flatMap(gpu -> GpuTarget.forCapability(gpu.major(), gpu.minor()).stream())
              .findFirst()
              .orElse(GpuTarget.SM_90A);
      case SIM -> GpuTarget.SM_90A;
      case CPU ->
          throw new UserError("--target cpu: CUDA is for GPUs; name one, for example sm_90a");
      case SM_75, SM_80, SM_86, SM_89, SM_90A -> target(name);
    };
  }

  /** Tells that a model was only compiled for this device, and why. */
  public static void tellNotRun(Device device, Progress progress) {
    progress.say(whyNot(device.target()) + ": compiled only, not run");
  }

  /** Why there is no GPU to run on. */
  public static String whyNoGpu() {
    return CudaDriver.whyMissing();
  }

  private static String whyNot(Target target) {
    return CudaDriver.find().isEmpty() ? whyNoGpu() : "no GPU here runs " + target.name();
  }

  /** There is no GPU to measure on, which commands need that predict nothing. */
  public static DeviceError nothingToMeasureOn() {
    return new DeviceError(
        whyNoGpu()
            + "; GEMMs, networks and attention are measured on a GPU: 'explain' predicts them"
            + " without one, and 'tune FILE.ir' orders schedules of a program of your own");
  }

  /** Whether the device computes, rather than only compiles. */
  public static boolean canRun(Device device) {
    return !(device instanceof OfflineGpu);
  }
}
