package dev.warpwright.runtime.cuda;

import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import java.util.Random;

/**
 * What the self-test works on.
 *
 * @param plain the cubin of {@link SelfTestKernels#PLAIN} for the device
 */
record SelfTestBench(CudaContext context, CudaStream stream, Random random, Cubin plain) {
  static SelfTestBench on(CudaDevice device, long seed) {
    CudaContext context = device.open();
    Cubin plain =
        CudaCompilers.require().compile(new CompileRequest(SelfTestKernels.PLAIN, device.arch()));
    return new SelfTestBench(context, context.newStream(), new Random(seed), plain);
  }
}
