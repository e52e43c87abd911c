package dev.warpwright.cuda;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Names for the sizes of a kernel that is printed to be read: how far rows of a matrix are apart,
 * how large the tiles are that an index counts, where arrays begin in shared memory. A name stands
 * for a number where the number was, in the same expression, so that a compiler sees no difference.
 */
final class Constants {
  /** A constant; the meaning is a comment. */
  private record Definition(String name, long value, String meaning) {}

  private final boolean named;

  /** The strides of a buffer that are more than 1, the largest first. */
  private final Map<Buffer, List<Definition>> strides = new HashMap<>();

  /** What a step of an index adds to the coordinates in global memory in which it occurs. */
  private final Map<Var, Definition> tiles = new HashMap<>();

  private final Map<String, Definition> defined = new HashMap<>();
  private final Set<Definition> used = new LinkedHashSet<>();

  /** The buffer whose offset is printed. */
  private @Nullable Buffer within;

  private Constants(boolean named) {
    this.named = named;
  }

  /** None: numbers are printed as such. */
  static Constants none() {
    return new Constants(false);
  }

  static Constants of(Kernel kernel) {
    Constants constants = new Constants(true);
    constants.findTiles(kernel);
    kernel.buffers().forEach(constants::findStrides);
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Alloc alloc) {
            constants.findStrides(alloc.buffer());
          }
        });
    return constants;
  }

  boolean areNamed() {
    return named;
  }

  /** Starts an offset in a buffer, or goes back to the one outside (null); gives the last one. */
  @Nullable Buffer enter(@Nullable Buffer buffer) {
    Buffer outer = within;
    within = buffer;
    return outer;
  }

  // --- what is named

  /** A constant of this name, or of one like it if there is another one. */
  private Definition define(String wish, long value, String meaning) {
    String name = wish;
    for (int i = 2; ; i++) {
      Definition definition = new Definition(name, value, meaning);
      Definition there = defined.putIfAbsent(name, definition);
      if (there == null || there.equals(definition)) {
        return definition;
      }
      name = wish + "_" + i;
    }
  }

  /** {@code A_shared} as {@code AShared}. */
  private static String camel(String name) {
    StringBuilder camel = new StringBuilder();
    for (String word : Names.identifier(name).split("_")) {
      camel.append(word.substring(0, 1).toUpperCase(Locale.ROOT)).append(word.substring(1));
    }
    return camel.toString();
  }

  private void findStrides(Buffer buffer) {
    if (buffer.scope() == Scope.LOCAL || buffer.rank() < 2 || strides.containsKey(buffer)) {
      return;
    }
    List<Definition> found = new ArrayList<>();
    long dense = 1;
    for (int d = buffer.rank() - 1; d >= 0; d--) {
      long stride = dense;
      if (buffer.layout() != null) {
        List<Mode> modes = buffer.layout().dimensions().get(d);
        if (modes.size() != 1) {
          return;
        }
        stride = modes.getFirst().stride();
      } else if (d > 0) {
        if (!(buffer.shape().get(d) instanceof Expr.IntImm extent)) {
          return;
        }
        dense *= extent.value();
      }
      boolean matters = !(buffer.shape().get(d) instanceof Expr.IntImm one) || one.value() > 1;
      long value = stride;
      if (value > 1 && matters && found.stream().noneMatch(f -> f.value() == value)) {
        found.add(stride(buffer, d, value));
      }
    }
    found.sort(Comparator.comparingLong(Definition::value).reversed());
    strides.put(buffer, found);
  }

  private Definition stride(Buffer buffer, int d, long value) {
    String array = Names.identifier(buffer.name());
    int last = buffer.rank() - 1;
    String kind = d == last ? "ColumnStride" : d == last - 1 ? "Stride" : "Stride" + d;
    String from =
        d == last ? "column" : d == last - 1 ? "row" : d == last - 2 ? "matrix" : "index " + d;
    return define(
        "k" + camel(buffer.name()) + kind,
        value,
        "elements from one " + from + " of " + array + " to the next");
  }

  /** Indices that are the same for all threads of a block and count tiles of one size. */
  private void findTiles(Kernel kernel) {
    Map<Var, String> uniform = new LinkedHashMap<>();
    Set<Var> ofThreads = new HashSet<>();
    for (ThreadBinding binding : kernel.bindings()) {
      if (binding.axis().isBlock()) {
        String axis = binding.axis().text();
        uniform.put(binding.var(), axis.substring(axis.length() - 1).toUpperCase(Locale.ROOT));
      } else {
        ofThreads.add(binding.var());
      }
    }
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.For loop && loop.kind() == ForKind.SERIAL) {
            uniform.put(loop.var(), camel(loop.var().name().replaceAll("(_o)+$", "")));
          } else if (s instanceof Stmt.Let let) {
            boolean[] apart = {false};
            Walk.expressions(
                let.value(), e -> apart[0] |= e instanceof Var v && ofThreads.contains(v));
            if (apart[0]) {
              ofThreads.add(let.var());
            } else if (let.value().type().equals(Type.I32)) {
              uniform.put(let.var(), camel(let.var().name().replaceAll("^tile_", "")));
            }
          }
        });
    Map<Var, Set<Long>> steps = new HashMap<>();
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Store store) {
            coordinates(store.buffer(), store.indices(), steps);
          }
        });
    Walk.expressions(
        kernel.body(),
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)) {
            coordinates(buffer, indices, steps);
          } else if (e instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices)) {
            coordinates(buffer, indices, steps);
          }
        });
    uniform.forEach(
        (v, name) -> {
          Set<Long> sizes = steps.getOrDefault(v, Set.of());
          if (sizes.size() == 1 && sizes.iterator().next() > 1) {
            tiles.put(
                v,
                define(
                    "kTile" + name,
                    sizes.iterator().next(),
                    "rows or columns for each step of " + Names.identifier(v.name())));
          }
        });
  }

  private static void coordinates(Buffer buffer, List<Expr> indices, Map<Var, Set<Long>> steps) {
    if (buffer.scope() != Scope.GLOBAL || buffer.rank() < 2) {
      return;
    }
    for (Expr index : indices) {
      Expr first = index instanceof Expr.Ramp ramp ? ramp.base() : index;
      if (first.type().equals(Type.I32)) {
        LinearForm.of(first)
            .terms()
            .forEach(
                (atom, factor) -> {
                  if (atom instanceof Var v) {
                    steps.computeIfAbsent(v, x -> new HashSet<>()).add(factor);
                  }
                });
      }
    }
  }

  // --- what is printed

  /** What an expression is multiplied by, or null for the number as it is. */
  @Nullable Text factor(Expr of, Expr by) {
    if (!named || !(by instanceof Expr.IntImm imm)) {
      return null;
    }
    Definition tile = of instanceof Var v ? tiles.get(v) : null;
    List<String> product = new ArrayList<>();
    long rest = imm.value();
    if (tile != null && rest % tile.value() == 0 && (within != null || rest == tile.value())) {
      product.add(named(tile));
      rest /= tile.value();
    }
    rest = divided(rest, product);
    return product.isEmpty() ? null : text(rest, product, Text.ADDITIVE);
  }

  /** What is added to an offset, or null for the number as it is. */
  @Nullable Text addend(Expr e) {
    if (!named || !(e instanceof Expr.IntImm imm)) {
      return null;
    }
    List<String> product = new ArrayList<>();
    long rest = divided(imm.value(), product);
    return product.isEmpty() ? null : text(rest, product, Text.MULTIPLICATIVE);
  }

  /** Divides by the largest stride of the buffer that goes into a number. */
  private long divided(long value, List<String> product) {
    for (Definition stride : strides.getOrDefault(within, List.of())) {
      if (value >= stride.value() && value % stride.value() == 0) {
        product.add(named(stride));
        return value / stride.value();
      }
    }
    return value;
  }

  /** A product of constants alone, which C++ computes before anything else. */
  private static Text text(long rest, List<String> names, int precedence) {
    if (rest != 1) {
      names.addFirst(String.valueOf(rest));
    }
    String joined = String.join(" * ", names);
    return names.size() == 1 ? Text.atom(joined) : new Text(joined, precedence);
  }

  /** Where an array begins in shared memory, in bytes. */
  String begin(Buffer buffer, int offset) {
    return named
        ? named(
            define(
                "k" + camel(buffer.name()) + "Begin",
                offset,
                "bytes of shared memory before " + Names.identifier(buffer.name())))
        : String.valueOf(offset);
  }

  private String named(Definition definition) {
    used.add(definition);
    return definition.name();
  }

  /** The definitions of what was used, a line each. */
  List<String> definitions() {
    return used.stream()
        .sorted(Comparator.comparing(Definition::name))
        .map(
            d ->
                String.format(
                    Locale.ROOT, "constexpr int %s = %d;  // %s", d.name(), d.value(), d.meaning()))
        .toList();
  }
}
