package dev.warpwright.networks.stages;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Consecutive stages of a network that become one kernel, as a function of their own.
 *
 * @param func parameters: what the stages read from outside, what others read of them, then the row
 *     count
 * @param stages in order
 * @param writes the parameters that the function writes
 */
public record StageGroup(PrimFunc func, List<Stage> stages, List<Buffer> writes) {
  public StageGroup {
    stages = List.copyOf(stages);
    writes = List.copyOf(writes);
  }

  /** The matrix products, in order. */
  public List<Matmul> products() {
    return stages.stream().filter(Matmul.class::isInstance).map(Matmul.class::cast).toList();
  }

  /** Columns of the accumulators that are alive at once: those that one formula reads. */
  public long liveColumns() {
    long most = products().stream().mapToLong(Matmul::n).max().orElse(0);
    StageReads all = StageReads.of(func);
    Map<Buffer, Long> columns = new HashMap<>();
    products().forEach(product -> columns.merge(product.accumulator(), product.n(), Long::sum));
    for (Stage stage : stages) {
      long live = 0;
      for (Buffer read : all.by(stage.block())) {
        live += columns.getOrDefault(read, 0L);
      }
      most = Math.max(most, live);
    }
    return most;
  }

  /** Whether a formula reads rows from memory, as a layer of few inputs does. */
  public boolean readsRowsDirectly() {
    StageReads reads = StageReads.of(func);
    return stages.stream()
        .filter(NetworkFunction.Map.class::isInstance)
        .flatMap(stage -> reads.by(stage.block()).stream())
        .anyMatch(
            buffer ->
                func.buffers().contains(buffer)
                    && buffer.rank() == 2
                    && !(buffer.shape().getFirst() instanceof Expr.IntImm));
  }

  /** Whether rows are reduced, as norms do. */
  public boolean reduces() {
    return stages.stream().anyMatch(Reduction.class::isInstance);
  }

  /**
   * Columns in f32 that are there beside each stage, as rows that were reduced and are added again
   * later; not what the stage itself makes of them.
   */
  public List<Long> columnsBeside() {
    long[] beside = new long[stages.size()];
    if (reduces()) {
      StageReads reads = StageReads.of(func);
      for (int i = 0; i < beside.length; i++) {
        if (stages.get(i) instanceof NetworkFunction.Map map && map.to().dtype() == DType.F32) {
          int last = lastReader(map.to(), reads);
          for (int j = i + 1; j <= last; j++) {
            beside[j] +=
                isBeside(map.to(), reads.by(stages.get(j).block())) ? map.to().extent(1) : 0;
          }
        }
      }
    }
    return Arrays.stream(beside).boxed().toList();
  }

  private int lastReader(Buffer buffer, StageReads reads) {
    int last = stages.size() - 1;
    while (!reads.by(stages.get(last).block()).contains(buffer)) {
      last--;
    }
    return last;
  }

  /** Whether rows are there besides what a stage needs that reads these. */
  private boolean isBeside(Buffer rows, Set<Buffer> read) {
    return !read.contains(rows)
        || products().stream().anyMatch(product -> read.contains(product.accumulator()));
  }

