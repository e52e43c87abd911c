package dev.warpwright.measure.cublas;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Downcall;
import dev.warpwright.runtime.call.Out;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.cuda.DriverLibrary;
import dev.warpwright.runtime.cuda.NativeFunctions;
import dev.warpwright.target.host.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * NVIDIA's matrix library, the baseline that GEMMs are compared with. Nothing of Warpwright
 * computes by it.
 */
public final class Cublas implements AutoCloseable {
  private static final List<String> NAMES = List.of("libcublas.so.13", "libcublas.so.12");
  private static final int DEFAULT_MATH = 0;
  private static final int DEFAULT_ALGORITHM = -1;

  private final CudaStream stream;
  private final Path path;
  private final MethodHandle setWorkspace;
  private final MethodHandle gemm;
  private final MethodHandle batched;
  private final MethodHandle destroy;
  private final MethodHandle statusText;
  private final long handle;
  private final int version;
  private boolean closed;

  private Cublas(CudaStream stream, Path path, NativeFunctions functions) {
    this.stream = stream;
    this.path = path;
    statusText = find(functions, "cublasGetStatusString", FunctionDescriptor.of(ADDRESS, JAVA_INT));
    setWorkspace = bind(functions, "cublasSetWorkspace_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    destroy = bind(functions, "cublasDestroy_v2", JAVA_LONG);
    gemm =
        bind(
            functions,
            "cublasGemmEx",
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT);
    batched =
        bind(
            functions,
            "cublasGemmStridedBatchedEx",
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT);
    stream.use();
    try (Out out = new Out()) {
      MethodHandle create = bind(functions, "cublasCreate_v2", JAVA_LONG);
      check(Downcall.call(create, out.address()), "cublasCreate");
      handle = out.asLong();
      MethodHandle getVersion = bind(functions, "cublasGetVersion_v2", JAVA_LONG, JAVA_LONG);
      check(Downcall.call(getVersion, handle, out.address()), "cublasGetVersion");
      version = out.asInt();
    }
    MethodHandle setStream = bind(functions, "cublasSetStream_v2", JAVA_LONG, JAVA_LONG);
    check(Downcall.call(setStream, handle, stream.handle()), "cublasSetStream");
    MethodHandle setMath = bind(functions, "cublasSetMathMode", JAVA_LONG, JAVA_INT);
    check(Downcall.call(setMath, handle, DEFAULT_MATH), "cublasSetMathMode");
  }

  /**
   * Loads cuBLAS and lets it work on a stream.
   *
   * @return nothing if it is not installed
   * @throws DeviceError if it is installed and cannot be used
   */
  public static Optional<Cublas> open(CudaStream stream) {
    NativeFunctions replacement = DriverLibrary.replacement();
    if (replacement != null) {
      // Something in the driver's place may bring these functions, or be a device without them.
      return replacement
          .find("cublasCreate_v2", FunctionDescriptor.of(JAVA_INT, JAVA_LONG))
          .map(create -> new Cublas(stream, Path.of(""), replacement));
    }
    NativeLibraries libraries = NativeLibraries.system();
    return libraries.library(NAMES).map(path -> open(stream, path));
  }

  private static Cublas open(CudaStream stream, Path path) {
    try {
      Path real = path.toRealPath();
      // It needs libcublasLt of its own version, which lies beside it but not always on the
      // loader's path.
      Path light =
          path.resolveSibling(path.getFileName().toString().replace("libcublas.", "libcublasLt."));
      SymbolLookup.libraryLookup(light, Arena.global());
      return new Cublas(
          stream, path, NativeFunctions.of(SymbolLookup.libraryLookup(real, Arena.global())));
    } catch (java.io.IOException | IllegalArgumentException | java.util.NoSuchElementException e) {
      throw new DeviceError("cannot load " + path + ": " + e.getMessage(), e);
    }
  }

  /** Where it was found, for reports. */
  public Path path() {
    return path;
  }

  /** Its version as it writes it: 130000 is 13.0.0. */
  public int version() {
    return version;
  }

  /** What it computes in; the number is the library's. */
  public enum Compute {
    /** 32-bit floats; products of 16-bit inputs on tensor cores. */
    F32(68),
    /** 32-bit floats, and neither tensor cores nor reordering for 32-bit inputs. */
    F32_PEDANTIC(69),
    /** 32-bit inputs rounded to tf32, on tensor cores. */
    F32_TF32(77),
    F64(70),
    /** 16-bit inputs on tensor cores, sums in 16 bits. */
    F16(64),
    /** Bytes, sums in 32 bits. */
    I32(72);

    private final int code;

    Compute(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }

    /** Type of the factors of product and addend. */
    Type scale() {
      return switch (this) {
        case F32, F32_PEDANTIC, F32_TF32 -> Type.F32;
        case F64 -> Type.F64;
        case F16 -> Type.F16;
        case I32 -> Type.I32;
      };
    }
  }

  /** An element type; the number is the library's. */
  public enum Type {
    F32(0),
    F64(1),
    F16(2),
    BF16(14),
    I8(3),
    I32(10),
    E4M3(28),
    E5M2(29);

    private final int code;

    Type(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }

    /** The number one in this type, zero in all bytes that it has not. */
    MemorySegment one(Arena arena) {
      MemorySegment one = arena.allocate(JAVA_LONG);
      switch (this) {
        case F32 -> one.set(JAVA_FLOAT, 0, 1f);
        case F64 -> one.set(JAVA_DOUBLE, 0, 1.0);
        case F16 -> one.set(JAVA_SHORT, 0, Float.floatToFloat16(1f));
        case BF16 -> one.set(JAVA_SHORT, 0, (short) (Float.floatToIntBits(1f) >>> 16));
        case I8, I32 -> one.set(JAVA_INT, 0, 1);
        case E4M3, E5M2 -> throw new IllegalStateException("no factors of " + this);
      }
      return one;
    }
  }

  /**
   * A product of row-major matrices: D[m][n] = A · B.
   *
   * @param input type of A and B
   * @param output type of D
   * @param transposedA whether A is stored as [k][m], else as [m][k]
   * @param transposedB whether B is stored as [n][k], else as [k][n]
   * @param batch how many such products
   * @param leading how far apart rows are
   */
  public record Gemm(
      int m,
      int n,
      int k,
      Type input,
      Type output,
      Compute compute,
      boolean transposedA,
      boolean transposedB,
      Batch batch,
      Leading leading) {
    /** One product without padding. */
    public Gemm(
        int m,
        int n,
        int k,
        Type input,
        Type output,
        Compute compute,
        boolean transposedA,
        boolean transposedB) {
      this(
          m,
          n,
          k,
          input,
          output,
          compute,
          transposedA,
          transposedB,
          Batch.ONE,
          new Leading(transposedA ? m : k, transposedB ? k : n, n));
    }

    /** The same with so many rows of A and D. */
    public Gemm rows(int rows) {
      return new Gemm(rows, n, k, input, output, compute, transposedA, transposedB, batch, leading);
    }
  }

  /**
   * Products of one shape.
   *
   * @param strideA elements from the A of one product to the next one's; 0 where all have the same
   * @param strideB the same of B
   * @param strideD the same of D
   */
  public record Batch(int count, long strideA, long strideB, long strideD) {
    /** One product. */
    public static final Batch ONE = new Batch(1, 0, 0, 0);
  }

  /** Elements from one row of a matrix, as it is stored, to the next. */
  public record Leading(int a, int b, int d) {}

  /** Where matrices begin in their memory, in bytes. */
  public record Offsets(long a, long b, long d) {
    static final Offsets NONE = new Offsets(0, 0, 0);
  }

  /** Gives memory for split-K and the like; it must stay open for as long as this is used. */
  public void setWorkspace(CudaBuffer workspace) {
    use();
    check(
        Downcall.call(setWorkspace, handle, workspace.address(), workspace.bytes()),
        "cublasSetWorkspace");
  }

  /**
   * Gives a product to the stream and does not wait.
   *
   * @throws DeviceError if cuBLAS refuses it
   */
  public synchronized void gemm(Gemm gemm, CudaBuffer a, CudaBuffer b, CudaBuffer d) {
    gemm(gemm, a, b, d, Offsets.NONE);
  }

  /**
   * The same for matrices inside of memory.
   *
   * @throws DeviceError if cuBLAS refuses it
   */
  public synchronized void gemm(
      Gemm gemm, CudaBuffer a, CudaBuffer b, CudaBuffer d, Offsets offsets) {
    use();
    stream.touch(a);
    stream.touch(b);
    stream.touch(d);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment one = gemm.compute().scale().one(arena);
      MemorySegment zero = arena.allocate(JAVA_LONG);
      check(
          gemm.batch().count() == 1
              ? call(
                  gemm,
                  a.address() + offsets.a(),
                  b.address() + offsets.b(),
                  d.address() + offsets.d(),
                  one.address(),
                  zero.address())
              : callBatched(gemm, a, b, d, one.address(), zero.address()),
          "cublasGemmEx of " + gemm);
    }
  }

