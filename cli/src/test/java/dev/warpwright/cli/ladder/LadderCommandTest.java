package dev.warpwright.cli.ladder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.ir.type.DType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command ladder, on a machine without a GPU. */
final class LadderCommandTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @TempDir Path folder;

  private int run(String... args) {
    return Main.execute(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        args);
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void predictsARungAndDrawsIt() throws IOException {
    Path chart = folder.resolve("chart.svg");
    assertThat(
            run(
                "ladder",
                "MN=128",
                "K=64",
                "--predict",
                "--rung",
                "naive",
                "--rung",
                "warp-tiles",
                "--chart",
                chart.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("128x128x64 on H200 SXM, predicted, not measured")
        .containsPattern("naive +f32 +\\d")
        .containsPattern("warp-tiles +f32 +\\d")
        .contains("nothing was run");
    assertThat(Files.readString(chart))
        .startsWith("<svg")
        .contains("prefers-color-scheme: dark", ">warp-tiles<", "predicted, not measured")
        .endsWith("</svg>\n");
  }

  @Test
  void jsonSaysWhatIsPredicted() {
    assertThat(run("ladder", "MNK=64", "--predict", "--no-chart", "--rung", "tiles-1d", "--json"))
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("\"rungs\": [{\"name\": \"tiles-1d\"")
        .contains("\"relError\": null", "\"verified\": false", "\"predicted\": true");
  }

  @Test
  void tensorCoresTakeEveryShape() {
    assertThat(run("ladder", "MNK=127", "--predict", "--no-chart", "--rung", "wgmma"))
        .isEqualTo(ExitCode.OK);
    assertThat(out()).containsPattern("wgmma +bf16 +\\d");
    assertThat(run("ladder", "MNK=512", "--predict", "--no-chart", "--rung", "wgmma"))
        .isEqualTo(ExitCode.OK);
    assertThat(out()).containsPattern("wgmma +bf16 +\\d");
  }

  @Test
  void aRungThatTheDeviceDoesNotHaveIsALineThatSaysWhy() {
    int code =
        run(
            ("ladder MNK=64 --device T4 --no-chart --rung naive --rung async-copies --rung mma-sync"
                    + " --rung wgmma")
                .split(" "));
    assertThat(code).isEqualTo(ExitCode.OK);
    assertThat(out())
        .containsPattern("naive +f32 +\\d")
        .contains(
            "async-copies      f32   not here: cp.async.4 needs sm_80 or newer, the target is"
                + " sm_75",
            "mma-sync          bf16  not here: mma-sync needs sm_80 or newer, the target is sm_75",
            "wgmma             bf16  not here: wgmma needs sm_90a, the target is sm_75")
        .contains("nothing was run")
        .doesNotContain("verified");
  }

  @Test
  void theSimulatorVerifiesAndCounts() {
    int code = run("ladder --target sim MN=32 K=16 --rung shared --rung mma-sync".split(" "));
    assertThat(code).isEqualTo(ExitCode.OK);
    // A warp for each row of a tile: 32 rows of A, 16 of B, and 32 of the result.
    assertThat(out())
        .contains("32x32x16 on H200 SXM, simulated", "verified in the simulator")
        .containsPattern("shared +f32 +\\d\\.\\d\\de-0[78] +\\d.* 80 +256 +1600 +0\\R")
        .containsPattern("mma-sync +bf16 +1\\.\\d\\de-03 +\\d");
    out.reset();
    code = run("ladder --target sim MN=32 K=16 --rung shared --json --device T4".split(" "));
    assertThat(code).isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("\"verified\": true", "\"globalLoadRequests\": 48.0", "\"missing\": null");
  }

  /** A warp's load of A touches 32 rows in the first rung, one in the next: as many requests. */
  @Test
  void theSimulatorCountsSectorsAndPredictsAsWithoutIt() {
    String rungs = "ladder MNK=64 --no-chart --rung naive --rung coalesced";
    assertThat(run((rungs + " --target sim").split(" "))).isEqualTo(ExitCode.OK);
    assertThat(out())
        .containsPattern("naive +f32 .* 16512 +274432 +0 +0\\R")
        .containsPattern("coalesced +f32 .* 16512 +41472 +0 +0\\R");
    out.reset();
    assertThat(run((rungs + " --target sim --json").split(" "))).isEqualTo(ExitCode.OK);
    List<String> simulated = times();
    out.reset();
    assertThat(run((rungs + " --predict --json").split(" "))).isEqualTo(ExitCode.OK);
    assertThat(times()).hasSize(2).isEqualTo(simulated);
  }

  private List<String> times() {
    return Pattern.compile("\"predictedUs\": [\\d.]+")
        .matcher(out())
        .results()
        .map(MatchResult::group)
        .toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ladder MNK=0 | M=0: it is a whole number",
        "ladder L=4 | there is no 'L'; known are M, N, K",
        "ladder --rung stairs --predict | there is no rung 'stairs'; there are naive,",
        "ladder --device abacus | --device abacus: known are",
        "ladder --device T4 --rung mma-sync | none of the rungs runs on T4: mma-sync needs sm_80",
        "ladder --target cpu | --target cpu: the ladder takes auto and sim",
        "ladder --target sim --predict | --target sim: leave --predict and --profile out",
        "ladder --target sim M=4096 | M=4096: it is a whole number from 1 to 2048",
        "ladder --rounds 0 | --rounds 0",
        "check ladder:wgmma | rung 'wgmma' is one on tensor cores; here it is one in f32",
      })
  void saysWhatIsWrong(String command, String message) {
    assertThat(run(command.strip().split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8).lines().filter(l -> !l.contains("predicting")))
        .singleElement()
        .asString()
        .contains(message.strip());
  }

  @Test
  void climbsInF64InTheSimulator() {
    assertThat(
            run(
                "ladder --target sim MN=64 K=32 dtype=f64 --rung coalesced --rung async-copies"
                    .split(" ")))
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("64x64x32 in f64 on H200 SXM, simulated", "verified in the simulator")
        .containsPattern("coalesced +f64 +\\d\\.\\d+e-1[5-7]")
        .containsPattern("async-copies +f64 +\\d\\.\\d+e-1[5-7]");
  }

  @Test
  void drawsWhatTheAutotunedRungChoseFrom() throws IOException {
    Path search = folder.resolve("search.svg");
    assertThat(
            run(
                "ladder",
                "MNK=256",
                "dtype=f64",
                "--predict",
                "--no-chart",
                "--rung",
                "naive",
                "--search",
                search.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(Files.readString(search))
        .startsWith("<svg")
        .contains("Sizes of tiles", ", f64, GFLOP/s", ">64x128x16-2x2-chosen<", ">256x128x8-4x2<")
        .endsWith("</svg>\n");
  }

  @Test
  void profilesByNsightComputeWithLinesOfTheSource() throws IOException {
    Path report = folder.resolve("rungs.ncu-rep");
    Path ncu = folder.resolve("ncu");
    Files.writeString(
        ncu,
        """
        #!/bin/sh
        echo "$@" >> FOLDER/calls
        case $1 in
          --export) : > "$2" ;;
          --import) echo '"0","1","java","host","matmul_naive","1","7","0","9.0","Command line profiler metrics","gpu__time_duration.sum","us","12.5"' ;;
        esac
        """
            .replace("FOLDER", folder.toString()));
    assertThat(ncu.toFile().setExecutable(true)).isTrue();
    LadderRequest request =
        new LadderRequest(
            64,
            32,
            16,
            DType.F32,
            List.of("naive"),
            null,
            null,
            1,
            5,
            LadderRequest.Task.PROFILE,
            new LadderRequest.Files(null, report));
    Map<String, Map<String, String>> counted =
        LadderProfile.run(ncu.toString(), request, List.of(Ladder.require("naive")), line -> {});
    assertThat(counted).isEqualTo(Map.of("naive", Map.of("time", "12.5 us")));
    List<String> calls = Files.readAllLines(folder.resolve("calls"));
    assertThat(calls).hasSize(2);
    assertThat(calls.getFirst())
        .startsWith("--export " + report + " --force-overwrite --set full --import-source yes")
        .contains(
            "M=64 N=32 K=16 --launch dtype=f32", "--sources " + folder.resolve("rungs-sources"))
        .endsWith("--rung naive");
    assertThat(calls.getLast()).isEqualTo("--import " + report + " --csv");
    assertThatThrownBy(
            () ->
                LadderProfile.run(
                    folder.resolve("none").toString(),
                    request,
                    List.of(Ladder.require("naive")),
                    line -> {}))
        .isInstanceOf(DeviceError.class)
        .hasMessageStartingWith("cannot start ncu, Nsight Compute, which --profile needs: ")
        .hasMessageNotContaining("\n");
  }
}