  /** Shows the expressions of a stage, but for what is computed once for all of a row's columns. */
  void expressions(Stage stage, Consumer<Expr> visitor) {
    boolean reduces = reduces();
    List<Buffer> params = func.buffers();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Block block && block.name().equals(stage.block())) {
            Walk.expressions(
                block,
                e -> {
                  if (!reduces || !isOfRow(e, params)) {
                    visitor.accept(e);
                  }
                });
          }
        });
  }

  /** Whether an expression is made of what rows were reduced to, and of nothing else. */
  private static boolean isOfRow(Expr e, List<Buffer> params) {
    boolean[] found = {false, true};
    Walk.expressions(
        e,
        inner -> {
          if (inner instanceof Expr.Load(Buffer buffer, List<Expr> _)) {
            boolean reduced = buffer.rank() == 1 && !params.contains(buffer);
            found[0] |= reduced;
            found[1] &= reduced;
          }
        });
    return found[0] && found[1];
  }

  /** Columns of the rows that a reduction reads. */
  public long columns(Reduction reduction) {
    long[] columns = {1};
    expressions(
        reduction,
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices) && indices.size() == 2) {
            columns[0] = Math.max(columns[0], buffer.extent(1));
          }
        });
    return columns[0];
  }

  /**
   * Cuts a network's function into one function for each group.
   *
   * @param partition every stage once, in order
   */
  public static List<StageGroup> split(NetworkFunction network, List<List<Stage>> partition) {
    Map<String, Stmt> nests = new HashMap<>();
    for (Stmt nest : nests(network.func().body())) {
      nests.put(blockName(nest), nest);
    }
    Map<Buffer, Integer> readers = readers(network.stages(), nests);
    List<StageGroup> groups = new ArrayList<>();
    for (List<Stage> stages : partition) {
      String name = "k" + groups.size();
      groups.add(group(network, stages, nests, readers, name, partition.size() == 1));
    }
    return groups;
  }

  private static StageGroup group(
      NetworkFunction network,
      List<Stage> stages,
      Map<String, Stmt> nests,
      Map<Buffer, Integer> readers,
      String name,
      boolean only) {
    List<Stmt> body = stages.stream().map(stage -> nest(nests, stage)).toList();
    Set<Buffer> written = new LinkedHashSet<>();
    Set<Buffer> read = new LinkedHashSet<>();
    for (Stmt nest : body) {
      touched(nest, read, written);
    }
    Map<Buffer, Integer> readersInside = readers(stages, nests);
    List<Param> params = new ArrayList<>();
    List<Buffer> writes = new ArrayList<>();
    List<Buffer> internal = new ArrayList<>();
    for (Buffer buffer : read) {
      if (!written.contains(buffer)) {
        params.add(buffer);
      }
    }
    for (Buffer buffer : written) {
      int elsewhere = readers.getOrDefault(buffer, 0) - readersInside.getOrDefault(buffer, 0);
      if (elsewhere > 0 || network.outputs().contains(buffer)) {
        params.add(buffer);
        writes.add(buffer);
      } else {
        internal.add(buffer);
      }
    }
    params.add(network.rows());
    PrimFunc func =
        new PrimFunc(
            only ? network.func().name() : network.func().name() + "_" + name,
            params,
            Stmts.alloc(internal, Stmts.seq(body)),
            Attrs.NONE);
    return new StageGroup(func, stages, writes);
  }

  /** How many of the stages read each buffer. */
  private static Map<Buffer, Integer> readers(List<Stage> stages, Map<String, Stmt> nests) {
    Map<Buffer, Integer> readers = new HashMap<>();
    for (Stage stage : stages) {
      Set<Buffer> read = new HashSet<>();
      touched(nest(nests, stage), read, new HashSet<>());
      read.forEach(buffer -> readers.merge(buffer, 1, Integer::sum));
    }
    return readers;
  }

  private static Stmt nest(Map<String, Stmt> nests, Stage stage) {
    Stmt nest = nests.get(stage.block());
    if (nest == null) {
      throw new IllegalStateException("the network's function has no block " + stage.block());
    }
    return nest;
  }

  private static void touched(Stmt nest, Set<Buffer> read, Set<Buffer> written) {
    Set<Buffer> own = new HashSet<>();
    Walk.statements(
        nest,
        s -> {
          if (s instanceof Stmt.Store store) {
            own.add(store.buffer());
          }
        });
    written.addAll(own);
    Walk.expressions(
        nest,
        e -> {
          if (e instanceof Expr.Load load && !own.contains(load.buffer())) {
            read.add(load.buffer());
          }
        });
  }

  private static List<Stmt> nests(Stmt body) {
    return switch (body) {
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> nests(inner);
      case Stmt.Seq(List<Stmt> stmts) -> stmts;
      default -> List.of(body);
    };
  }

  private static String blockName(Stmt nest) {
    String[] name = new String[1];
    Walk.statements(
        nest,
        s -> {
          if (s instanceof Stmt.Block block) {
            name[0] = block.name();
          }
        });
    if (name[0] == null) {
      throw new IllegalStateException("a loop nest of the network's function has no block");
    }
    return name[0];
  }
}
