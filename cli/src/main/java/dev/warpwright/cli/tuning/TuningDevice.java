package dev.warpwright.cli.tuning;

import dev.warpwright.cli.command.Version;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.devices.Toolkit;
import dev.warpwright.compiler.tune.GemmTuning;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.record.Environment;

/** The GPU of this machine, without a context of its own, and how records name it. */
record TuningDevice(CudaDevice device, GpuTarget target, Environment environment) {
  static TuningDevice find() {
    CudaDriver driver =
        CudaDriver.find()
            .orElseThrow(
                () -> new DeviceError(Devices.whyNoGpu() + "; tune and perf measure on a GPU"));
    for (CudaDevice device : driver.devices()) {
      var target = GpuTarget.forCapability(device.major(), device.minor());
      if (target.isPresent()) {
        return new TuningDevice(
            device,
            target.get(),
            GemmTuning.environment(
                target.get(), device, Toolkit.version(), Version.current().version()));
      }
    }
    throw new DeviceError("no GPU here is of a kind that kernels can be generated for");
  }
}
