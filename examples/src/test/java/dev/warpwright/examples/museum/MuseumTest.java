package dev.warpwright.examples.museum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.text.IrFile;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each exhibit is found, whatever order it happens to run in, and clean when it is mended. */
final class MuseumTest {
  private static final long SEED = Long.getLong("seed", 17);

  /** Also where blocks and warps come one after the other, and nothing goes wrong by itself. */
  private static final List<GridOptions> ORDERS =
      List.of(
          GridOptions.DEFAULT,
          GridOptions.DEFAULT.withBlocks(Options.Order.REVERSE, 1),
          GridOptions.DEFAULT.withWarps(GridOptions.WarpChoice.LAST),
          GridOptions.random(SEED),
          GridOptions.random(SEED + 1));

  static List<Exhibit> exhibits() {
    return Museum.EXHIBITS;
  }

  @ParameterizedTest
  @MethodSource("exhibits")
  void isCleanWhenMended(Exhibit exhibit) {
    IrFile file = new IrParser(Intrinsics::find).file(exhibit.name(), exhibit.mended());
    file.kernels().forEach(kernel -> assertThat(Verifier.verify(kernel)).isEmpty());
    file.programs().forEach(program -> assertThat(Verifier.verify(program)).isEmpty());
    for (GridOptions order : ORDERS) {
      assertThat(Exhibit.findings(exhibit.mended(), order, SEED)).as("%s", order).isEmpty();
    }
  }

  /** Who did what to which element, or who waits for whom. */
  @ParameterizedTest
  @MethodSource("exhibits")
  void isFoundWithAWitness(Exhibit exhibit) {
    for (GridOptions order : ORDERS) {
      List<Finding> findings = Exhibit.findings(exhibit.broken(), order, SEED);
      assertThat(findings).as("%s by %s", exhibit.name(), order).isNotEmpty();
      Finding first = findings.getFirst();
      assertThat(exhibit.kinds()).as(first.message()).contains(first.kind());
      assertThat(first.who() + first.detail()).as(first.message()).isNotBlank();
    }
  }

  @Test
  void eachIsOfItsOwn() {
    Set<String> reports = new HashSet<>();
    for (Exhibit exhibit : Museum.EXHIBITS) {
      assertThat(reports.add(exhibit.reported())).as(exhibit.reported()).isTrue();
      assertThat(exhibit.reported()).matches("[\\w.-]+/[\\w.-]+#\\d+");
      assertThat(exhibit.broken()).isNotEqualTo(exhibit.mended());
    }
    assertThatThrownBy(() -> new Exhibit("none", "a/b#1", "text", "not there", "", Set.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
