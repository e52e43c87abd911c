package dev.warpwright.compiler;

import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.CudaExecutable;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.tune.GemmTuning;
import dev.warpwright.compiler.tune.ProductKernels;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.model.function.Precision;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.Target;
import java.util.Optional;

/** An NVIDIA GPU. */
public final class GpuDevice implements Device {
  private final CudaDevice device;
  private final GpuTarget target;
  private final CudaContext context;

  private GpuDevice(CudaDevice device, GpuTarget target) {
    this.device = device;
    this.target = target;
    this.context = device.open();
  }

  /** The first GPU for which code can be generated. */
  public static Optional<GpuDevice> find() {
    return CudaDriver.find().flatMap(GpuDevice::firstUsable);
  }

  private static Optional<GpuDevice> firstUsable(CudaDriver driver) {
    for (CudaDevice device : driver.devices()) {
      Optional<GpuTarget> target = GpuTarget.forCapability(device.major(), device.minor());
      if (target.isPresent()) {
        return Optional.of(new GpuDevice(device, target.get()));
      }
    }
    return Optional.empty();
  }

  /**
   * A GPU that runs code for exactly this target.
   *
   * @throws DeviceError if there is none
   */
  public static GpuDevice require(GpuTarget wanted) {
    CudaDriver driver = CudaDriver.require();
    for (CudaDevice device : driver.devices()) {
      if (GpuTarget.forCapability(device.major(), device.minor())
          .filter(wanted::equals)
          .isPresent()) {
        return new GpuDevice(device, wanted);
      }
    }
    throw new DeviceError("no GPU here runs " + wanted.name() + "; use --target auto or cpu");
  }

  @Override
  public String name() {
    return device.name() + " (" + target.name() + ")";
  }

  @Override
  public Target target() {
    return target;
  }

  public CudaContext context() {
    return context;
  }

  @Override
  public Executable load(CompiledProgram program, ConstantStore constants) {
    return new CudaExecutable(program, constants, context, compile(cudaSource(program), target));
  }

  /** Compiles CUDA C++ for a target, by the cache where it can. */
  public static Cubin compile(String source, GpuTarget target) {
    return CudaCompilers.compile(new CompileRequest(source, target.name()));
  }

  @Override
  public void checkPrecision(Precision precision) {
    Precisions.check(precision, target);
  }

  @Override
  public ProductKernels products() {
    // Which compiler this is, is not asked: it would have to be loaded.
    return ProductKernels.of(
            target, GemmTuning.environment(target, device, "", ""), device.multiprocessors())
        .trusting();
  }

  @Override
  public String cudaSource(CompiledProgram program) {
    return CudaPrinter.print(program.program(), target);
  }

  @Override
  public void close() {
    context.close();
  }
}
