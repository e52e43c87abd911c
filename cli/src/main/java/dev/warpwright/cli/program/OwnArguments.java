package dev.warpwright.cli.program;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.model.npy.NpyArray;
import dev.warpwright.model.npy.NpyFile;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a kernel, some of which come from files. Scalars that are extents of such an
 * array follow from it. What is in no file is random if it is read, and poisoned if it is only
 * written.
 *
 * @param given the buffers whose contents a file has
 */
record OwnArguments(Arguments arguments, Map<String, Long> scalars, List<String> given) {
  OwnArguments {
    scalars = Map.copyOf(scalars);
    given = List.copyOf(given);
  }

  /**
   * Reads the files.
   *
   * @param inputs {@code NAME=FILE} or {@code FILE}
   * @param values of scalars by name
   * @throws UserError if a file cannot be read, or its shape is not the buffer's
   */
  static OwnArguments of(
      Kernel kernel, List<String> inputs, Map<String, Long> values, OptionalInt first, long seed) {
    Map<Buffer, NpyArray> files = files(kernel, inputs);
    Map<String, Long> known = new TreeMap<>(values);
    files.forEach((buffer, array) -> infer(kernel, buffer, array, known));
    Map<String, Long> scalars = KernelData.scalars(kernel.params(), known, first);
    Arguments arguments = KernelData.random(kernel, scalars, seed);
    for (Buffer buffer : kernel.buffers()) {
      NpyArray array = files.get(buffer);
      if (array != null) {
        fill(buffer, arguments.get(buffer), array);
      } else if (!isRead(kernel, buffer)) {
        arguments.get(buffer).poison();
      }
    }
    return new OwnArguments(arguments, scalars, files.keySet().stream().map(Buffer::name).toList());
  }

  /** The same for a kernel with parameters of the same names. */
  OwnArguments of(Kernel kernel) {
    Arguments same = Arguments.of(kernel.params());
    bind(kernel, same);
    return new OwnArguments(same, scalars, given);
  }

  /** Binds a kernel's parameters to the arrays and scalars of the same names. */
  void bind(Kernel kernel, Arguments to) {
    kernel.buffers().forEach(buffer -> to.bind(buffer, arguments.get(buffer.name())));
    for (ScalarParam scalar : kernel.scalars()) {
      Long value = scalars.get(scalar.name());
      if (value != null) {
        to.bind(scalar.var(), value);
      }
    }
  }

  private static Map<Buffer, NpyArray> files(Kernel kernel, List<String> inputs) {
    Map<Buffer, NpyArray> files = new LinkedHashMap<>();
    for (String input : inputs) {
      int equals = input.indexOf('=');
      Buffer named = equals > 0 ? buffer(kernel, input.substring(0, equals)) : null;
      Path path = path(named == null ? input : input.substring(equals + 1));
      Buffer buffer = named == null ? unnamed(kernel, path, files) : named;
      if (files.put(buffer, NpyFile.read(path)) != null) {
        throw new UserError("--input " + input + ": there are two files for " + buffer.name());
      }
    }
    return files;
  }

  private static Path path(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new UserError("--input " + text + ": no name of a file", e);
    }
  }

  private static @Nullable Buffer buffer(Kernel kernel, String name) {
    return kernel.buffers().stream().filter(b -> b.name().equals(name)).findFirst().orElse(null);
  }

  /** The buffer that is called like the file, small or large, or the first one without. */
  private static Buffer unnamed(Kernel kernel, Path path, Map<Buffer, NpyArray> files) {
    String stem = String.valueOf(path.getFileName()).replaceFirst("\\.npy$", "");
    return kernel.buffers().stream()
        .filter(b -> b.name().equalsIgnoreCase(stem))
        .findFirst()
        .or(() -> kernel.buffers().stream().filter(b -> !files.containsKey(b)).findFirst())
        .orElseThrow(
            () ->
                new UserError(
                    "--input " + path + ": " + kernel.name() + " has no buffer left for it"));
  }

  /** Whether the kernel reads what a buffer held before. */
  static boolean isRead(Kernel kernel, Buffer buffer) {
    boolean[] found = {false};
    Walk.expressions(
        kernel.body(),
        e ->
            found[0] |=
                e instanceof Expr.Load load && load.buffer().equals(buffer)
                    || e instanceof Expr.AddressOf address && address.buffer().equals(buffer));
    return found[0];
  }

  private static void infer(
      Kernel kernel, Buffer buffer, NpyArray array, Map<String, Long> values) {
    for (int d = 0; d < Math.min(buffer.rank(), array.shape().size()); d++) {
      if (buffer.shape().get(d) instanceof Var v) {
        for (ScalarParam scalar : kernel.scalars()) {
          if (scalar.var() == v) {
            values.putIfAbsent(scalar.name(), array.shape().get(d));
          }
        }
      }
    }
  }

  private static void fill(Buffer buffer, NdArray into, NpyArray from) {
    long[] shape = from.shape().stream().mapToLong(Long::longValue).toArray();
    if (!Arrays.equals(shape, into.shape())) {
      throw new UserError(
          buffer.name()
              + ": the file has shape "
              + Arrays.toString(shape)
              + ", the buffer "
              + Arrays.toString(into.shape()));
    }
    boolean real = buffer.dtype().isFloat();
    for (int i = 0; i < into.size(); i++) {
      if (real) {
        into.setElement(i, from.doubleAt(i));
      } else {
        into.setIntegerElement(i, from.longAt(i));
      }
    }
  }
}
