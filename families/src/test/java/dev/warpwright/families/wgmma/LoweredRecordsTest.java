package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.ShippedRecords;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * What the list of passes makes of the shipped records of Hopper's kernels is, letter by letter,
 * the source that was measured. {@link #main} looks at all of them; the test at some of each class.
 */
final class LoweredRecordsTest {
  private static final int SMS = 132;
  private static final int OF_EACH_CLASS = 3;

  /** Records of a class, and those of them whose source is another one. */
  private record Count(int records, List<String> others) {}

  private static List<TuningRecord> records() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      ShippedRecords.addTo(database);
      return database.all().stream()
          .filter(record -> record.point().text().startsWith("sketch=wgmma "))
          .toList();
    }
  }

  /** What decides which passes have something to do. */
  private static String kind(TuningRecord record) {
    GemmWorkload workload = GemmWorkload.of(record.workload());
    String point = record.point().text();
    boolean persistent = point.contains("persistent=yes");
    boolean cluster = !point.contains("cluster=1x1");
    boolean parts = point.contains("division=parts");
    return String.join(
        ", ",
        HopperLimits.operandsProblem(workload) == null ? "TMA copies" : "copies by threads",
        persistent ? "persistent" : "a tile a block",
        cluster ? "clusters" : "single blocks",
        parts ? "parts" : point.contains("division=stream") ? "stream" : "whole tiles");
  }

  private static Map<String, Count> counts(int most) {
    Map<String, Count> counts = new TreeMap<>();
    for (TuningRecord record : records()) {
      String kind = kind(record);
      Count count = counts.getOrDefault(kind, new Count(0, new ArrayList<>()));
      if (count.records() < most) {
        GemmWorkload workload = GemmWorkload.of(record.workload());
        String source =
            CudaPrinter.print(
                GemmSpace.schedule(workload, GpuTarget.SM_90A, SMS, record.point()).kernel(),
                GpuTarget.SM_90A);
        if (!SourceHash.isOf(record.sourceHash(), SourceHash.of(source))) {
          count.others().add(record.workload().text() + " " + record.point().text());
        }
        counts.put(kind, new Count(count.records() + 1, count.others()));
      }
    }
    return counts;
  }

  @Test
  void theSourceIsWhatWasMeasured() {
    Map<String, Count> counts = counts(OF_EACH_CLASS);
    assertThat(counts).hasSizeGreaterThanOrEqualTo(10);
    counts.forEach((kind, count) -> assertThat(count.others()).as(kind).isEmpty());
  }

  /** Prints for each class of records how many there are, and how many are equal. */
  public static void main(String[] args) {
    counts(Integer.MAX_VALUE)
        .forEach(
            (kind, count) ->
                System.out.printf(
                    Locale.ROOT,
                    "%3d of %3d equal: %s%n",
                    count.records() - count.others().size(),
                    count.records(),
                    kind));
  }
}
