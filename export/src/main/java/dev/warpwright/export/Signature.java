package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.HostText;
import dev.warpwright.export.Exported.State;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.ScalarParam;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the exported launch function takes, in this order: inputs, outputs, the constants as one
 * block of memory, the number of rows, the workspace.
 */
final class Signature {
  /** The block of all constants. */
  static final String CONSTANTS = "constants";

  /** One argument; {@code buffer} is null for the constants and the number of rows. */
  record Argument(String type, String name, @Nullable Buffer buffer) {
    boolean isPointer() {
      return type.endsWith("*");
    }
  }

  /** The workspace of an export for several targets, in one piece. */
  static final String WORKSPACE = "workspace";

  private final Exported exported;
  private final List<Exported> variants;
  private final HostText text;

  Signature(Exported exported) {
    this(List.of(exported));
  }

  /**
   * Of one export, or of the same for several targets: then the workspace is one piece of memory,
   * since each target's is another one.
   */
  Signature(List<Exported> variants) {
    this.exported = variants.getFirst();
    this.variants = List.copyOf(variants);
    List<Param> params = new ArrayList<>();
    exported.program().params().stream().map(ProgramParam::param).forEach(params::add);
    params.addAll(exported.program().workspace());
    Set<String> taken =
        new HashSet<>(Set.of(CONSTANTS, WORKSPACE, "stream", "status", "base", "launch"));
    exported.program().kernels().forEach(kernel -> taken.add(kernel.name()));
    this.text = new HostText(params, taken);
    exported.program().params().stream()
        .filter(param -> param.role() != Role.CONSTANT)
        .map(ProgramParam::param)
        .forEach(this::requireDense);
    exported.state().keySet().forEach(this::requireDense);
  }

  /** The host has no layouts: elements follow each other. Constants are bytes to it, packed. */
  private void requireDense(Param param) {
    if (param instanceof Buffer buffer && buffer.layout() != null) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: %s has a layout, and only what lies densely can be exported",
              exported.program().name(),
              buffer.name()));
    }
  }

  /** Whether it is for several targets. */
  boolean isFat() {
    return variants.size() > 1;
  }

  /** What it is of, a target each. */
  List<Exported> variants() {
    return variants;
  }

  HostText text() {
    return text;
  }

  /** The name of the function. */
  String function() {
    return "launch_" + HostText.identifier(exported.program().name());
  }

  List<Argument> arguments() {
    List<Argument> arguments = new ArrayList<>();
    exported.buffers(Role.INPUT).forEach(b -> arguments.add(pointer("const ", b)));
    exported.buffers(Role.OUTPUT).forEach(b -> arguments.add(pointer("", b)));
    if (!exported.buffers(Role.CONSTANT).isEmpty()) {
      arguments.add(new Argument("const void*", CONSTANTS, null));
    }
    ScalarParam rows = exported.rows();
    if (rows != null) {
      arguments.add(new Argument("int", text.of(rows), null));
    }
    if (isFat()) {
      arguments.add(new Argument("void*", WORKSPACE, null));
      return arguments;
    }
    for (Buffer buffer : exported.program().workspace()) {
      boolean table = exported.state().get(buffer) instanceof State.Table;
      arguments.add(pointer(table ? "const " : "", buffer));
    }
    return arguments;
  }

  private Argument pointer(String qualifier, Buffer buffer) {
    return new Argument(qualifier + HostText.type(buffer.dtype()) + "*", text.of(buffer), buffer);
  }

  /** Number of elements of a buffer, as an expression of the number of rows. */
  String elements(Buffer buffer) {
    if (buffer.hasConstantShape()) {
      return Long.toString(buffer.storageElements());
    }
    return String.join(
        " * ",
        Stream.concat(Stream.of("std::size_t{1}"), buffer.shape().stream().map(this::extent))
            .toList());
  }

  /** How the elements of a buffer lie, for people: {@code row-major [M, 64]}. */
  String shape(Buffer buffer) {
    String shape =
        buffer.shape().stream().map(text::of).collect(Collectors.joining(", ", "[", "]"));
    return buffer.shape().size() > 1 ? "row-major " + shape : shape;
  }

  private String extent(Expr extent) {
    String printed = text.of(extent);
    return printed.contains(" ") ? "(" + printed + ")" : printed;
  }

  /** The name of a table's constant: {@code kOrder}. */
  String table(Buffer buffer) {
    String name = text.of(buffer);
    return "k" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
  }
}
