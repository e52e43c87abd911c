package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * How a network is carried through the registers of warpgroups.
 *
 * @param consumers warpgroups of a block, each with rows of its own
 * @param resident weights that stay in shared memory
 * @param depth columns of the slices by which the others flow through it
 * @param stages slices that there is space for
 * @param prefetch whether the next rows are read while these are computed
 * @param blocks of the grid
 */
record ChainTiling(
    int consumers, Set<Buffer> resident, long depth, int stages, boolean prefetch, int blocks) {
  private static final long MOST_COLUMNS = 256;

  /** Each has code of its own; of more, code is what a kernel waits for, and compilers too. */
  private static final int MOST_LAYERS = 128;

  /** Of shared memory: barriers, and what alignment may cost. */
  private static final long SLACK = 2048;

  /** 32-bit registers that addresses and what is under way need. */
  private static final int OTHER_REGISTERS = 16;

  /** More where positions in rings are counted, too. */
  private static final int STREAM_REGISTERS = 20;

  /** More where a formula calls functions. */
  private static final int FUNCTION_REGISTERS = 16;

  private static final int MOST_CONSUMERS = 6;
  private static final int CONSUMERS_FOR_MEMORY = 4;
  private static final int MOST_REGISTERS = 240;
  private static final int MOST_STAGES = 8;
  private static final int WARPGROUP = 128;

  ChainTiling {
    resident = Set.copyOf(resident);
  }

  /** Why a network cannot be carried so; empty if nothing is known to be in the way. */
  static String refusal(StageGroup group, GpuTarget target) {
    if (!target.hasHopper()) {
      return target.name() + " has no products with operands in registers of a warpgroup";
    }
    if (group.products().isEmpty()) {
      return "it has no products";
    }
    if (group.products().size() > MOST_LAYERS) {
      return "its "
          + group.products().size()
          + " products are more than the "
          + MOST_LAYERS
          + " that are written one after the other";
    }
    for (Product product : group.products()) {
      DType type = product.weight().dtype();
      if (product.exact() || !product.transposed() || type.bytes() != 2) {
        return product.block() + " is no product of 16-bit operands";
      }
      if (product.n() > MOST_COLUMNS || product.k() > MOST_COLUMNS) {
        return product.block()
            + " is wider than the "
            + MOST_COLUMNS
            + " columns that registers hold";
      }
    }
    if (group.writes().size() != 1 || !(group.stages().getLast() instanceof Store)) {
      return "it has several results";
    }
    for (Stage stage : group.stages()) {
      if (stage instanceof Reduction || stage instanceof Map map && !map.pointwise()) {
        return stage.block() + " needs other columns than its own";
      }
    }
    return "";
  }

  /**
   * What to try, the presumably fastest first: as many warpgroups as registers allow, and fewer. A
   * network that waits for memory does so best with four, each of which has its next rows under way
   * (docs/benchmarks/2026-11-23-networks.md).
   *
   * @param blocks of the grid
   * @param memory whether its rows take longer to move than to compute
   */
  static List<ChainTiling> candidates(
      StageGroup group, GpuTarget target, int blocks, boolean memory) {
    List<Product> products = group.products();
    boolean streams = weights(products) > target.sharedPerBlock() - SLACK;
    long most = 0;
    long first = 0;
    for (Product product : products) {
      most = Math.max(most, product.n() / 2 + product.k() / 4 + OTHER_REGISTERS);
    }
    for (Stage stage : group.stages()) {
      if (stage instanceof Load load) {
        first += load.to().extent(1) / 4;
      } else if (stage instanceof Map map) {
        most = Math.max(most, registers(group, map));
      }
    }
    List<ChainTiling> candidates = new ArrayList<>();
    for (boolean prefetch : new boolean[] {true, false}) {
      long each = most + (prefetch ? first : 0) + (streams ? STREAM_REGISTERS : 0);
      for (int consumers = MOST_CONSUMERS; consumers >= 1; consumers--) {
        if (registers(consumers, streams) >= each) {
          candidates.add(withWeights(products, target, consumers, prefetch, blocks));
        }
      }
    }
    // Rows that are read ahead are worth more than another warpgroup, unless a producer runs
    // beside.
    double ahead = streams ? 0.5 : 1.5;
    Comparator<ChainTiling> order =
        memory
            ? Comparator.comparing((ChainTiling t) -> !t.prefetch())
                .thenComparing(t -> Math.abs(t.consumers() - CONSUMERS_FOR_MEMORY))
            : Comparator.comparing(t -> -t.consumers() - (t.prefetch() ? ahead : 0));
    candidates.sort(order);
    return candidates;
  }

  /**
   * Registers of a thread that a formula takes: accumulators or what it makes, and what it reads of
   * rows. Found by what spilled and what did not.
   */
  private static long registers(StageGroup group, Map map) {
    long columns = map.to().extent(1);
    Set<Expr.Load> rows = new HashSet<>();
    boolean[] found = {false, false};
    Walk.statements(
        group.func().body(),
        s -> {
          if (s instanceof Stmt.Block block && block.name().equals(map.block())) {
            Walk.expressions(
                block,
                e -> {
                  if (e instanceof Expr.Load load) {
                    boolean global = load.buffer().scope() == Scope.GLOBAL;
                    boolean isRow = group.func().buffers().contains(load.buffer());
                    if (global && isRow && load.buffer().hasConstantShape()) {
                      rows.add(load);
                    } else if (load.buffer().dtype() == DType.F32 && !isRow) {
                      found[0] = true;
                    }
                  } else if (e instanceof Expr.Call call && call.op() != MathOp.FMA) {
                    found[1] = true;
                  }
                });
          }
        });
    long others = rows.isEmpty() ? OTHER_REGISTERS : OTHER_REGISTERS + 4 + columns / 16;
    return (found[0] ? columns / 2 : columns / 4)
        + rows.size() * columns * 3 / 8
        + others
        + (found[1] ? FUNCTION_REGISTERS : 0);
  }

  /**
   * Registers of a thread that computes.
   *
   * @param streams whether a warpgroup more copies, and gives most of its registers away
   */
  private static long registers(int consumers, boolean streams) {
    int groups = consumers + (streams ? 1 : 0);
    long entry = Math.min(256, GpuTarget.REGISTERS_PER_SM / WARPGROUP / groups / 8 * 8);
    return streams ? Math.min(MOST_REGISTERS, (entry * groups - 24) / consumers / 8 * 8) : entry;
  }

  private static long weights(List<Product> products) {
    return products.stream().mapToLong(ChainTiling::bytes).sum();
  }

  /**
   * Which weights stay: all, or as many as leave space for the others' slices. Those that do not
   * are spread evenly over the network, so that their copies are too.
   */
  private static ChainTiling withWeights(
      List<Product> products, GpuTarget target, int consumers, boolean prefetch, int blocks) {
    long space = target.sharedPerBlock() - SLACK;
    Set<Buffer> resident = new HashSet<>();
    products.forEach(product -> resident.add(product.weight()));
    if (weights(products) <= space) {
      return new ChainTiling(consumers, resident, 0, 1, prefetch, blocks);
    }
    int layers = products.size();
    for (int streamed = 1; ; streamed++) {
      List<Product> flow = new ArrayList<>();
      for (int j = 1; j <= streamed; j++) {
        flow.add(products.get(j * layers / streamed - 1));
      }
      long depth = 64;
      long columns = 0;
      long layer = 0;
      for (Product product : flow) {
        while (product.k() % depth != 0) {
          depth /= 2;
        }
        columns = Math.max(columns, product.n());
        layer = Math.max(layer, bytes(product));
      }
      long stage = columns * depth * flow.getFirst().weight().dtype().bytes();
      long left = space - (weights(products) - weights(flow));
      if (streamed == layers || left >= Math.max(2 * stage, Math.min(layer, 64 << 10))) {
        flow.forEach(product -> resident.remove(product.weight()));
        int stages = (int) Math.clamp(left / stage, 1, MOST_STAGES);
        return new ChainTiling(consumers, resident, depth, stages, prefetch, blocks);
      }
    }
  }

  /** The choice in words, for example {@code consumers=6 prefetch=1}. */
  String text() {
    return String.format(
        Locale.ROOT, "consumers=%d prefetch=%d stages=%d", consumers, prefetch ? 1 : 0, stages);
  }

  private static long bytes(Product product) {
    return product.n() * product.k() * product.weight().dtype().bytes();
  }

  /** Columns of a slice of the weight. */
  long depth(Product product) {
    return resident.contains(product.weight()) ? product.k() : depth;
  }

  boolean isStreamed(Product product) {
    return !resident.contains(product.weight());
  }

  int stages(Product product) {
    return isStreamed(product) ? stages : 1;
  }

  /** Bytes of weights that stay. */
  long residentBytes(StageGroup group) {
    return group.products().stream()
        .filter(p -> !isStreamed(p))
        .mapToLong(ChainTiling::bytes)
        .sum();
  }

  /** The instruction of a product. */
  String instruction(Product product) {
    String type = product.weight().dtype() == DType.F16 ? "f16" : "bf16";
    return "wgmma.m64n" + product.n() + "k16.f32." + type + ".ra";
  }
}
