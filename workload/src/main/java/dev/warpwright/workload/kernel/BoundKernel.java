package dev.warpwright.workload.kernel;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.order.WorkList;
import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A kernel for one shape, and what its host has to put into each buffer. The kernel's attributes
 * say it:
 *
 * <ul>
 *   <li>{@code workload}: see {@link BoundWorkload}.
 *   <li>{@code order}: the {@link BlockOrder} in which the tiles of the result are listed in the
 *       buffer {@code order}, one {@code i32} for each: {@code m << 16 | n}. A tile there is what a
 *       cluster computes: {@code tileM · clusterM} rows of {@code tileN · clusterN} columns ({@code
 *       clusterM} and {@code clusterN} are 1 unless given). If the table's length is a scalar of
 *       its own, it is the number of tiles.
 *   <li>{@code division}: the {@link WorkDivision} of the {@code steps} of each tile among the
 *       clusters of the launch; the table is then that of a {@link WorkList}.
 *   <li>{@code rows}, {@code columns}, {@code secondRows}, {@code secondColumns}: of tiles of two
 *       products in one grid; {@code order} is then a {@link FusedOrder}.
 *   <li>{@code zero}: names of buffers, with commas, that are zero before the first launch and
 *       never again.
 * </ul>
 *
 * <p>What is left is scratch memory, which holds NaN before each verified launch.
 *
 * @param kernel without scalar parameters
 * @param contents for each buffer parameter, in order
 */
public record BoundKernel(Kernel kernel, BoundWorkload workload, Map<Buffer, Content> contents) {
  private static final String ORDER = "order";
  private static final int MAX_TILES = 1 << 16;

  /** What a buffer holds before a launch. */
  public sealed interface Content {
    /** Random numbers. */
    record Random(double deviation) implements Content {}

    /** NaN: the kernel writes it before it reads it. */
    record Poison() implements Content {}

    /** These integers, always. */
    record Table(List<Integer> values) implements Content {
      public Table {
        values = List.copyOf(values);
      }
    }

    /** Zero before the first launch. */
    record Zero() implements Content {}
  }

