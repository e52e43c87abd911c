package dev.warpwright.lower;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.lower.host.HostProgram;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs programs and kernels in the interpreter and on the JVM and compares every bit. */
public final class Executors {
  private Executors() {}

  /** The program's arguments after the interpreter has run it on random ones. */
  public static Arguments interpreted(PrimFunc func, long seed, Map<String, Long> scalars) {
    Arguments arguments = Arguments.random(func.params(), seed, scalars);
    Interpreter.of(func, Options.CHECKED).run(arguments);
    return arguments;
  }

  /**
   * Runs a program and the kernel that it was lowered to, the kernel in the interpreter and on the
   * JVM, and asserts that all three leave the same bits in every parameter.
   */
  public static void assertSame(
      PrimFunc func, HostProgram lowered, long seed, Map<String, Long> scalars, Parallel parallel) {
    Arguments expected = interpreted(func, seed, scalars);
    Arguments before = Arguments.random(func.params(), seed, scalars);
    Kernel kernel = lowered.kernel();
    Verifier.require(kernel);
    assertThat(kernel.params()).hasSameSizeAs(func.params());
    List<Object> jvmArrays = new ArrayList<>();
    Arguments interpreted = Arguments.of(kernel.params());
    long[] values = scalars(func, scalars);
    int scalar = 0;
    for (int i = 0; i < func.params().size(); i++) {
      Param original = func.params().get(i);
      switch (kernel.params().get(i)) {
        case ScalarParam s -> interpreted.bind(s.var(), values[scalar++]);
        case Buffer b -> {
          NdArray source = before.get((Buffer) original);
          HostProgram.Packed packed = lowered.packed().get((Buffer) original);
          Object array =
              packed == null
                  ? toArray(source)
                  : Packing.pack(
                      (Buffer) original, toArray(source), packed.where(), b.storageElements());
          jvmArrays.add(array);
          interpreted.bind(b, packed == null ? source.copy() : toNdArray(b, array));
        }
      }
    }
    Interpreter.of(kernel, Options.EXACT).run(interpreted);
    HostCompiler.compile(kernel).run(jvmArrays.toArray(), values, parallel);
    int buffer = 0;
    for (int i = 0; i < func.params().size(); i++) {
      if (func.params().get(i) instanceof Buffer b) {
        Object array = jvmArrays.get(buffer++);
        if (!lowered.packed().containsKey(b)) {
          NdArray want = expected.get(b);
          NdArray got = interpreted.get((Buffer) kernel.params().get(i));
          assertThat(got.sameBits(want))
              .as("%s in the interpreter, first difference %s", b, got.difference(want))
              .isTrue();
          byte[] bits = bytes(array);
          assertThat(bits).as("%s on the JVM", b).isEqualTo(want.bytes());
        }
      }
    }
  }

  private static long[] scalars(PrimFunc func, Map<String, Long> scalars) {
    return func.scalars().stream().mapToLong(s -> scalars.get(s.name())).toArray();
  }

  /** The Java array that the JVM back end takes for the elements. */
  public static Object toArray(NdArray array) {
    ByteBuffer bytes = ByteBuffer.wrap(array.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    int size = array.bytes().length / array.dtype().bytes();
    return switch (array.dtype()) {
      case F32 -> {
        float[] a = new float[size];
        bytes.asFloatBuffer().get(a);
        yield a;
      }
      case F64 -> {
        double[] a = new double[size];
        bytes.asDoubleBuffer().get(a);
        yield a;
      }
      case F16, BF16 -> {
        short[] a = new short[size];
        bytes.asShortBuffer().get(a);
        yield a;
      }
      case I32, U32 -> {
        int[] a = new int[size];
        bytes.asIntBuffer().get(a);
        yield a;
      }
      case I64, U64 -> {
        long[] a = new long[size];
        bytes.asLongBuffer().get(a);
        yield a;
      }
      case I8, U8, BOOL, F8E4M3, F8E5M2 -> array.bytes().clone();
      case MBARRIER, HANDLE -> throw new IllegalArgumentException("array of " + array.dtype());
    };
  }

  private static NdArray toNdArray(Buffer buffer, Object array) {
    NdArray result = NdArray.of(buffer);
    byte[] bytes = bytes(array);
    System.arraycopy(bytes, 0, result.bytes(), 0, bytes.length);
    return result;
  }

  /** The little-endian bytes of a Java array. */
  public static byte[] bytes(Object array) {
    return switch (array) {
      case float[] a -> {
        ByteBuffer b = buffer(4L * a.length);
        b.asFloatBuffer().put(a);
        yield b.array();
      }
      case double[] a -> {
        ByteBuffer b = buffer(8L * a.length);
        b.asDoubleBuffer().put(a);
        yield b.array();
      }
      case short[] a -> {
        ByteBuffer b = buffer(2L * a.length);
        b.asShortBuffer().put(a);
        yield b.array();
      }
      case int[] a -> {
        ByteBuffer b = buffer(4L * a.length);
        b.asIntBuffer().put(a);
        yield b.array();
      }
      case long[] a -> {
        ByteBuffer b = buffer(8L * a.length);
        b.asLongBuffer().put(a);
        yield b.array();
      }
      case byte[] a -> a;
      default -> throw new IllegalArgumentException("not an array of numbers: " + array);
    };
  }

  private static ByteBuffer buffer(long size) {
    return ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A kernel that stands for its program as it is. */
  public static HostProgram unpacked(Kernel kernel) {
    return new HostProgram(kernel, Map.of());
  }
}
