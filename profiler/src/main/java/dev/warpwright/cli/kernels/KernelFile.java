package dev.warpwright.cli.kernels;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.FileBytes;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.text.IrFile;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.KernelSpecialization;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A parsed file of IR text.
 *
 * @param content what it holds; at least one thing
 */
public record KernelFile(Path file, IrFile content) {
  /** No program written by hand comes near this; a model given by mistake does. */
  private static final long LONGEST = 64 << 20;

  /**
   * Reads and parses.
   *
   * @throws UserError if the file cannot be read, or is not well formed; the message names the line
   */
  public static KernelFile read(Path file) {
    MemorySegment bytes = FileBytes.read(file);
    if (bytes.byteSize() > LONGEST) {
      throw new UserError(file + ": is too long for a program in text");
    }
    IrFile content =
        new IrParser(Intrinsics::find).file(String.valueOf(file.getFileName()), text(file, bytes));
    if (content.kernels().isEmpty()
        && content.primFuncs().isEmpty()
        && content.programs().isEmpty()) {
      throw new UserError(file + ": holds no kernel; it begins with 'kernel name(…) …'");
    }
    return new KernelFile(file, content);
  }

  private static String text(Path file, MemorySegment bytes) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.toArray(ValueLayout.JAVA_BYTE)))
          .toString();
    } catch (CharacterCodingException e) {
      throw new UserError(file + ": is no text in UTF-8", e);
    }
  }

  /** What breaks a rule, one line each, with the name of what it is in. */
  public List<String> problems() {
    List<String> lines = new ArrayList<>();
    content.primFuncs().forEach(f -> add(lines, f.name(), Verifier.verify(f)));
    content.kernels().forEach(k -> add(lines, k.name(), Verifier.verify(k)));
    content.programs().forEach(p -> add(lines, p.name(), Verifier.verify(p)));
    return lines;
  }

  private static void add(List<String> lines, String name, List<Problem> problems) {
    problems.forEach(problem -> lines.add(name + ": " + problem));
  }

  /**
   * Refuses values of scalars that nothing in the file has.
   *
   * @throws UserError that names those there are
   */
  public void checkScalars(Set<String> given) {
    Set<String> known = new LinkedHashSet<>();
    content.primFuncs().forEach(f -> known.addAll(scalars(f.params())));
    content.kernels().forEach(k -> known.addAll(scalars(k.params())));
    for (Program program : content.programs()) {
      known.addAll(scalars(program.params().stream().map(Program.ProgramParam::param).toList()));
      program.kernels().forEach(k -> known.addAll(scalars(k.params())));
    }
    for (String name : given) {
      if (!known.contains(name)) {
        throw new UserError(
            name
                + ": "
                + file
                + (known.isEmpty()
                    ? " has no scalars; its shapes are fixed"
                    : " has no such scalar; there are " + String.join(", ", known)));
      }
    }
  }

  private static List<String> scalars(List<? extends Param> params) {
    return params.stream()
        .filter(p -> p instanceof ScalarParam)
        .map(p -> ((ScalarParam) p).name())
        .toList();
  }

  /** The canonical text of all of it. */
  String text() {
    Stream<String> texts =
        Stream.of(
                content.primFuncs().stream().map(IrPrinter::text),
                content.kernels().stream().map(IrPrinter::text),
                content.programs().stream().map(IrPrinter::text))
            .flatMap(s -> s);
    return String.join("\n", texts.toList());
  }

  private static Kernel changed(Kernel kernel, Map<String, String> attributes) {
    Attrs attrs = kernel.attrs();
    for (Map.Entry<String, String> entry : attributes.entrySet()) {
      String name = entry.getKey();
      if (!attrs.has(name)) {
        throw new UserError(
            "--attr "
                + name
                + ": kernel "
                + kernel.name()
                + " has only "
                + attrs.values().keySet());
      }
      if (attrs.getString(name) != null) {
        attrs = attrs.with(name, entry.getValue());
      } else if (entry.getValue().matches("-?\\d{1,18}")) {
        attrs = attrs.with(name, Long.parseLong(entry.getValue()));
      } else {
        throw new UserError("--attr " + name + "=" + entry.getValue() + ": it is a number");
      }
    }
    return new Kernel(
        kernel.name(), kernel.kind(), kernel.params(), kernel.bindings(), kernel.body(), attrs);
  }

  private static Kernel specialized(Kernel kernel, Map<String, Long> values) {
    if (values.isEmpty()) {
      return kernel;
    }
    return kernel.attrs().has("workload")
        ? BoundKernel.of(kernel, values).kernel()
        : KernelSpecialization.specialize(kernel, values);
  }

  /**
   * The kernels that stand alone.
   *
   * @param attributes that get another value
   * @throws UserError if a kernel has no such attribute
   */
  List<Kernel> kernels(Map<String, String> attributes) {
    return content.kernels().stream().map(k -> changed(k, attributes)).toList();
  }

  /** Names of all that is in it. */
  public List<String> names() {
    return Stream.of(
            content.primFuncs().stream().map(PrimFunc::name),
            content.kernels().stream().map(Kernel::name),
            content.programs().stream().map(Program::name))
        .flatMap(s -> s)
        .toList();
  }

  /**
   * The grid kernels, those of programs too: what CUDA is printed from.
   *
   * @param request may change attributes, and make scalars constants; in several kernels those of
   *     one name are the same
   * @throws UserError if there is no grid kernel, or none has such a scalar, or one no such
   *     attribute
   */
  public List<Kernel> gridKernels(KernelRequest request) {
    List<Kernel> kernels = gridKernels(request.attributes());
    return kernels.stream().map(k -> specialized(k, ofKernel(k, kernels, request))).toList();
  }

  /** The values that are for one of the kernels: all, but those that only others have. */
  private static Map<String, Long> ofKernel(Kernel k, List<Kernel> all, KernelRequest request) {
    Map<String, Long> values = new TreeMap<>(request.values());
    values
        .keySet()
        .removeIf(name -> !hasScalar(k, name) && all.stream().anyMatch(o -> hasScalar(o, name)));
    return values;
  }

  private static boolean hasScalar(Kernel k, String name) {
    return k.scalars().stream().anyMatch(s -> s.name().equals(name));
  }

  /**
   * The grid kernels, those of programs too, for any shape.
   *
   * @param attributes that get another value
   * @throws UserError if there is no grid kernel, or it has no such attribute
   */
  public List<Kernel> gridKernels(Map<String, String> attributes) {
    List<Kernel> kernels =
        Stream.concat(
                content.kernels().stream(),
                content.programs().stream().flatMap(p -> p.kernels().stream()))
            .filter(k -> k.kind() == Kernel.Kind.GRID)
            .map(k -> changed(k, attributes))
            .toList();
    if (kernels.isEmpty()) {
      throw new UserError(
          file
              + ": holds no grid kernel, which is what CUDA is made of; it holds "
              + String.join(", ", names()));
    }
    return kernels;
  }
}
