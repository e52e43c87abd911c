package dev.warpwright.cli.devices;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.jvm.HostMachine;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.HostTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Lists what models can run on here, and what compiles for GPUs. */
public final class DevicesAction implements Action<DevicesRequest> {
  @Override
  public Report perform(DevicesRequest request, Progress progress) {
    List<String> lines = new ArrayList<>();
    Json.Members json =
        Json.object()
            .with("cpu", cpu(lines))
            .with("driver", CudaDriver.find().map(CudaDriver::versionText).orElse(null))
            .with("gpus", gpus(lines));
    if (CudaDriver.find().isEmpty()) {
      String why = Devices.whyNoGpu();
      lines.add("no GPU: " + why);
      json = json.with("noGpu", why);
    }
    json =
        json.with("compilers", compilers(lines))
            .with(
                "targets",
                Json.array(GpuTarget.ALL.stream().map(GpuTarget::name).toList(), Json::of));
    return new Report(true, String.join(System.lineSeparator(), lines), json);
  }

  private static Json cpu(List<String> lines) {
    HostTarget cpu = HostMachine.target();
    long heap = Runtime.getRuntime().maxMemory();
    String architecture = System.getProperty("os.arch");
    lines.add(
        String.format(
            Locale.ROOT,
            "cpu: %d cores, %d-bit vectors, %s; Java may use %.1f GB of memory",
            cpu.cores(),
            cpu.vectorBits(),
            architecture,
            heap / 1e9));
    return Json.object()
        .with("cores", cpu.cores())
        .with("vectorBits", cpu.vectorBits())
        .with("architecture", architecture)
        .with("heapBytes", heap);
  }

  private static Json gpus(List<String> lines) {
    List<Json> gpus = new ArrayList<>();
    for (CudaDevice gpu : CudaDriver.find().map(CudaDriver::devices).orElse(List.of())) {
      Optional<GpuTarget> target = GpuTarget.forCapability(gpu.major(), gpu.minor());
      lines.add(
          String.format(
              Locale.ROOT,
              "gpu %d: %s, %s, %d SMs, %.1f GB, %d KiB of shared memory a block, CUDA %s",
              gpu.ordinal(),
              gpu.name(),
              target
                  .map(GpuTarget::name)
                  .orElse("compute capability " + gpu.computeCapability() + ", not supported"),
              gpu.sms(),
              gpu.memoryBytes() / 1e9,
              gpu.maxSharedPerBlock() >> 10,
              CudaDriver.require().versionText()));
      gpus.add(
          Json.object()
              .with("name", gpu.name())
              .with("uuid", "GPU-" + gpu.uuid())
              .with("target", target.map(GpuTarget::name).orElse(null))
              .with("computeCapability", gpu.computeCapability())
              .with("sms", gpu.sms())
              .with("memoryBytes", gpu.memoryBytes())
              .with("l2Bytes", gpu.l2Bytes())
              .with("sharedPerBlock", gpu.maxSharedPerBlock())
              .with("clockKhz", gpu.clockKhz()));
    }
    return new Json.Array(gpus);
  }

  private static Json compilers(List<String> lines) {
    List<CudaCompiler> compilers = new ArrayList<>();
    CudaCompilers.nvrtc().ifPresent(compilers::add);
    CudaCompilers.nvcc().ifPresent(compilers::add);
    compilers.forEach(compiler -> lines.add("compiler: " + compiler.describe()));
    if (compilers.isEmpty()) {
      lines.add("no CUDA compiler: install the CUDA toolkit, or set CUDA_HOME");
    }
    return Json.array(compilers, compiler -> Json.of(compiler.describe()));
  }
}