  /** cuBLAS is column-major, so it computes Dᵀ = Bᵀ · Aᵀ, which needs no transposition. */
  private int call(Gemm g, long a, long b, long d, long one, long zero) {
    try {
      return (int)
          gemm.invokeExact(
              handle,
              g.transposedB() ? 1 : 0,
              g.transposedA() ? 1 : 0,
              g.n(),
              g.m(),
              g.k(),
              one,
              b,
              g.input().code,
              g.leading().b(),
              a,
              g.input().code,
              g.leading().a(),
              zero,
              d,
              g.output().code,
              g.leading().d(),
              g.compute().code,
              DEFAULT_ALGORITHM);
    } catch (Throwable t) {
      throw Downcall.unexpected(t);
    }
  }

  private int callBatched(Gemm g, CudaBuffer a, CudaBuffer b, CudaBuffer d, long one, long zero) {
    try {
      return (int)
          batched.invokeExact(
              handle,
              g.transposedB() ? 1 : 0,
              g.transposedA() ? 1 : 0,
              g.n(),
              g.m(),
              g.k(),
              one,
              b.address(),
              g.input().code,
              g.leading().b(),
              g.batch().strideB(),
              a.address(),
              g.input().code,
              g.leading().a(),
              g.batch().strideA(),
              zero,
              d.address(),
              g.output().code,
              g.leading().d(),
              g.batch().strideD(),
              g.batch().count(),
              g.compute().code,
              DEFAULT_ALGORITHM);
    } catch (Throwable t) {
      throw Downcall.unexpected(t);
    }
  }

  private void use() {
    if (closed) {
      throw new IllegalStateException("cuBLAS is closed");
    }
    stream.use();
  }

  /** Must happen before the stream closes. Does nothing the second time. */
  @Override
  public synchronized void close() {
    if (!closed) {
      use();
      closed = true;
      check(Downcall.call(destroy, handle), "cublasDestroy");
    }
  }

  private static MethodHandle bind(
      NativeFunctions functions, String name, ValueLayout... arguments) {
    return find(functions, name, FunctionDescriptor.of(JAVA_INT, arguments));
  }

  /** A function of NVIDIA's libraries, which have it in every version that is looked for. */
  static MethodHandle find(NativeFunctions functions, String name, FunctionDescriptor descriptor) {
    return functions
        .find(name, descriptor)
        .orElseThrow(() -> new java.util.NoSuchElementException(name));
  }

  private void check(int status, String call) {
    if (status != 0) {
      String text;
      try {
        MemorySegment name = (MemorySegment) statusText.invokeExact(status);
        text = name.reinterpret(Long.MAX_VALUE).getString(0);
      } catch (Throwable t) {
        throw Downcall.unexpected(t);
      }
      throw new DeviceError(call + " failed: " + text);
    }
  }
}
