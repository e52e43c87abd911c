package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.GridOptions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Small shapes on which a kernel's mistakes show, chosen from how the kernel divides its scalars
 * ({@link ScalarUnits}) and from its attributes {@code tileM}, {@code tileN}, {@code clusterM} and
 * {@code clusterN}. No shape alone does that, so there are several:
 *
 * <ol>
 *   <li>even: whole tiles, one step that is no whole one;
 *   <li>less: a part of one tile each way, rings of stages come round once, exactly;
 *   <li>long: two tiles each way and a part of a third step, rings come round twice;
 *   <li>many: if a result is summed over in turn, so much of it that rings come round in the part
 *       of each block;
 *   <li>turned: if the grid is of a fixed size and works off a table of tiles, more tiles than
 *       clusters, of a few rows and a step more than rings have stages, so that each tile begins at
 *       another stage.
 * </ol>
 *
 * <p>The cheapest come first, for most mistakes show there.
 *
 * @param scalars values by name
 * @param orders in which orders of blocks and warps, for some shapes take long
 */
record SmallShapes(Map<String, Long> scalars, Orders orders) {
  /** Some of the usual orders, always the first of them. */
  enum Orders {
    /** All; where buffers stay between launches, two and one in which all blocks run at once. */
    ALL,
    /** The first, and the last, which is at random. */
    TWO,
    /** The first, and where buffers stay between launches one in which all blocks run at once. */
    AT_ONCE,
    ONE;

    /** Those of the usual ones. */
    List<GridOptions> of(List<GridOptions> usual) {
      return switch (this) {
        case ALL -> usual;
        case TWO -> usual.size() < 2 ? usual : List.of(usual.getFirst(), usual.getLast());
        case AT_ONCE, ONE -> usual.subList(0, 1);
      };
    }
  }

  /** Bytes that rows of TMA copies and vectors are multiples of. */
  private static final long ALIGNED = 16;

  private static final String ORDER = "order";

  /** What workloads call their results. */
  private static final Set<String> RESULTS = Set.of("C", "H", "Y");

  SmallShapes {
    scalars = Map.copyOf(scalars);
  }

  /**
   * The shapes of a kernel with a workload.
   *
   * @param options whose scalars, and rows if there is a scalar M, stay as they are in all shapes
   */
  static List<SmallShapes> of(Kernel kernel, CheckOptions options) {
    return choice(kernel, options).shapes();
  }

  private static Choice choice(Kernel kernel, CheckOptions options) {
    Map<String, Long> given = new LinkedHashMap<>(options.scalars());
    if (kernel.scalars().stream().anyMatch(s -> s.name().equals("M"))) {
      options.rows().ifPresent(rows -> given.putIfAbsent("M", (long) rows));
    }
    return new Choice(kernel, given);
  }

  /** The long one, where one has to do. */
  static SmallShapes usual(Kernel kernel, CheckOptions options) {
    return choice(kernel, options).shape(Form.LONG);
  }

  /** Which shape. */
  private enum Form {
    EVEN,
    LESS,
    LONG,
    MANY,
    TURNED
  }

  /** Chooses for one kernel. */
  private static final class Choice {
    private final Kernel kernel;
    private final Map<String, Long> given;
    private final ScalarUnits units;

    Choice(Kernel kernel, Map<String, Long> given) {
      this.kernel = kernel;
      this.given = given;
      this.units = ScalarUnits.of(kernel);
    }

    List<SmallShapes> shapes() {
      // Of equal shapes the first, which runs in the most orders.
      Map<Map<String, Long>, SmallShapes> shapes = new LinkedHashMap<>();
      for (Form form : Form.values()) {
        SmallShapes shape = shape(form);
        if (form == Form.TURNED && !tabled()) {
          continue;
        }
        if (form == Form.MANY && (tabled() || !hasLongTurns())) {
          continue;
        }
        if (form != Form.TURNED) {
          shapes.putIfAbsent(shape.scalars, shape);
        } else {
          Map<String, Long> values = new LinkedHashMap<>(shape.scalars);
          if (many(values)) {
            shapes.putIfAbsent(values, new SmallShapes(values, Orders.ONE));
          }
        }
      }
      return List.copyOf(shapes.values());
    }

    SmallShapes shape(Form form) {
      Map<String, Long> values = new LinkedHashMap<>(given);
      for (ScalarParam scalar : kernel.scalars()) {
        if (!isTableLength(scalar)) {
          values.putIfAbsent(
              scalar.name(), Math.clamp(value(scalar, form), scalar.min(), scalar.max()));
        }
      }
      return new SmallShapes(values, orders(form));
    }

    private Orders orders(Form form) {
      return switch (form) {
        case EVEN -> Orders.ALL;
        case LESS -> Orders.TWO;
        // Parts wait for each other only where blocks run at the same time.
        case MANY -> Orders.AT_ONCE;
        case LONG, TURNED -> Orders.ONE;
      };
    }

