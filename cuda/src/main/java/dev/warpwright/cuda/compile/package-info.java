/**
 * From CUDA C++ text to a cubin: NVRTC, or nvcc where there is no NVRTC, behind a cache on disk.
 *
 * <pre>{@code
 * CudaCompiler compiler = CudaCompilers.system().orElseThrow(…);
 * Cubin cubin = new CachedCompiler(compiler, CubinCache.system())
 *     .compile(new CompileRequest(source, "sm_90a", List.of()));
 * }</pre>
 *
 * <p>Both compilers turn off the contraction of multiply and add, so that a kernel fuses them only
 * where its IR says so.
 */
package dev.warpwright.cuda.compile;
