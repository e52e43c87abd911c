/**
 * NVIDIA GPUs by the driver API: devices, memory, streams, modules, launches, graphs and tensor
 * maps.
 *
 * <p>A machine without a driver or a GPU is an answer, not a crash: {@link
 * dev.warpwright.runtime.cuda.CudaDriver#find()} is then empty and {@link
 * dev.warpwright.runtime.cuda.CudaDriver#whyMissing()} says why. From there on every failure is a
 * {@link dev.warpwright.base.DeviceError} of one line.
 *
 * <pre>{@code
 * CudaDriver driver = CudaDriver.require();
 * try (CudaContext context = driver.device(0).open();
 *     CudaStream stream = context.newStream();
 *     CudaBuffer x = context.allocate(4 * n)) {
 *   x.copyFrom(floats, stream);
 *   CudaFunction scale = context.load(cubin).function("scale");
 *   CudaLaunch launch =
 *       new CudaLaunch(scale, LaunchConfig.of(n / 256, 256), KernelArgument.of(x), KernelArgument.of(2f));
 *   launch.run(stream);
 *   float[] result = x.toFloats(stream);
 * }
 * }</pre>
 *
 * <p><b>Lifetimes.</b> What a context made is closed with it, the youngest first; closing twice
 * does nothing; using what is closed throws {@link java.lang.IllegalStateException}. Closing
 * something while another thread uses it is the caller's error.
 *
 * <p><b>Threads.</b> Everything may be called from any thread: each call makes its context current
 * first. Work on one stream runs in the order in which it was given.
 *
 * <p><b>Failures on the device.</b> A kernel that faults is reported by a later call. The context
 * is then lost ({@link dev.warpwright.runtime.cuda.CudaContext#isLost()}), and so is the process as
 * far as this device is concerned.
 */
@NullMarked
package dev.warpwright.runtime.cuda;

import org.jspecify.annotations.NullMarked;