  public BoundKernel {
    contents = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(contents));
  }

  /**
   * Makes the kernel for one shape.
   *
   * @param values of scalar parameters by name
   * @throws UserError if a scalar is missing or unknown, or an attribute or buffer does not fit
   */
  public static BoundKernel of(Kernel kernel, Map<String, Long> values) {
    if (kernel.kind() != Kernel.Kind.GRID) {
      throw new UserError("kernel " + kernel.name() + " is for the CPU, not for a GPU");
    }
    Kernel shaped = KernelSpecialization.specialize(kernel, values);
    Map<String, Long> derived = new HashMap<>();
    List<String> missing = new ArrayList<>();
    for (ScalarParam scalar : shaped.scalars()) {
      if (isTableLength(shaped, scalar)) {
        derived.put(scalar.name(), 0L);
      } else {
        missing.add(scalar.name());
      }
    }
    if (!missing.isEmpty()) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + ": no value for "
              + String.join(", ", missing)
              + "; give "
              + String.join(" ", missing.stream().map(name -> name + "=...").toList()));
    }
    BoundWorkload workload = BoundWorkload.of(shaped);
    List<Integer> table = hasTable(shaped) ? table(shaped, workload) : List.of();
    if (!derived.isEmpty()) {
      derived.replaceAll((name, none) -> (long) table.size());
      shaped = KernelSpecialization.specialize(shaped, derived);
      workload = BoundWorkload.of(shaped);
    }
    return new BoundKernel(shaped, workload, contents(shaped, workload, table));
  }

  /**
   * What the buffers of a kernel hold that does not say what it computes: counters, and the tiles
   * of two products in one grid. Nothing is known of the others.
   *
   * @throws UserError if an attribute or buffer does not fit
   */
  public static Map<Buffer, Content> known(Kernel kernel) {
    List<String> zero = names(kernel, "zero");
    checkNames(kernel, zero);
    Map<Buffer, Content> contents = new LinkedHashMap<>();
    for (Buffer buffer : kernel.buffers()) {
      if (zero.contains(buffer.name())) {
        contents.put(buffer, new Content.Zero());
      } else if (buffer.name().equals(ORDER) && FusedOrder.isIn(kernel.attrs())) {
        contents.put(buffer, checkedTable(kernel, buffer, FusedOrder.table(kernel.attrs())));
      }
    }
    return contents;
  }

  private static boolean hasTable(Kernel kernel) {
    return kernel.buffers().stream().anyMatch(buffer -> buffer.name().equals(ORDER));
  }

  /** Where both grids take turns, a tile that waits for all of the first could wait for ever. */
  private static void checkWaits(Kernel kernel, String order) {
    if (kernel.attrs().has(WaitPolicy.WAIT)) {
      // The table is held against what it says.
      return;
    }
    long rows = FusedOrder.Extents.of(kernel.attrs()).rows();
    String counters = kernel.attrs().getString("zero");
    boolean byRows =
        kernel.buffers().stream()
            .filter(buffer -> buffer.name().equals(counters))
            .anyMatch(buffer -> buffer.hasConstantShape() && buffer.extent(0) == 2 + rows);
    if (order.startsWith(FusedOrder.EXPLICIT) && !byRows) {
      throw new UserError(
          "kernel " + kernel.name() + ": its tiles do not wait for rows, so no order is listed");
    }
  }

  private static boolean isTableLength(Kernel kernel, ScalarParam scalar) {
    return kernel.buffers().stream()
        .anyMatch(b -> b.name().equals(ORDER) && b.shape().equals(List.of((Expr) scalar.var())));
  }

  private static List<Integer> table(Kernel kernel, BoundWorkload workload) {
    String text = kernel.attrs().getString(ORDER);
    if (text == null) {
      throw new UserError(
          "kernel " + kernel.name() + " has a buffer order; add an attribute, as order = \"row\"");
    }
    if (FusedOrder.isIn(kernel.attrs())) {
      checkWaits(kernel, text);
      return FusedOrder.table(kernel.attrs());
    }
    if (!(workload instanceof BoundWorkload.Gemm gemm)) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + ": an order table lists the tiles of one GEMM, not of "
              + workload.kind());
    }
    int rows = Math.toIntExact(gemm.batch().count() * tiles(kernel, gemm.m(), "M"));
    int columns = tiles(kernel, gemm.workload().resultColumns(), "N");
    BlockOrder order = BlockOrder.parse(text);
    String division = kernel.attrs().getString("division");
    if (division != null) {
      return divided(kernel, WorkDivision.parse(division), order, rows, columns);
    }
    return order.tiles(rows, columns).stream().map(tile -> tile.m() << 16 | tile.n()).toList();
  }

  private static List<Integer> divided(
      Kernel kernel, WorkDivision division, BlockOrder order, int rows, int columns) {
    long steps = kernel.attrs().getLong("steps", 0);
    long blocks = kernel.extent(ThreadAxis.BLOCK_X) instanceof Expr.IntImm imm ? imm.value() : 0;
    long workers = blocks / Math.max(1, kernel.attrs().getLong("cluster", 1));
    if (steps < 1 || workers < 1) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + ": divided work needs an attribute steps and a known number of blocks");
    }
    return WorkList.of(
            division, order, rows, columns, Math.toIntExact(steps), Math.toIntExact(workers))
        .table();
  }

  /** Tiles of clusters along a dimension. */
  private static int tiles(Kernel kernel, long extent, String dimension) {
    long tile = kernel.attrs().getLong("tile" + dimension, 0);
    long cluster = kernel.attrs().getLong("cluster" + dimension, 1);
    if (tile < 1 || cluster < 1) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + ": an order table needs positive attributes tile"
              + dimension
              + " and cluster"
              + dimension);
    }
    long tiles = Math.ceilDiv(extent, Math.multiplyExact(tile, cluster));
    if (tiles >= MAX_TILES) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + ": "
              + tiles
              + " tiles along "
              + dimension
              + " do not fit into 16 bits of an order table");
    }
    return (int) tiles;
  }

  private static Map<Buffer, Content> contents(
      Kernel kernel, BoundWorkload workload, List<Integer> table) {
    List<String> zero = names(kernel, "zero");
    Map<Buffer, Content> contents = new LinkedHashMap<>();
    for (Buffer buffer : kernel.buffers()) {
      if (workload.inputs().contains(buffer)) {
        contents.put(buffer, new Content.Random(workload.deviation(buffer)));
      } else if (workload instanceof BoundWorkload.Gemm gemm && buffer.equals(gemm.group())) {
        contents.put(buffer, new Content.Table(gemm.groups()));
      } else if (zero.contains(buffer.name())) {
        contents.put(buffer, new Content.Zero());
      } else if (buffer.name().equals(ORDER)) {
        contents.put(buffer, checkedTable(kernel, buffer, table));
      } else {
        contents.put(buffer, new Content.Poison());
      }
    }
    checkNames(kernel, zero);
    return contents;
  }

  private static void checkNames(Kernel kernel, List<String> zero) {
    for (String name : zero) {
      if (kernel.buffers().stream().noneMatch(buffer -> buffer.name().equals(name))) {
        throw new UserError("kernel " + kernel.name() + ": zero names no buffer: " + name);
      }
    }
  }

  private static Content checkedTable(Kernel kernel, Buffer buffer, List<Integer> table) {
    boolean fits =
        buffer.dtype() == DType.I32
            && buffer.rank() == 1
            && buffer.layout() == null
            && buffer.hasConstantShape()
            && buffer.extent(0) == table.size();
    if (!fits) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + ": the order has "
              + table.size()
              + " tiles, its buffer must be i32["
              + table.size()
              + "], not "
              + buffer.dtype()
              + buffer.shape());
    }
    return new Content.Table(table);
  }

  private static List<String> names(Kernel kernel, String attribute) {
    String names = kernel.attrs().getString(attribute);
    return names == null
        ? List.of()
        : Arrays.stream(names.split(",")).map(String::strip).filter(n -> !n.isEmpty()).toList();
  }
}
