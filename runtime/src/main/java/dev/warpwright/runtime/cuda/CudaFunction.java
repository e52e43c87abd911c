package dev.warpwright.runtime.cuda;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Out;
import java.util.List;

/** A kernel. It lives as long as its module. */
public final class CudaFunction {
  private static final int MAX_THREADS_PER_BLOCK = 0;
  private static final int SHARED_SIZE_BYTES = 1;
  private static final int LOCAL_SIZE_BYTES = 3;
  private static final int NUM_REGS = 4;
  private static final int MAX_DYNAMIC_SHARED = 8;
  private static final int NON_PORTABLE_CLUSTER = 14;

  private static final int PORTABLE_CLUSTER = 8;

  private final CudaModule module;
  private final String name;
  private final long handle;
  private final int registers;
  private final int staticShared;
  private final int localBytes;
  private final int maxThreads;
  private int maxDynamicShared;
  private boolean allowsLargeClusters;

  CudaFunction(CudaModule module, String name, long handle) {
    this.module = module;
    this.name = name;
    this.handle = handle;
    registers = attribute(NUM_REGS);
    staticShared = attribute(SHARED_SIZE_BYTES);
    localBytes = attribute(LOCAL_SIZE_BYTES);
    maxThreads = attribute(MAX_THREADS_PER_BLOCK);
    maxDynamicShared = attribute(MAX_DYNAMIC_SHARED);
  }

  /** {@return the module that it is in; closing that ends it} */
  public CudaModule module() {
    return module;
  }

  /** {@return the kernel's name in the module} */
  public String name() {
    return name;
  }

  /** {@return registers of a thread} */
  public int registers() {
    return registers;
  }

  /** {@return bytes of shared memory that the kernel declares} */
  public int staticShared() {
    return staticShared;
  }

  /** {@return bytes of local memory of a thread: spills, and arrays indexed dynamically} */
  public int localBytes() {
    return localBytes;
  }

  /**
   * Checks arguments against the kernel's parameters, as far as the driver can tell: nothing before
   * 12.4, and never whether more arguments are expected, for asking beyond the last parameter is an
   * error that sanitizers report.
   *
   * @throws DeviceError if there are too many, or one is of another size
   */
  void checkArguments(List<KernelArgument> arguments) {
    if (!ModuleCalls.Parameters.areKnown()) {
      return;
    }
    module.use();
    try (Out offset = new Out();
        Out size = new Out()) {
      for (int i = 0; i < arguments.size(); i++) {
        check(
            ModuleCalls.Parameters.info(handle, i, offset.address(), size.address()),
            "cuFuncGetParamInfo of parameter " + i);
        if (size.asLong() != arguments.get(i).size()) {
          throw new DeviceError(
              this
                  + ": parameter "
                  + i
                  + " has "
                  + size.asLong()
                  + " bytes and was given an argument of "
                  + arguments.get(i).size());
        }
      }
    }
  }

  long handle() {
    return handle;
  }

  /** Checks that a launch fits, and tells the driver of what it must be told beforehand. */
  void prepare(LaunchConfig config) {
    module.use();
    if (config.block().count() > maxThreads) {
      throw new DeviceError(
          "kernel '"
              + name
              + "' uses "
              + registers
              + " registers: at most "
              + maxThreads
              + " threads a block, asked for "
              + config.block().count());
    }
    allowDynamicShared(config.dynamicShared());
    allowCluster(config);
  }

  /** Above 48 KiB the driver wants to be asked first. */
  private synchronized void allowDynamicShared(int bytes) {
    if (bytes <= maxDynamicShared) {
      return;
    }
    int limit = module.context().device().maxSharedPerBlock();
    if ((long) bytes + staticShared > limit) {
      throw new DeviceError(
          "kernel '"
              + name
              + "' needs "
              + ((long) bytes + staticShared)
              + " bytes of shared memory a block, "
              + module.context().device().name()
              + " has "
              + limit);
    }
    check(
        ModuleCalls.setAttribute(handle, MAX_DYNAMIC_SHARED, bytes),
        "cuFuncSetAttribute of " + bytes + " bytes of dynamic shared memory");
    maxDynamicShared = bytes;
  }

  private synchronized void allowCluster(LaunchConfig config) {
    if (config.cluster().count() > PORTABLE_CLUSTER && !allowsLargeClusters) {
      check(
          ModuleCalls.setAttribute(handle, NON_PORTABLE_CLUSTER, 1),
          "cuFuncSetAttribute of clusters of " + config.cluster());
      allowsLargeClusters = true;
    }
  }

  private int attribute(int attribute) {
    try (Out out = new Out()) {
      check(
          ModuleCalls.attribute(out.address(), attribute, handle),
          "cuFuncGetAttribute " + attribute);
      return out.asInt();
    }
  }

  private void check(int status, String call) {
    if (status != CudaError.SUCCESS) {
      module.context().check(status, call + " for kernel '" + name + "'");
    }
  }

  @Override
  public String toString() {
    return "kernel '" + name + "'";
  }
}
