package dev.warpwright.runtime.launch;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.target.GpuTarget;
import java.util.Optional;

/** An opened NVIDIA GPU for which code can be generated. Closing it frees all that is on it. */
public final class Gpu implements AutoCloseable {
  private final CudaDevice device;
  private final GpuTarget target;
  private final CudaContext context;

  private Gpu(CudaDevice device, GpuTarget target) {
    this.device = device;
    this.target = target;
    this.context = device.open();
  }

  /** {@return the first GPU for which code can be generated} */
  public static Optional<Gpu> find() {
    return CudaDriver.find().flatMap(Gpu::firstUsable);
  }

  private static Optional<Gpu> firstUsable(CudaDriver driver) {
    for (CudaDevice device : driver.devices()) {
      Optional<GpuTarget> target = GpuTarget.forCapability(device.major(), device.minor());
      if (target.isPresent()) {
        return Optional.of(new Gpu(device, target.get()));
      }
    }
    return Optional.empty();
  }

  /**
   * {@return a GPU that runs code for exactly this target}
   *
   * @param wanted by its exact name: an sm_89 does not stand for an sm_80
   * @throws DeviceError if there is none
   */
  public static Gpu require(GpuTarget wanted) {
    CudaDriver driver = CudaDriver.require();
    return find(driver, wanted)
        .orElseThrow(
            () ->
                new DeviceError(
                    "no GPU here runs "
                        + wanted.name()
                        + "; Device.best() takes one that is here, new CpuDevice() the CPU"));
  }

  /**
   * {@return a GPU that runs code for exactly this target}
   *
   * @param wanted by its exact name
   */
  public static Optional<Gpu> find(GpuTarget wanted) {
    return CudaDriver.find().flatMap(driver -> find(driver, wanted));
  }

  private static Optional<Gpu> find(CudaDriver driver, GpuTarget wanted) {
    return driver.devices().stream()
        .filter(
            device ->
                GpuTarget.forCapability(device.major(), device.minor())
                    .filter(wanted::equals)
                    .isPresent())
        .findFirst()
        .map(device -> new Gpu(device, wanted));
  }

  /**
   * {@return the GPU of this name, for a target that it runs code for}
   *
   * @param wanted by its exact name
   * @param id as {@code nvidia-smi -L} prints it: {@code GPU-} and its UUID
   * @throws DeviceError if it is not here, or does not run such code
   */
  public static Gpu require(GpuTarget wanted, String id) {
    for (CudaDevice device : CudaDriver.require().devices()) {
      if (id.equals("GPU-" + device.uuid())
          && GpuTarget.forCapability(device.major(), device.minor())
              .filter(wanted::equals)
              .isPresent()) {
        return new Gpu(device, wanted);
      }
    }
    throw new DeviceError("no " + id + " here runs " + wanted.name());
  }

  /** {@return its name and target: {@code NVIDIA H200 (sm_90a)}} */
  public String name() {
    return device.name() + " (" + target.name() + ")";
  }

  /** {@return what its driver says of it} */
  public CudaDevice device() {
    return device;
  }

  /** {@return the architecture that code is generated for} */
  public GpuTarget target() {
    return target;
  }

  /** {@return the primary context; memory and modules of this GPU are made in it} */
  public CudaContext context() {
    return context;
  }

  @Override
  public void close() {
    context.close();
  }
}
