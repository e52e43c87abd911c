package dev.warpwright.workload;

import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.GemmWorkload.Leading;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Products as keys. */
final class GemmKeys {
  private GemmKeys() {}

  /** The key of a product: {@code gemm a=bf16 c=bf16 k=4096 layout=nt m=16 n=14336}. */
  static WorkloadKey of(GemmWorkload workload) {
    Map<String, String> parameters = new TreeMap<>();
    parameters.put("m", Long.toString(workload.m()));
    parameters.put("n", Long.toString(workload.n()));
    parameters.put("k", Long.toString(workload.k()));
    parameters.put("a", workload.operands().text());
    parameters.put("c", workload.result().text());
    if (!workload.precision().isUsual()) {
      parameters.put("sums", workload.precision().arithmetic());
    }
    if (workload.batch().isMany()) {
      parameters.put("batch", Long.toString(workload.batch().count()));
      String shared =
          (workload.batch().sharedA() ? "a" : "") + (workload.batch().sharedB() ? "b" : "");
      if (!shared.isEmpty()) {
        parameters.put("shared", shared);
      }
      putIfGiven(parameters, "groups", workload.batch().groups());
      putIfGiven(parameters, "stridea", workload.batch().strides().a());
      putIfGiven(parameters, "strideb", workload.batch().strides().b());
      putIfGiven(parameters, "stridec", workload.batch().strides().c());
    }
    Leading leading = workload.leading();
    putIfGiven(parameters, "lda", leading.a());
    putIfGiven(parameters, "ldb", leading.b());
    putIfGiven(parameters, "ldc", leading.c());
    parameters.put("layout", workload.layout().name().toLowerCase(Locale.ROOT));
    parameters.put("epilogue", workload.epilogue().text());
    return new WorkloadKey(GemmWorkload.KIND, parameters);
  }

  /**
   * The product of a key.
   *
   * @throws IllegalArgumentException if it is none
   */
  static GemmWorkload workload(WorkloadKey key) {
    if (!key.kind().equals(GemmWorkload.KIND)) {
      throw new IllegalArgumentException(key + " is no GEMM");
    }
    DType operands = DType.parse(word(key, "a"));
    String sums = key.parameters().get("sums");
    return new GemmWorkload(
        number(key, "m"),
        number(key, "n"),
        number(key, "k"),
        sums == null ? Precision.of(operands) : Precision.of(operands, sums),
        DType.parse(word(key, "c")),
        GemmWorkload.Layout.valueOf(word(key, "layout").toUpperCase(Locale.ROOT)),
        Epilogue.parse(word(key, "epilogue")),
        batch(key),
        new Leading(numberOrZero(key, "lda"), numberOrZero(key, "ldb"), numberOrZero(key, "ldc")));
  }

  private static Batch batch(WorkloadKey key) {
    String shared = key.parameters().getOrDefault("shared", "");
    return key.parameters().containsKey("batch")
        ? new Batch(
                number(key, "batch"),
                shared.contains("a"),
                shared.contains("b"),
                numberOrZero(key, "groups"))
            .with(
                new Batch.Strides(
                    numberOrZero(key, "stridea"),
                    numberOrZero(key, "strideb"),
                    numberOrZero(key, "stridec")))
        : Batch.NONE;
  }

  private static void putIfGiven(Map<String, String> parameters, String name, long value) {
    if (value != 0) {
      parameters.put(name, Long.toString(value));
    }
  }

  private static long number(WorkloadKey key, String name) {
    return Long.parseLong(word(key, name));
  }

  private static long numberOrZero(WorkloadKey key, String name) {
    return key.parameters().containsKey(name) ? number(key, name) : 0;
  }

  private static String word(WorkloadKey key, String name) {
    String word = key.parameters().get(name);
    if (word == null) {
      throw new IllegalArgumentException(key + " has no " + name);
    }
    return word;
  }
}
