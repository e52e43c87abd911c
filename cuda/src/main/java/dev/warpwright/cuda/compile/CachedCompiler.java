package dev.warpwright.cuda.compile;

/** A compiler behind a cache: what was compiled before, by the same compiler, is read from disk. */
public final class CachedCompiler {
  private final CudaCompiler compiler;
  private final CubinCache cache;

  public CachedCompiler(CudaCompiler compiler, CubinCache cache) {
    this.compiler = compiler;
    this.cache = cache;
  }

  /**
   * The cubin for a request, from the cache or freshly compiled.
   *
   * @throws CompileError if it has to be compiled and the compiler refuses it; refusals are not
   *     cached
   */
  public Cubin compile(CompileRequest request) {
    String key = CubinCache.key(request, compiler.identity());
    return cache
        .get(key)
        .orElseGet(
            () -> {
              Cubin cubin = compiler.compile(request);
              cache.put(key, cubin);
              return cubin;
            });
  }
}
