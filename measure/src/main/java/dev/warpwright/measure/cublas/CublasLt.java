package dev.warpwright.measure.cublas;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Downcall;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.cuda.DriverLibrary;
import dev.warpwright.runtime.cuda.NativeFunctions;
import dev.warpwright.target.host.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's lightweight matrix library, which offers several algorithms for a product: a baseline,
 * like {@link Cublas}. Numbers are those of its header, {@code cublasLt.h}.
 */
public final class CublasLt implements AutoCloseable {
  private static final List<String> NAMES = List.of("libcublasLt.so.13", "libcublasLt.so.12");
  private static final int TRANSPOSE_A = 3;
  private static final int TRANSPOSE_B = 4;
  private static final int ENDING = 7;
  private static final int BIAS_POINTER = 8;
  private static final int FAST_ACCUMULATION = 25;
  private static final int BATCH_COUNT = 5;
  private static final int BATCH_STRIDE = 6;
  private static final int WORKSPACE_BYTES = 1;
  private static final int ALGORITHM_BYTES = 64;
  private static final int RESULT_BYTES = 96;
  private static final int RESULT_STATE = 72;

  private final CudaStream stream;
  private final NativeFunctions functions;
  private final MethodHandle matmul;
  private final long handle;
  private boolean closed;

  private CublasLt(CudaStream stream, NativeFunctions functions) {
    this.stream = stream;
    this.functions = functions;
    this.matmul =
        bind(
            "cublasLtMatmul",
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG);
    stream.use();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      check(invoke(bind("cublasLtCreate", ADDRESS), out), "cublasLtCreate");
      handle = out.get(JAVA_LONG, 0);
    }
  }

  /**
   * Loads the library.
   *
   * @return nothing if it is not installed
   */
  public static Optional<CublasLt> open(CudaStream stream) {
    NativeFunctions replacement = DriverLibrary.replacement();
    if (replacement != null) {
      return replacement
          .find("cublasLtCreate", FunctionDescriptor.of(JAVA_INT, ADDRESS))
          .map(create -> new CublasLt(stream, replacement));
    }
    return NativeLibraries.system()
        .library(NAMES)
        .map(
            (Path path) ->
                new CublasLt(
                    stream, NativeFunctions.of(SymbolLookup.libraryLookup(path, Arena.global()))));
  }

  /** What follows a product before it is stored; the number is the library's. */
  public enum Function {
    NONE(1, 4),
    RELU(2, 6),
    /** By tanh. */
    GELU(32, 36);

    private final int plain;
    private final int biased;

    Function(int plain, int biased) {
      this.plain = plain;
      this.biased = biased;
    }
  }

  /**
   * An epilogue.
   *
   * @param bias an element for each column, of the result's type; null for none. It must stay open
   *     for as long as the product is used
   */
  public record Ending(Function function, @Nullable CudaBuffer bias) {
    static final Ending NONE = new Ending(Function.NONE, null);
  }

  /** A product that is described, and the algorithms that the library suggests for it. */
  public final class Matmul implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment one;
    private final MemorySegment zero = arena.allocate(JAVA_LONG);
    private final long description;
    private final long left;
    private final long right;
    private final long result;
    private final List<MemorySegment> algorithms = new ArrayList<>();
    private final CudaBuffer workspace;

    private final @Nullable CudaBuffer bias;

    private Matmul(Cublas.Gemm gemm, Ending ending, CudaBuffer workspace, int most) {
      this.workspace = workspace;
      this.bias = ending.bias();
      Cublas.Type scale = gemm.compute().scale();
      one = scale.one(arena);
      description = create("cublasLtMatmulDescCreate", gemm.compute().code(), scale.code());
      // Column-major, so that Dᵀ = Bᵀ · Aᵀ: the library's A is our B.
      setInt(description, TRANSPOSE_A, gemm.transposedB() ? 1 : 0);
      setInt(description, TRANSPOSE_B, gemm.transposedA() ? 1 : 0);
      if (gemm.input() == Cublas.Type.E4M3 || gemm.input() == Cublas.Type.E5M2) {
        setByte(description, FAST_ACCUMULATION, (byte) 1);
      }
      if (!ending.equals(Ending.NONE)) {
        Function function = ending.function();
        setInt(description, ENDING, bias == null ? function.plain : function.biased);
      }
      if (bias != null) {
        setLong(description, BIAS_POINTER, bias.address());
      }
      left =
          layout(
              gemm.input(),
              gemm.transposedB() ? gemm.k() : gemm.n(),
              gemm.transposedB() ? gemm.n() : gemm.k(),
              gemm.leading().b());
      right =
          layout(
              gemm.input(),
              gemm.transposedA() ? gemm.m() : gemm.k(),
              gemm.transposedA() ? gemm.k() : gemm.m(),
              gemm.leading().a());
      result = layout(gemm.output(), gemm.n(), gemm.m(), gemm.leading().d());
      if (gemm.batch().count() > 1) {
        batch(left, gemm.batch().count(), gemm.batch().strideB());
        batch(right, gemm.batch().count(), gemm.batch().strideA());
        batch(result, gemm.batch().count(), gemm.batch().strideD());
      }
      findAlgorithms(most);
    }

    private void batch(long matrix, int count, long stride) {
      MethodHandle set =
          bind("cublasLtMatrixLayoutSetAttribute", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
      check(
          invoke(set, matrix, BATCH_COUNT, arena.allocateFrom(JAVA_INT, count), 4L),
          "cublasLtMatrixLayoutSetAttribute");
      check(
          invoke(set, matrix, BATCH_STRIDE, arena.allocateFrom(JAVA_LONG, stride), 8L),
          "cublasLtMatrixLayoutSetAttribute");
    }

    private long create(String function, int a, int b) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      check(invoke(bind(function, ADDRESS, JAVA_INT, JAVA_INT), out, a, b), function);
      return out.get(JAVA_LONG, 0);
    }

    private void setInt(long target, int attribute, int value) {
      MethodHandle set =
          bind("cublasLtMatmulDescSetAttribute", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
      check(
          invoke(set, target, attribute, arena.allocateFrom(JAVA_INT, value), 4L),
          "cublasLtMatmulDescSetAttribute");
    }

    private void setLong(long target, int attribute, long value) {
      MethodHandle set =
          bind("cublasLtMatmulDescSetAttribute", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
      check(
          invoke(set, target, attribute, arena.allocateFrom(JAVA_LONG, value), 8L),
          "cublasLtMatmulDescSetAttribute");
    }

    private void setByte(long target, int attribute, byte value) {
      MethodHandle set =
          bind("cublasLtMatmulDescSetAttribute", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
      check(
          invoke(set, target, attribute, arena.allocateFrom(JAVA_BYTE, value), 1L),
          "cublasLtMatmulDescSetAttribute");
    }

    private long layout(Cublas.Type type, long rows, long columns, long leading) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      MethodHandle create =
          bind("cublasLtMatrixLayoutCreate", ADDRESS, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
      check(invoke(create, out, type.code(), rows, columns, leading), "cublasLtMatrixLayoutCreate");
      return out.get(JAVA_LONG, 0);
    }

    private void findAlgorithms(int most) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      check(
          invoke(bind("cublasLtMatmulPreferenceCreate", ADDRESS), out),
          "cublasLtMatmulPreferenceCreate");
      long preference = out.get(JAVA_LONG, 0);
      try {
        MethodHandle set =
            bind("cublasLtMatmulPreferenceSetAttribute", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
        MemorySegment bytes = arena.allocateFrom(JAVA_LONG, workspace.bytes());
        check(
            invoke(set, preference, WORKSPACE_BYTES, bytes, 8L),
            "cublasLtMatmulPreferenceSetAttribute");
        MemorySegment results = arena.allocate((long) RESULT_BYTES * most, 16);
        MemorySegment count = arena.allocate(JAVA_INT);
        MethodHandle find =
            bind(
                "cublasLtMatmulAlgoGetHeuristic",
                JAVA_LONG,
                JAVA_LONG,
                JAVA_LONG,
                JAVA_LONG,
                JAVA_LONG,
                JAVA_LONG,
                JAVA_LONG,
                JAVA_INT,
                ADDRESS,
                ADDRESS);
        check(
            invoke(
                find,
                handle,
                description,
                left,
                right,
                result,
                result,
                preference,
                most,
                results,
                count),
            "cublasLtMatmulAlgoGetHeuristic");
        for (int i = 0; i < count.get(JAVA_INT, 0); i++) {
          long at = (long) RESULT_BYTES * i;
          if (results.get(JAVA_INT, at + RESULT_STATE) == 0) {
            algorithms.add(results.asSlice(at, ALGORITHM_BYTES));
          }
        }
      } finally {
        destroy("cublasLtMatmulPreferenceDestroy", preference);
      }
    }

    /** How many algorithms were suggested, best first in the library's opinion. */
    public int algorithms() {
      return algorithms.size();
    }

    /**
     * Gives the product to the stream and does not wait.
     *
     * @throws DeviceError if the library refuses it
     */
    public void enqueue(int algorithm, CudaBuffer a, CudaBuffer b, CudaBuffer d) {
      stream.use();
      stream.touch(a);
      stream.touch(b);
      stream.touch(d);
      if (bias != null) {
        stream.touch(bias);
      }
      check(
          matmul(algorithms.get(algorithm).address(), a.address(), b.address(), d.address()),
          "cublasLtMatmul");
    }

    /** By a call of exact types: one by objects costs many times what a small product takes. */
    private int matmul(long algorithm, long a, long b, long d) {
      try {
        return (int)
            matmul.invokeExact(
                handle,
                description,
                one.address(),
                b,
                left,
                a,
                right,
                zero.address(),
                d,
                result,
                d,
                result,
                algorithm,
                workspace.address(),
                workspace.bytes(),
                stream.handle());
      } catch (Throwable t) {
        throw Downcall.unexpected(t);
      }
    }

    @Override
    public void close() {
      for (long matrix : new long[] {left, right, result}) {
        destroy("cublasLtMatrixLayoutDestroy", matrix);
      }
      destroy("cublasLtMatmulDescDestroy", description);
      arena.close();
    }
  }

  /**
   * Describes a product of row-major matrices.
   *
   * @param workspace must stay open for as long as the product is used
   * @param most how many algorithms to ask for
   */
  public Matmul matmul(Cublas.Gemm gemm, CudaBuffer workspace, int most) {
    return new Matmul(gemm, Ending.NONE, workspace, most);
  }

  /**
   * The same with an epilogue.
   *
   * @param workspace must stay open for as long as the product is used
   * @param most how many algorithms to ask for
   */
  public Matmul matmul(Cublas.Gemm gemm, Ending ending, CudaBuffer workspace, int most) {
    return new Matmul(gemm, ending, workspace, most);
  }

  private void destroy(String function, long object) {
    check(invoke(bind(function, JAVA_LONG), object), function);
  }

  private MethodHandle bind(String name, MemoryLayout... arguments) {
    return Cublas.find(functions, name, FunctionDescriptor.of(JAVA_INT, arguments));
  }

  private static int invoke(MethodHandle function, Object... arguments) {
    try {
      return (int) function.invokeWithArguments(arguments);
    } catch (Throwable t) {
      throw Downcall.unexpected(t);
    }
  }

  private static void check(int status, String call) {
    if (status != 0) {
      throw new DeviceError(call + " failed with status " + status);
    }
  }

  /** Must happen before the stream closes. Does nothing the second time. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      stream.use();
      destroy("cublasLtDestroy", handle);
    }
  }
}
