package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.program.NetworkCompiler;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a command tunes or measures: {@code gemm}, or the products of {@code mlp}, {@code ffn} or a
 * model's file.
 *
 * @param name for reports
 * @param counts how often each product occurs, in the order of the first
 */
record Products(String name, Map<GemmWorkload, Integer> counts) {
  private static final long MOST = 1 << 20;

  public Products {
    counts = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(counts));
  }

  /** One product by itself. */
  static Products one(GemmWorkload workload) {
    return new Products("gemm", Map.of(workload, 1));
  }

  /** Whether this is one product that was asked for as such. */
  boolean isOne() {
    return name.equals("gemm");
  }

  /** The products, each once. */
  List<GemmWorkload> workloads() {
    return List.copyOf(counts.keySet());
  }

  /**
   * Reads a task.
   *
   * @param values of which those that belong to the products are asked for
   * @param arch of weights without a graph, as {@code run} takes it; null for none
   * @throws UserError if it is none
   */
  static Products of(String what, KeyValues values, @Nullable String arch) {
    return switch (what) {
      case "gemm" -> new Products("gemm", Map.of(GemmArguments.read(values), 1));
      case "mlp" -> counted(what, mlp(values));
      case "ffn" -> counted(what, ffn(values));
      default -> counted(what, model(what, values, arch));
    };
  }

  /** The keys of a kind, for messages. */
  static String keys(String what) {
    return switch (what) {
      case "gemm" -> GemmArguments.KEYS;
      case "mlp" -> "M, widths, act, dtype";
      case "ffn" -> "M, K, N, act, gate, bias, dtype";
      default -> "M, dtype";
    };
  }

  private static Products counted(String name, List<GemmWorkload> products) {
    Map<GemmWorkload, Integer> counts = new LinkedHashMap<>();
    products.forEach(product -> counts.merge(product, 1, Integer::sum));
    return new Products(name, counts);
  }

  /** Each layer with its bias, all but the last with the activation; the output is f32. */
  private static List<GemmWorkload> mlp(KeyValues values) {
    long rows = values.number("M", 1, MOST);
    String text = values.text("widths");
    if (text == null) {
      throw new UserError(
          "no value for widths; give the inputs and each layer's outputs, as"
              + " widths=784,4096,4096,16");
    }
    List<Long> widths = new ArrayList<>();
    for (String width : text.split(",", -1)) {
      widths.add(width(text, width));
    }
    if (widths.size() < 2) {
      throw new UserError("widths=" + text + ": at least two, inputs and outputs");
    }
    DType type = type(values);
    Activation activation = Activation.parse(values.text("act", "relu"));
    List<GemmWorkload> products = new ArrayList<>();
    for (int i = 1; i < widths.size(); i++) {
      boolean last = i + 1 == widths.size();
      products.add(
          new GemmWorkload(
              rows,
              widths.get(i),
              widths.get(i - 1),
              type,
              last ? DType.F32 : type,
              GemmWorkload.Layout.NT,
              new Epilogue(1, 0, true, last ? Activation.NONE : activation)));
    }
    return products;
  }

  private static long width(String all, String text) {
    try {
      long width = Long.parseLong(text);
      if (width >= 1 && width <= MOST) {
        return width;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new UserError("widths=" + all + ": '" + text + "' is no whole number from 1 to " + MOST);
  }

  /** From K to N and back; with a gate, a second product of the first's shape. */
  private static List<GemmWorkload> ffn(KeyValues values) {
    long rows = values.number("M", 1, MOST);
    long model = values.number("K", 1, MOST);
    long hidden = values.number("N", 1, MOST);
    DType type = type(values);
    boolean gate = values.number("gate", 0, 1, 0) == 1;
    boolean bias = values.number("bias", 0, 1, 0) == 1;
    Activation activation = Activation.parse(values.text("act", gate ? "silu" : "gelu"));
    Epilogue plain = new Epilogue(1, 0, bias, Activation.NONE);
    List<GemmWorkload> products = new ArrayList<>();
    if (gate) {
      products.add(nt(rows, hidden, model, type, plain));
    }
    products.add(
        nt(
            rows,
            hidden,
            model,
            type,
            new Epilogue(1, 0, bias, activation, false, false, gate, false)));
    products.add(nt(rows, model, hidden, type, plain));
    return products;
  }

  private static GemmWorkload nt(long m, long n, long k, DType type, Epilogue epilogue) {
    return new GemmWorkload(m, n, k, type, type, GemmWorkload.Layout.NT, epilogue);
  }

  private static DType type(KeyValues values) {
    String text = values.text("dtype", "bf16");
    return switch (text) {
      case "bf16" -> DType.BF16;
      case "f16" -> DType.F16;
      case "f32" -> DType.F32;
      default -> throw new UserError("dtype=" + text + ": it is bf16, f16 or f32");
    };
  }

  private static List<GemmWorkload> model(String file, KeyValues values, @Nullable String arch) {
    if (!Files.exists(Path.of(file))) {
      throw new UserError(
          "'" + file + "': it is gemm, mlp, ffn or a model's file, and there is no such file");
    }
    int rows = (int) values.number("M", 1, MOST);
    Graph graph =
        Warpwright.load(Path.of(file), arch == null ? null : Architecture.parse(arch)).graph();
    String type = values.text("dtype");
    Precision precision = type == null ? graph.precision() : precision(type);
    if (!NetworkCompiler.isWide(graph, precision)) {
      throw new UserError(
          file
              + ": the network is at most 512 wide and runs as one fused kernel, which has no"
              + " products to tune");
    }
    List<GemmWorkload> products = NetworkCompiler.products(graph, precision, rows);
    if (products.isEmpty()) {
      throw new UserError(
          file + ": no product of the network is one of the families' in " + precision.text());
    }
    return products;
  }

  private static Precision precision(String text) {
    for (Precision precision : Precision.OF_NETWORKS) {
      if (precision.text().equals(text)) {
        return precision;
      }
    }
    throw new UserError("dtype=" + text + ": it is f32, tf32, f16 or bf16");
  }
}
