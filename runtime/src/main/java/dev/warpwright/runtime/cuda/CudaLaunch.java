package dev.warpwright.runtime.cuda;

import dev.warpwright.base.DeviceError;
import java.lang.ref.Reference;
import java.util.List;

/**
 * A kernel with its configuration and arguments, ready to run any number of times.
 *
 * <p>All memory that the driver reads is prepared once, so that {@link #run} costs little more than
 * the driver's own call. It holds nothing on the device and need not be closed; what its arguments
 * point to has to stay open.
 */
public final class CudaLaunch {
  private final CudaFunction function;
  private final LaunchConfig config;
  private final KernelArgument[] arguments;
  private final LaunchBlock block;

  /**
   * Prepares launches of a kernel.
   *
   * @param function the kernel
   * @param config its grid and blocks
   * @param arguments one for each parameter, in order
   * @throws DeviceError if the device cannot run this configuration, or an argument's size is not
   *     the parameter's (checked where the driver can tell, from 12.4 on; too few arguments are not
   *     noticed)
   */
  public CudaLaunch(CudaFunction function, LaunchConfig config, List<KernelArgument> arguments) {
    this.function = function;
    this.config = config;
    this.arguments = arguments.toArray(new KernelArgument[0]);
    function.prepare(config);
    function.checkArguments(arguments);
    this.block = new LaunchBlock(config, arguments);
  }

  /**
   * Prepares launches of a kernel, as {@link #CudaLaunch(CudaFunction, LaunchConfig, List)} does.
   *
   * @param function the kernel
   * @param config its grid and blocks
   * @param arguments one for each parameter, in order
   */
  public CudaLaunch(CudaFunction function, LaunchConfig config, KernelArgument... arguments) {
    this(function, config, List.of(arguments));
  }

  /** {@return its grid and blocks} */
  public LaunchConfig config() {
    return config;
  }

  /**
   * Replaces an argument for later runs.
   *
   * @param index of the parameter, from 0
   * @param argument of the same kind as the one before
   * @throws IllegalArgumentException if it is of another kind than the one before
   */
  public synchronized void set(int index, KernelArgument argument) {
    if (arguments[index].getClass() != argument.getClass()) {
      throw new IllegalArgumentException(
          "parameter "
              + index
              + " of "
              + function
              + " is "
              + arguments[index].getClass().getSimpleName()
              + ", not "
              + argument.getClass().getSimpleName());
    }
    arguments[index] = argument;
    block.write(index, argument);
  }

  /**
   * Gives the kernel to a stream and does not wait. A fault in the kernel is reported by a later
   * call.
   *
   * @param stream of the function's context
   * @throws IllegalStateException if the module, the stream or an argument's buffer is closed
   * @throws DeviceError if the driver refuses the launch
   */
  public synchronized void run(CudaStream stream) {
    function.module().use();
    for (KernelArgument argument : arguments) {
      touch(argument, stream);
    }
    stream.touch(function.module());
    int status;
    try {
      if (config.hasAttributes()) {
        block.stream(stream.handle());
        status = ModuleCalls.Extended.launch(block.config(), function.handle(), block.parameters());
      } else {
        status = ModuleCalls.launch(function.handle(), config, stream.handle(), block.parameters());
      }
    } finally {
      // The driver reads the block during the call, which knows nothing but its address.
      Reference.reachabilityFence(block);
    }
    if (status != CudaError.SUCCESS) {
      stream.context().check(status, "launch of " + function + " with " + config);
    }
  }

  private static void touch(KernelArgument argument, CudaStream stream) {
    CudaBuffer buffer =
        switch (argument) {
          case KernelArgument.Pointer pointer -> pointer.buffer();
          case KernelArgument.Map map -> map.map().buffer();
          case KernelArgument.I32 _, KernelArgument.I64 _, KernelArgument.F32 _ -> null;
        };
    if (buffer != null) {
      buffer.checkOpen();
      stream.touch(buffer);
    }
  }
}
