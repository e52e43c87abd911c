package dev.warpwright.runtime.cuda;

import java.util.Locale;
import java.util.UUID;

/**
 * A GPU and what its driver says of it.
 *
 * @param ordinal its place in the driver's list
 * @param handle the driver's {@code CUdevice}
 * @param name for example {@code NVIDIA H200}
 * @param uuid what {@code nvidia-smi -L} prints behind {@code GPU-}
 * @param major of the compute capability
 * @param minor of the compute capability
 * @param sms SMs
 * @param memoryBytes global memory
 * @param l2Bytes L2
 * @param maxSharedPerBlock bytes of shared memory that one block can ask for, static and dynamic
 *     together
 * @param clockKhz the SMs' highest clock
 * @param driverVersion as {@link CudaDriver#version}
 */
public record CudaDevice(
    int ordinal,
    int handle,
    String name,
    UUID uuid,
    int major,
    int minor,
    int sms,
    long memoryBytes,
    int l2Bytes,
    int maxSharedPerBlock,
    int clockKhz,
    int driverVersion) {

  /**
   * {@return the architecture to compile for: {@code sm_80}, and from 9.0 on the one with all of
   * the device's features, {@code sm_90a}}
   */
  public String arch() {
    return "sm_" + major + minor + (major >= 9 ? "a" : "");
  }

  /** {@return the version of the driver: {@code 13.0}} */
  public String driver() {
    return String.format(Locale.ROOT, "%d.%d", driverVersion / 1000, driverVersion % 1000 / 10);
  }

  /** {@return the compute capability: {@code 9.0}} */
  public String computeCapability() {
    return major + "." + minor;
  }

  /**
   * Opens the device's primary context.
   *
   * @return the context, to be closed
   * @throws dev.warpwright.base.DeviceError if the driver refuses
   */
  public CudaContext open() {
    return CudaContext.open(this);
  }
}
