package dev.warpwright.cli.networks;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.Names;
import dev.warpwright.base.Spelling;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.records.NetworkKey;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Value;
import dev.warpwright.synthetic.RandomDecoderLayer;
import dev.warpwright.synthetic.RandomFfn;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.WorkloadKey;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A whole network to measure, to tune or to explain: {@code mlp}, a fully connected one with random
 * weights, {@code ffn}, a feed-forward block of a transformer with such, {@code layer}, a whole
 * decoder layer in a step of decoding, or a model's file.
 *
 * @param what as it was asked for: {@code mlp}, {@code ffn}, {@code layer} or a file
 * @param words the arguments that make the same network again
 * @param arch the architecture of a file of weights without a graph; null for none
 * @param rows of a launch
 * @param seed of weights, where they are random, and inputs
 * @param merging of the GEMMs of a feed-forward block; null for a kernel each
 */
public record NetworkTask(
    String what,
    List<String> words,
    @Nullable String arch,
    Graph graph,
    Precision precision,
    int rows,
    long seed,
    @Nullable Merging merging) {
  /** How both GEMMs of a feed-forward block share one kernel. */
  public record Merging(WorkOrder order, WaitPolicy waits) {}

  /** One that nothing is said of how its GEMMs share a kernel. */
  public NetworkTask(
      String what,
      List<String> words,
      @Nullable String arch,
      Graph graph,
      Precision precision,
      int rows,
      long seed) {
    this(what, words, arch, graph, precision, rows, seed, null);
  }

  /** The keys of a fully connected network. */
  public static final String MLP_KEYS = "rows, widths, act, bias, dtype, acc, seed";

  /** The keys of a feed-forward block. */
  public static final String FFN_KEYS =
      "M, D (or K), H (or N), gated (or gate), act, bias, dtype, acc, seed, order, wait";

  /** The keys of a decoder layer. */
  public static final String LAYER_KEYS = "rows (or M), HQ, HKV, D, H, S, dtype, acc, seed";

  /** The keys of a model. */
  public static final String MODEL_KEYS = "rows, dtype, acc, seed";

  /** Of fully connected networks with random weights. */
  static final String MLP = "mlp";

  private static final String FFN = "ffn";
  private static final String LAYER = "layer";
  private static final long MOST_ROWS = 1 << 22;
  private static final long MOST_WIDTH = 1 << 20;
  private static final long MOST_FFN = 1 << 16;
  private static final long MOST_LAYERS = 1000;
  private static final long MOST_HEADS = 1024;
  private static final long MOST_HEAD = 256;
  private static final long MOST_KEYS = 1 << 20;
  private static final long DEFAULT_ROWS = 1 << 16;
  private static final long DEFAULT_SEED = 1;

  /** Blocks that a task still has. */
  private static final Map<Block, WeakReference<Graph>> BLOCKS = new HashMap<>();

  private record Block(Record block, DType weights, long seed) {}

  public NetworkTask {
    words = List.copyOf(words);
    for (Value value : values(graph)) {
      if ((long) rows * value.features() > Integer.MAX_VALUE) {
        throw new UserError(
            "rows="
                + rows
                + ": "
                + value.features()
                + " features of each are more elements than 2^31 - 1; give fewer rows");
      }
    }
  }

  /** Whether a task is a network's. */
  public static boolean isNetwork(String what) {
    return !what.equals("gemm");
  }

  /**
   * For what is neither {@code gemm} nor a network of random weights nor attention.
   *
   * @param others that are known to the command, for a misspelt word
   * @throws UserError if it is not the name of a file that is there
   */
  public static void requireFile(String what, Collection<String> others) {
    if (Files.exists(Path.of(what))) {
      return;
    }
    List<String> known = new ArrayList<>(List.of("gemm", MLP, FFN, LAYER, AttentionTask.NAME));
    known.addAll(others);
    // A word that was misspelt, or a file.
    throw new UserError(
        Spelling.nearest(what, known) == null && what.matches(".*[./].*")
            ? Names.printable(what) + ": no such file"
            : Names.quote(what)
                + ": "
                + Spelling.meant(what, known)
                + "it is "
                + String.join(", ", known)
                + " or a model's file, and there is no such file");
  }

  /** Whether a task is a network's that has random weights and no file. */
  public static boolean isRandom(String what) {
    return what.equals(MLP) || what.equals(FFN) || what.equals(LAYER);
  }

  /** The keys of a task, for messages. */
  public static String keys(String what) {
    return switch (what) {
      case MLP -> MLP_KEYS;
      case FFN -> FFN_KEYS;
      case LAYER -> LAYER_KEYS;
      default -> MODEL_KEYS;
    };
  }

  /**
   * Reads a task.
   *
   * @param values of which those that belong to the network are asked for
   * @param arch of weights without a graph, as {@code run} takes it; null for none
   * @throws UserError if it is none
   */
  public static NetworkTask of(String what, KeyValues values, @Nullable String arch) {
    return switch (what) {
      case MLP -> mlp(values);
      case FFN -> ffn(values);
      case LAYER -> layer(values);
      default -> model(what, values, arch);
    };
  }

  private static NetworkTask layer(KeyValues values) {
    int rows = rows(values, 1);
    RandomDecoderLayer layer =
        new RandomDecoderLayer(
            (int) values.number("HQ", 1, MOST_HEADS),
            (int) values.number("HKV", 1, MOST_HEADS),
            (int) values.number("D", 2, MOST_HEAD),
            (int) values.number("H", 1, MOST_FFN),
            (int) values.number("S", 2, MOST_KEYS));
    Precision precision = precision(values, values.text("dtype", "bf16"));
    long seed = values.number("seed", 0, Long.MAX_VALUE, DEFAULT_SEED);
    DType weights = precision == Precision.TF32 ? DType.F32 : precision.operand();
    List<String> words =
        words(
            precision,
            "HQ=" + layer.heads(),
            "HKV=" + layer.kvHeads(),
            "D=" + layer.size(),
            "H=" + layer.hidden(),
            "S=" + layer.keys(),
            dtype(precision),
            "rows=" + rows,
            "seed=" + seed);
    Graph graph = graph(layer, layer::graph, weights, seed);
    return new NetworkTask(LAYER, words, null, graph, precision, rows, seed);
  }

  private static NetworkTask ffn(KeyValues values) {
    int rows = rows(values, 0);
    int model = (int) either(values, "D", "K");
    int hidden = (int) either(values, "H", "N");
    if ((long) model * hidden > Integer.MAX_VALUE) {
      throw new UserError(
          "D=" + model + " H=" + hidden + ": a weight of more elements than 2^31 - 1");
    }
    boolean gated =
        (values.text("gated") == null
                ? values.number("gate", 0, 1, 0)
                : values.number("gated", 0, 1, 0))
            == 1;
    Activation activation = Activation.parse(values.text("act", gated ? "silu" : "gelu"));
    boolean bias = values.number("bias", 0, 1, 0) == 1;
    Precision precision = precision(values, values.text("dtype", "bf16"));
    long seed = values.number("seed", 0, Long.MAX_VALUE, DEFAULT_SEED);
    DType weights = precision == Precision.TF32 ? DType.F32 : precision.operand();
    Merging merging = merging(values);
    List<String> words =
        words(
            precision,
            "M=" + rows,
            "D=" + model,
            "H=" + hidden,
            "gated=" + (gated ? 1 : 0),
            "act=" + activation.text(),
            "bias=" + (bias ? 1 : 0),
            dtype(precision),
            "seed=" + seed);
    if (merging != null) {
      words.addAll(List.of("order=" + merging.order().text(), "wait=" + merging.waits().text()));
    }
    RandomFfn block = new RandomFfn(model, hidden, gated, activation, bias);
    return new NetworkTask(
        FFN,
        words,
        null,
        graph(block, block::graph, weights, seed),
        precision,
        rows,
        seed,
        merging);
  }

  /** {@code order=rows wait=row}, or one of the two; null for neither. */
  private static @Nullable Merging merging(KeyValues values) {
    String order = values.text("order");
    String waits = values.text("wait");
    if (order == null && waits == null) {
      return null;
    }
    try {
      return new Merging(
          WorkOrder.parse(order == null ? WorkOrder.SEQUENCE.text() : order),
          WaitPolicy.parse(waits == null ? WaitPolicy.ROW.text() : waits));
    } catch (IllegalArgumentException e) {
      throw new UserError("order=" + order + " wait=" + waits + ": " + e.getMessage());
    }
  }

  /** Weights are made once for tasks that differ in their rows alone. */
  private static Graph graph(
      Record block, BiFunction<DType, Long, Graph> making, DType weights, long seed) {
    synchronized (BLOCKS) {
      Block key = new Block(block, weights, seed);
      WeakReference<Graph> known = BLOCKS.get(key);
      Graph graph = known == null ? null : known.get();
      if (graph == null) {
        BLOCKS.values().removeIf(reference -> reference.get() == null);
        graph = making.apply(weights, seed);
        BLOCKS.put(key, new WeakReference<>(graph));
      }
      return graph;
    }
  }

  /** A width by its letter, or as of the first product. */
  private static long either(KeyValues values, String key, String other) {
    String text = values.text(other);
    if (text != null && values.text(key) != null) {
      throw new UserError(
          "either " + key + "=" + values.text(key) + " or " + other + "=" + text + ", not both");
    }
    return values.number(text == null ? key : other, 1, MOST_FFN);
  }

  private static NetworkTask mlp(KeyValues values) {
    int rows = rows(values, 0);
    List<Integer> widths = widths(values);
    Precision precision = precision(values, values.text("dtype", "f16"));
    boolean bias = values.number("bias", 0, 1, 0) == 1;
    long seed = values.number("seed", 0, Long.MAX_VALUE, DEFAULT_SEED);
    String act = values.text("act", "relu");
    List<String> activations = new ArrayList<>(List.of(act.split(",", -1)));
    // Also where there is no hidden layer: a misspelt one is a mistake all the same.
    activations.forEach(RandomMlp::checkActivation);
    int hidden = widths.size() - 2;
    if (activations.size() == 1) {
      while (activations.size() < hidden) {
        activations.add(act);
      }
      activations = activations.subList(0, hidden);
    } else if (activations.size() != hidden) {
      throw new UserError(
          "act="
              + act
              + ": "
              + activations.size()
              + " activations for "
              + hidden
              + " hidden layers");
    }
    DType weights = precision == Precision.TF32 ? DType.F32 : precision.operand();
    Architecture.Mlp architecture = new Architecture.Mlp(widths, activations);
    Graph graph = DeepStack.call(() -> RandomMlp.of(architecture, bias, weights, seed));
    List<String> words =
        words(
            precision,
            "widths=" + String.join(",", widths.stream().map(String::valueOf).toList()),
            "act=" + act,
            "bias=" + (bias ? 1 : 0),
            dtype(precision),
            "rows=" + rows,
            "seed=" + seed);
    return new NetworkTask(MLP, words, null, graph, precision, rows, seed);
  }

  private static List<Integer> widths(KeyValues values) {
    String text = values.text("widths");
    if (text == null) {
      throw values.missing(
          "widths", "the inputs and each layer's outputs, as widths=64,128,128,16");
    }
    List<Integer> widths = new ArrayList<>();
    for (String width : text.split(",", -1)) {
      widths.add(width(text, width));
    }
    if (widths.size() < 2 || widths.size() > MOST_LAYERS) {
      throw new UserError(
          "widths=" + text + ": at least two, inputs and outputs, and at most " + MOST_LAYERS);
    }
    return widths;
  }

  private static int width(String all, String text) {
    try {
      int width = Integer.parseInt(text);
      if (width >= 1 && width <= MOST_WIDTH) {
        return width;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new UserError(
        "widths=" + all + ": '" + text + "' is no whole number from 1 to " + MOST_WIDTH);
  }

  private static NetworkTask model(String file, KeyValues values, @Nullable String arch) {
    requireFile(file, List.of());
    int rows = rows(values, DEFAULT_ROWS);
    long seed = values.number("seed", 0, Long.MAX_VALUE, DEFAULT_SEED);
    String type = values.text("dtype");
    Graph graph =
        Warpwright.load(Path.of(file), arch == null ? null : Architecture.parse(arch)).graph();
    Precision precision = precision(values, type == null ? graph.precision().text() : type);
    List<String> words = words(precision, dtype(precision), "rows=" + rows, "seed=" + seed);
    return new NetworkTask(file, words, arch, graph, precision, rows, seed);
  }

  /** {@code rows}, or as of a product, {@code M}. */
  private static int rows(KeyValues values, long otherwise) {
    String m = values.text("M");
    if (m != null && values.text("rows") != null) {
      throw new UserError("either rows=" + values.text("rows") + " or M=" + m + ", not both");
    }
    String key = m == null ? "rows" : "M";
    return (int)
        (otherwise > 0
            ? values.number(key, 1, MOST_ROWS, otherwise)
            : values.number(key, 1, MOST_ROWS));
  }

  private static Precision precision(KeyValues values, String text) {
    Precision precision =
        Precision.OF_NETWORKS.stream()
            .filter(each -> each.text().equals(text))
            .findFirst()
            .orElseThrow(() -> new UserError("dtype=" + text + ": it is f32, tf32, f16 or bf16"));
    String accumulators = values.text("acc", "f32");
    if (accumulators.equals("f16") && precision == Precision.F16) {
      return Precision.F16_ACCUMULATORS;
    }
    if (!accumulators.equals("f32")) {
      throw new UserError(
          "acc="
              + accumulators
              + ": accumulators of networks in "
              + text
              + " are "
              + (precision == Precision.F16 ? "f32 or f16" : "f32; acc=f16 is for dtype=f16"));
    }
    return precision;
  }

  /** How a task names what its operands are in. */
  private static String dtype(Precision precision) {
    return "dtype=" + (precision == Precision.F16_ACCUMULATORS ? Precision.F16 : precision).text();
  }

  /** The words of a task, and that its accumulators are others than usual. */
  private static List<String> words(Precision precision, String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    if (precision == Precision.F16_ACCUMULATORS) {
      all.add("acc=f16");
    }
    return all;
  }

  private static List<Value> values(Graph graph) {
    List<Value> values = new ArrayList<>(graph.inputs());
    graph.nodes().forEach(node -> values.add(node.output()));
    return values;
  }

  /** In one line: {@code mlp widths=64,64,64 act=relu bias=0 dtype=f16 rows=256 seed=1}. */
  public String text() {
    return OneLine.of(what) + " " + String.join(" ", words);
  }

  /** By what its records are found. */
  public WorkloadKey key() {
    return NetworkKey.of(graph, precision, rows);
  }

  /**
   * The same, where a command has no use for GEMMs that share a kernel.
   *
   * @throws UserError if they are to
   */
  public NetworkTask apart(String command) {
    if (merging != null) {
      throw new UserError(
          "order= and wait= are for perf, explain, check and export, not for "
              + command
              + ": tune tries them by itself, and run takes what it found");
    }
    return this;
  }

  /**
   * The program in which its GEMMs share a kernel.
   *
   * @throws UserError if they cannot
   */
  public CompiledProgram merged(GpuTarget target) {
    Merging asked = Objects.requireNonNull(merging);
    return NetworkCompiler.merged(
        graph, target, precision, rows, asked.order(), asked.waits(), DeviceCatalogue.sms(target));
  }

  /** Whether a GEMM for each layer is expected to be faster, so that GEMMs are to be tuned. */
  public boolean isByLayer(GpuTarget target) {
    return NetworkCompiler.isByLayer(graph, target, precision, rows);
  }
}
