package dev.warpwright.families.space;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table of decisions in {@code docs/explain.md} has those of the search spaces, no others. */
class DecisionsDocumentTest {
  private static final Path PAGE = Path.of("../docs/explain.md");
  private static final Pattern ROW = Pattern.compile("\\| (`[^|]*`) \\| ([a-z, ]+) \\| .* \\|");
  private static final int SAMPLES = 60;

  @Test
  void hasEachDecisionWithItsFamilies() throws IOException {
    Map<String, Set<String>> sampled = sampled();
    Map<String, Set<String>> told = new TreeMap<>();
    Set<String> families = new TreeSet<>();
    sampled.values().forEach(families::addAll);
    for (String line : Files.readAllLines(PAGE)) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        for (String decision : row.group(1).replace("`", "").split(", ")) {
          told.put(decision, families(row.group(2), families));
        }
      }
    }
    assertThat(told.keySet()).isEqualTo(sampled.keySet());
    // What a family has of few workloads only, a sample may miss.
    sampled.forEach((decision, of) -> assertThat(told.get(decision)).as(decision).containsAll(of));
  }

  private static Set<String> families(String text, Set<String> all) {
    if (text.startsWith("all")) {
      Set<String> most = new TreeSet<>(all);
      most.removeAll(Set.of(text.replace("all but ", "").split(", ")));
      return most;
    }
    return Arrays.stream(text.split(", ")).collect(Collectors.toCollection(TreeSet::new));
  }

  /** Families by decision. */
  private static Map<String, Set<String>> sampled() {
    Random random = new Random(1);
    Map<String, Set<String>> found = new TreeMap<>();
    for (GemmWorkload.Layout layout : GemmWorkload.Layout.values()) {
      for (DType type : List.of(DType.BF16, DType.F32, DType.F8E4M3)) {
        for (long[] size : List.of(new long[] {1024, 512, 4096}, new long[] {4, 510, 1030})) {
          GemmWorkload gemm = GemmWorkload.of(size[0], size[1], size[2], type, layout);
          add(found, gemm, GpuTarget.SM_90A, random);
          add(found, gemm, GpuTarget.SM_80, random);
          if (type == DType.F32) {
            add(found, gemm.with(Precision.TF32), GpuTarget.SM_90A, random);
          }
        }
      }
    }
    return found;
  }

  private static void add(
      Map<String, Set<String>> found, GemmWorkload gemm, GpuTarget target, Random random) {
    Space space = GemmSpace.of(gemm, target, 132);
    for (int i = 0; i < SAMPLES; i++) {
      Point point = space.sample(random).point();
      String family = String.valueOf(point.option(Space.SKETCH));
      point
          .choices()
          .forEach(c -> found.computeIfAbsent(c.name(), _ -> new TreeSet<>()).add(family));
    }
  }
}
