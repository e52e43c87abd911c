package dev.warpwright.cuda.compile;

/** Compiles CUDA C++ to a cubin. Implementations may be called from several threads. */
public interface CudaCompiler {

  /** A name for people: {@code NVRTC (/usr/local/cuda/lib64/libnvrtc.so.13)}. */
  String describe();

  /**
   * All of the compiler that decides what comes out: its kind, its file, and the options it always
   * adds. Two compilers of equal identity give the same cubin for the same request.
   */
  String identity();

  /**
   * Compiles.
   *
   * @throws CompileError if the source is refused, or the compiler cannot be run
   */
  Cubin compile(CompileRequest request);
}
