package dev.warpwright.cli.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.runtime.launch.Gpu;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Attention in place of a model. */
class AttentionCommandsTest {
  private static final String SMALL = " attention B=2 HQ=4 HKV=2 D=16 T=2 S=37 causal=1 dtype=f16";

  private String out = "";
  private String err = "";

  private int execute(String line) {
    ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    int code =
        Main.execute(
            new PrintStream(outBytes, true, StandardCharsets.UTF_8),
            new PrintStream(errBytes, true, StandardCharsets.UTF_8),
            line.strip().split(" +"));
    out = outBytes.toString(StandardCharsets.UTF_8);
    err = errBytes.toString(StandardCharsets.UTF_8);
    return code;
  }

  @Test
  void isPlanned() {
    assertThat(execute("plan" + SMALL + " splits=2 keys=16 --target sm_80")).isEqualTo(ExitCode.OK);
    assertThat(out)
        .contains("attention B=2 HQ=4 HKV=2 D=16 T=2 S=37 causal f16 for sm_80")
        .contains("attention_f16_causal_part", "attention_f16_causal_combine", "in 2 parts by 16");
    assertThat(execute("explain attention HQ=32 HKV=8 D=128 S=4096 --json")).isEqualTo(ExitCode.OK);
    assertThat(out).contains("\"chosen\"", "\"others\"");
  }

  /** Parts that the last block combines, and an output projection in the same launch. */
  @Test
  void blocksThatCombineAndProject() {
    assertThat(execute("plan" + SMALL + " splits=3 keys=16 combine=last --target sm_80"))
        .isEqualTo(ExitCode.OK);
    assertThat(out)
        .contains("in 3 parts, combined by the last one that is done, by 16")
        .doesNotContain("_combine");
    assertThat(execute("check" + SMALL + " splits=3 keys=16 combine=last --schedules 1"))
        .as(out + err)
        .isEqualTo(ExitCode.OK);
    String projecting =
        " attention B=2 HQ=4 HKV=2 D=64 S=128 by=wgmma rows=64 keys=64 stages=2 splits=2 project=72";
    assertThat(execute("plan" + projecting)).as(err).isEqualTo(ExitCode.OK);
    assertThat(out).contains("project=72", "8 blocks at once", "16 rows of W a block");
    assertThat(execute("run" + projecting + " --target sim --seed 3"))
        .as(out + err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).contains("attention", ", verified (seed 3)");
    assertThat(execute("check" + projecting + " --schedules 1"))
        .as(out + err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).contains("compared with its definition", "no findings");
  }

  @ParameterizedTest
  @CsvSource({"cpu", "sim"})
  void isRunAndVerified(String target) {
    assertThat(execute("run" + SMALL + " --target " + target + " --seed 3"))
        .as(out + err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).contains(", verified (seed 3)");
  }

  @Test
  void isChecked() {
    assertThat(execute("check" + SMALL + " page=16 splits=2 keys=16 threads=32 --schedules 1"))
        .as(out + err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).contains("compared with its definition", "no findings");
  }

  @Test
  void isNotMeasuredWithoutGpu() {
    Assumptions.assumeTrue(Gpu.find().isEmpty(), "there is a GPU");
    assertThat(execute("perf" + SMALL)).isEqualTo(ExitCode.DEVICE);
    assertThat(execute("tune" + SMALL)).isEqualTo(ExitCode.DEVICE);
    assertThat(err)
        .contains("GEMMs, networks and attention are measured on a GPU: 'explain' predicts them");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "plan attention HQ=3 HKV=2 D=64 S=9|3 query heads are no multiple of 2 K/V heads",
        "plan attention HQ=2 D=12 S=9|a head of 12 is no multiple of 8 from 8 to 256",
        "plan attention HQ=2 D=64|no value for S; give S=...",
        "plan attention HQ=2 D=64 S=9 dtype=e4m3|dtype=e4m3: it is f16, bf16 or, on the CPU, f32",
        "plan attention HQ=2 D=64 S=9 heads=2|there is no 'heads'; known are B, HQ, HKV",
        "plan attention HQ=2 D=64 S=9 dtype=f32|has no kernel for GPUs; use f16 or bf16",
        "plan attention HQ=2 D=64 S=9 --target sm_75 dtype=f16|sm_75 has no mma.sync of 16 by 8",
        "check attention HQ=2 D=64 S=99 page=24 keys=16|neither divides a page of 24",
        "run attention HQ=2 D=64 S=9 --target sm_80|attention runs on cpu and sim",
        "tune attention HQ=2 D=64 S=9 stages=2;3|stages=2;3: whole numbers, as stages=2,3",
        "tune attention HQ=2 D=64 S=9 splits=|has no value",
        "tune attention HQ=2 D=64 S=9 combine=all|combine=all: it is launch, cluster or last",
        "plan attention HQ=2 D=64 S=9 combine=last|combine=last: give splits=2 or more",
        "plan attention HQ=2 D=64 S=9 project=64|project=64: say how, as by=wgmma",
        "plan attention HQ=2 D=64 S=9 splits=2 project=64|project=64: give by=wgmma rows=64",
        "explain attention HQ=2 D=64 S=9 by=wgmma rows=64 project=64|not for explain",
        "tune attention HQ=2 D=64 S=9 warps=2|there is no 'warps'; known are B, HQ, HKV",
        "run attention HQ=64 D=128 T=9999 S=9999|is too much to verify",
        "plan attention HQ=1048576 D=256 T=1048576 S=1048576 B=1048576|more elements than 2^31 - 1"
      })
  void refusesInOneLine(String line, String why) {
    assertThat(execute(line)).as(out + err).isEqualTo(ExitCode.USAGE);
    assertThat(err.strip()).contains(why).doesNotContain("\n");
  }
}
