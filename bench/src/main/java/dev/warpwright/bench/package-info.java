/**
 * Measures the CPU back end beside ONNX Runtime, OpenBLAS and oneDNN, in one process: {@link
 * dev.warpwright.bench.CpuBench} in the steady state, {@link dev.warpwright.bench.WarmUp} from the
 * first call on.
 */
@NullMarked
package dev.warpwright.bench;

import org.jspecify.annotations.NullMarked;
