package dev.warpwright.cli.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.target.GpuTarget;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A search tries both GEMMs of a block in one kernel, and what it found is used. */
final class MergedWaysTest {
  private static final String BLOCK = "both GEMMs in one grid order=";

  private static NetworkTask task(String... words) {
    return NetworkTask.of("ffn", new KeyValues(List.of(words)), null);
  }

  private static List<String> names(NetworkTask task, GpuTarget target) {
    return new NetworkCandidates(task, target)
        .names().stream().filter(name -> name.startsWith(BLOCK)).toList();
  }

  @Test
  void areThoseOfPlainBlocksOfManyRows() {
    NetworkTask block = task("M=256", "D=256", "H=512");
    assertThat(names(block, GpuTarget.SM_90A))
        .containsExactly(
            BLOCK + "sequence wait=tile",
            BLOCK + "sequence wait=row",
            BLOCK + "rows wait=tile",
            BLOCK + "rows wait=row");
    assertThat(names(block, GpuTarget.SM_80)).isEmpty();
    assertThat(names(task("M=64", "D=256", "H=512"), GpuTarget.SM_90A)).isEmpty();
    assertThat(names(task("M=256", "D=256", "H=512", "gated=1"), GpuTarget.SM_90A)).isEmpty();
  }

  /** By the name that a record has after its way through the database. */
  @Test
  void areFoundByTheirRecords() {
    NetworkTask block = task("M=256", "D=256", "H=512");
    String name = BLOCK + "rows wait=row";
    assertThat(NetworkRecords.name(NetworkRecords.point(name))).isEqualTo(name);
    assertThat(NetworkCompiler.isForOneRowCount(name)).isTrue();
    CompiledProgram found =
        NetworkCompiler.compile(
            block.graph(),
            GpuTarget.SM_90A,
            block.precision(),
            block.rows(),
            GemmKernels.uncompiled(GpuTarget.SM_90A),
            name);
    assertThat(found.kernels()).hasSize(1);
    assertThat(found.kernels().getFirst().strategy()).isEqualTo(name);
    assertThat(found.fixedRows()).hasValue(256);
    assertThat(new NetworkCandidates(block, GpuTarget.SM_90A).make(name)).isPresent();
  }
}
