package dev.warpwright.parallel.gpu;

import dev.warpwright.base.DeviceError;
import dev.warpwright.parallel.nccl.Communicators;
import dev.warpwright.parallel.nccl.NcclLibrary;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The first GPUs of a host that run code of a target, opened, and NCCL between them. */
public final class GpuGroup implements AutoCloseable {
  private final List<CudaContext> contexts;
  private final @Nullable Communicators communicators;

  private GpuGroup(List<CudaContext> contexts, @Nullable Communicators communicators) {
    this.contexts = List.copyOf(contexts);
    this.communicators = communicators;
  }

  /**
   * Opens GPUs.
   *
   * @param devices how many
   * @param sums whether anything is added over them: NCCL does that
   * @throws DeviceError if there are fewer, or NCCL is missing
   */
  public static GpuGroup open(GpuTarget target, int devices, boolean sums) {
    List<CudaDevice> found = devices(target, devices);
    return open(found, sums ? NcclLibrary.load() : null);
  }

  /** The same with this NCCL. */
  static GpuGroup open(GpuTarget target, int devices, NcclLibrary library) {
    return open(devices(target, devices), library);
  }

  private static List<CudaDevice> devices(GpuTarget target, int wanted) {
    List<CudaDevice> found =
        CudaDriver.require().devices().stream()
            .filter(
                device ->
                    GpuTarget.forCapability(device.major(), device.minor())
                        .filter(target::equals)
                        .isPresent())
            .toList();
    if (found.size() < wanted) {
      throw new DeviceError(
          "--gpus "
              + wanted
              + ": "
              + (found.size() == 1 ? "1 GPU here runs " : found.size() + " GPUs here run ")
              + target.name()
              + "; give fewer, or --target sim");
    }
    return found.subList(0, wanted);
  }

  private static GpuGroup open(List<CudaDevice> devices, @Nullable NcclLibrary library) {
    List<CudaContext> contexts = new ArrayList<>();
    try {
      for (CudaDevice device : devices) {
        contexts.add(device.open());
      }
      return new GpuGroup(contexts, library == null ? null : Communicators.open(library, contexts));
    } catch (DeviceError e) {
      contexts.forEach(CudaContext::close);
      throw e;
    }
  }

  /** One for each device. */
  List<CudaContext> contexts() {
    return contexts;
  }

  /** How many devices. */
  public int size() {
    return contexts.size();
  }

  Communicators communicators() {
    if (communicators == null) {
      throw new IllegalStateException("the devices were opened without NCCL");
    }
    return communicators;
  }

  @Override
  public void close() {
    if (communicators != null) {
      communicators.close();
    }
    contexts.reversed().forEach(CudaContext::close);
  }
}
