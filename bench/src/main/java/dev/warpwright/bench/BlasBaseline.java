package dev.warpwright.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Row-major {@code C = A · B} by the native libraries in jars of JavaCPP Presets. Their threads are
 * as many as {@code OMP_NUM_THREADS} says.
 */
final class BlasBaseline {
  private static final int ROW_MAJOR = 101;
  private static final int PLAIN = 111;
  private static final long ALIGNMENT = 64;

  private BlasBaseline() {}

  private interface Call {
    void run() throws Throwable;
  }

  static Implementation openBlas(int m, int n, int k, float[] a, float[] b, double[] reference) {
    SymbolLookup library =
        library(
            "openblas",
            "libgcc_s.so.1",
            "libquadmath.so.0",
            "libgfortran.so.5",
            "libopenblas.so.0");
    MethodHandle sgemm =
        handle(
            library,
            "cblas_sgemm",
            FunctionDescriptor.ofVoid(
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_FLOAT,
                ADDRESS,
                JAVA_INT,
                ADDRESS,
                JAVA_INT,
                JAVA_FLOAT,
                ADDRESS,
                JAVA_INT));
    MemorySegment x = copy(a);
    MemorySegment y = copy(b);
    MemorySegment z = allocate((long) m * n);
    return implementation(
        "OpenBLAS",
        reference,
        z,
        () -> {
          sgemm.invokeExact(ROW_MAJOR, PLAIN, PLAIN, m, n, k, 1f, x, k, y, n, 0f, z, n);
        });
  }

  static Implementation oneDnn(int m, int n, int k, float[] a, float[] b, double[] reference) {
    SymbolLookup library = library("dnnl", "libgomp.so.1", "libdnnl.so.3");
    MethodHandle sgemm =
        handle(
            library,
            "dnnl_sgemm",
            FunctionDescriptor.of(
                JAVA_INT,
                JAVA_BYTE,
                JAVA_BYTE,
                JAVA_LONG,
                JAVA_LONG,
                JAVA_LONG,
                JAVA_FLOAT,
                ADDRESS,
                JAVA_LONG,
                ADDRESS,
                JAVA_LONG,
                JAVA_FLOAT,
                ADDRESS,
                JAVA_LONG));
    MemorySegment x = copy(a);
    MemorySegment y = copy(b);
    MemorySegment z = allocate((long) m * n);
    return implementation(
        "oneDNN",
        reference,
        z,
        () -> {
          int status =
              (int)
                  sgemm.invokeExact(
                      (byte) 'N',
                      (byte) 'N',
                      (long) m,
                      (long) n,
                      (long) k,
                      1f,
                      x,
                      (long) k,
                      y,
                      (long) n,
                      0f,
                      z,
                      (long) n);
          if (status != 0) {
            throw new IllegalStateException("status " + status);
          }
        });
  }

  private static Implementation implementation(
      String name, double[] reference, MemorySegment result, Call call) {
    return new Implementation(
        name,
        reference,
        Implementation.BASELINE_TOLERANCE,
        () -> {
          try {
            call.run();
          } catch (Throwable e) {
            throw new IllegalStateException(name + " failed: " + e.getMessage(), e);
          }
        },
        () -> result.toArray(JAVA_FLOAT),
        () -> result.fill((byte) 0xFF));
  }

  private static MethodHandle handle(SymbolLookup library, String name, FunctionDescriptor type) {
    return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), type);
  }

  private static MemorySegment allocate(long count) {
    return Arena.ofAuto().allocate(count * Float.BYTES, ALIGNMENT);
  }

  private static MemorySegment copy(float[] values) {
    MemorySegment segment = allocate(values.length);
    segment.copyFrom(MemorySegment.ofArray(values));
    return segment;
  }

  /** Unpacks a library and those that it needs, and loads them in order; the last is the result. */
  private static SymbolLookup library(String preset, String... files) {
    try {
      Path folder = Files.createTempDirectory("warpwright-bench");
      folder.toFile().deleteOnExit();
      SymbolLookup lookup = SymbolLookup.loaderLookup();
      for (String file : List.of(files)) {
        Path target = folder.resolve(file);
        String resource = "/org/bytedeco/" + preset + "/linux-x86_64/" + file;
        try (InputStream in = BlasBaseline.class.getResourceAsStream(resource)) {
          if (in == null) {
            throw new IllegalStateException("there is no " + resource + " in the jars");
          }
          Files.copy(in, target);
        }
        target.toFile().deleteOnExit();
        System.load(target.toString());
        lookup = SymbolLookup.libraryLookup(target, Arena.global());
      }
      return lookup;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot unpack " + preset, e);
    }
  }
}
