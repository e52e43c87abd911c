package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.compiler.program.NetworkCompiler;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a command tunes or measures: {@code gemm}, the products of {@code ffn}, or those of a
 * network that is too wide for one kernel.
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
   * @param what {@code gemm} or {@code ffn}
   * @param values of which those that belong to the products are asked for
   * @throws UserError if it is none
   */
  static Products of(String what, KeyValues values) {
    return switch (what) {
      case "gemm" -> new Products("gemm", Map.of(GemmArguments.read(values), 1));
      case "ffn" -> counted(what, ffn(values));
      default -> throw new UserError("'" + what + "' is no product; what is one is gemm");
    };
  }

  /**
   * The products of a network that is too wide for one kernel.
   *
   * @throws UserError if the families compute none of them
   */
  static Products of(NetworkTask wide) {
    List<GemmWorkload> products =
        NetworkCompiler.products(wide.graph(), wide.precision(), wide.rows());
    if (products.isEmpty()) {
      throw new UserError(
          wide.text()
              + ": no product of the network is one of the families' in "
              + wide.precision().text());
    }
    return counted(wide.what(), products);
  }

  /** The keys of a kind, for messages. */
  static String keys(String what) {
    return switch (what) {
      case "gemm" -> GemmArguments.KEYS;
      case "ffn" -> "M, K, N, act, gate, bias, dtype";
      default -> NetworkTask.keys(what);
    };
  }

  private static Products counted(String name, List<GemmWorkload> products) {
    Map<GemmWorkload, Integer> counts = new LinkedHashMap<>();
    products.forEach(product -> counts.merge(product, 1, Integer::sum));
    return new Products(name, counts);
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
}