    private long value(ScalarParam scalar, Form form) {
      long least = Math.max(units.least(scalar), tile(scalar));
      long greatest = Math.max(units.greatest(scalar), least);
      if (least == 1) {
        return whole(scalar, form);
      }
      boolean sums = isOfSums(scalar);
      long ragged = ragged(scalar, Math.max(1, least / 8));
      // So that a kernel which divides by other units than it says does not meet them by chance.
      long rest = Math.max(0, greatest / least / 2 - 1) * least + ragged;
      return switch (form) {
        case LONG ->
            sums
                ? 2 * greatest + ragged
                : (hasLongTurns(scalar) ? greatest : greatest > least ? 2 * greatest : least)
                    + rest;
        case EVEN -> sums ? ragged(scalar, least * 5 / 8) : greatest;
        case LESS ->
            sums
                ? greatest
                // More in the last part of long sums than in the others.
                : hasLongTurns(scalar) ? greatest + 2 * least + ragged : greatest - ragged;
        // More turns than elsewhere.
        case MANY -> sums ? ragged : units.most(scalar) + greatest + ragged;
        case TURNED -> sums ? greatest + ragged : ragged;
      };
    }

    /** Of a scalar that nothing divides: as much as there may be, and less. */
    private long whole(ScalarParam scalar, Form form) {
      long most = Math.min(scalar.max(), 64);
      return switch (form) {
        case LONG, MANY, TURNED -> most - ragged(scalar, Math.max(1, most / 5));
        case EVEN -> most;
        case LESS -> ragged(scalar, 1);
      };
    }

    /** About so much, as far as the kernel's vectors and TMA copies allow. */
    private long ragged(ScalarParam scalar, long about) {
      long multiple = 1;
      for (Buffer buffer : kernel.buffers()) {
        if (buffer.rank() > 1 && buffer.shape().getLast() == scalar.var()) {
          multiple = Math.max(multiple, ALIGNED / buffer.dtype().bytes());
        }
      }
      return multiple == 1 ? about | 1 : Math.ceilDiv(about, multiple) * multiple;
    }

    /** What a cluster computes along this scalar, by the attributes; 1 if they do not say. */
    private long tile(ScalarParam scalar) {
      return Math.max(1, kernel.attrs().getLong("tile" + scalar.name(), 1))
          * Math.max(1, kernel.attrs().getLong("cluster" + scalar.name(), 1));
    }

    /** Whether this is no extent of a result. */
    private boolean isOfSums(ScalarParam scalar) {
      return kernel.buffers().stream()
          .filter(buffer -> RESULTS.contains(buffer.name()))
          .noneMatch(
              buffer ->
                  buffer.shape().stream()
                      .anyMatch(
                          extent -> {
                            boolean[] has = {false};
                            Walk.expressions(extent, e -> has[0] |= e == scalar.var());
                            return has[0];
                          }));
    }

    private boolean isTableLength(ScalarParam scalar) {
      return kernel.buffers().stream()
          .anyMatch(b -> b.name().equals(ORDER) && b.shape().equals(List.of((Expr) scalar.var())));
    }

    /**
     * Makes the grid's clusters take more than a tile each.
     *
     * @return whether that is a shape of its own
     */
    private boolean many(Map<String, Long> values) {
      Long m = values.get("M");
      Long n = values.get("N");
      if (m == null
          || n == null
          || !(kernel.extent(ThreadAxis.BLOCK_X) instanceof Expr.IntImm blocks)) {
        return false;
      }
      long clusters = blocks.value() / Math.max(1, kernel.attrs().getLong("cluster", 1));
      ScalarParam rows = scalar("M");
      ScalarParam columns = scalar("N");
      long wanted = Math.ceilDiv(clusters + 2, Math.ceilDiv(m, tile(rows)));
      if (!given.containsKey("N") && tile(columns) > 1) {
        values.put("N", wanted * tile(columns) - ragged(columns, 1));
      }
      long tiles =
          Math.ceilDiv(m, tile(rows)) * Math.ceilDiv(values.getOrDefault("N", n), tile(columns));
      return tiles > clusters && values.getOrDefault("N", n) <= columns.max();
    }

    private boolean tabled() {
      return kernel.scalars().stream().anyMatch(this::isTableLength);
    }

    /** Whether some results are long sums themselves, of which turns of a ring are many tiles. */
    private boolean hasLongTurns() {
      return kernel.scalars().stream().anyMatch(this::hasLongTurns);
    }

    private boolean hasLongTurns(ScalarParam scalar) {
      return !isOfSums(scalar) && units.most(scalar) > units.greatest(scalar);
    }

    private ScalarParam scalar(String name) {
      return kernel.scalars().stream()
          .filter(s -> s.name().equals(name))
          .findFirst()
          .orElseThrow(() -> new UserError(name + ": no scalar of kernel " + kernel.name()));
    }
  }
}
