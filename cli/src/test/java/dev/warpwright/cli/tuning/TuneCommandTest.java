package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.networks.NetworkTuneRequest;
import dev.warpwright.cli.output.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class TuneCommandTest {
  /** Instead of starting a job. */
  private static final class Background extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  @ParameterizedTest
  @CsvSource({
    "MNK=64, foreground, template",
    "MNK=64 O=0, background, template",
    "MNK=64 O=1, background, free",
    "MNK=64 O=65536, foreground, template",
    "MNK=64 O=65537, foreground, free",
    "MNK=64 space=free, foreground, free",
    "MNK=64 --detach, background, template",
  })
  void oSaysWhereAndWhatIsSearched(String arguments, String where, String space) {
    List<TuneRequest> requests = new ArrayList<>();
    boolean background = where.equals("background");
    TuneCommand command = command(requests, background);
    new CommandLine(command).parseArgs(("gemm " + arguments).split(" "));
    boolean detached = false;
    try {
      command.perform(line -> {});
    } catch (Background e) {
      detached = true;
    }
    assertThat(detached).isEqualTo(background);
    if (!background) {
      assertThat(requests.getFirst().searches().getFirst().options().free())
          .isEqualTo(space.equals("free"));
    }
  }

  @Test
  void networksGetWhatTheirGemmsLeaveOfTheTime() {
    NetworkTask task =
        NetworkTask.of(
            "mlp", new KeyValues(List.of("widths=512,512,512", "rows=16", "dtype=f16")), null);
    List<NetworkTuneRequest.Search> layers =
        List.of(
            new NetworkTuneRequest.Search(task, 9, 25), new NetworkTuneRequest.Search(task, 9, 75));
    TuneRequest.Together each = new TuneRequest.Together(0, 0);
    assertThat(TuneCommand.shared(layers, each, 300))
        .as("300 s were theirs")
        .extracting(NetworkTuneRequest.Search::seconds)
        .containsExactly(25.0, 75.0);
    assertThat(TuneCommand.shared(layers, each, 100))
        .extracting(NetworkTuneRequest.Search::seconds)
        .containsExactly(125.0, 175.0);
    TuneRequest.Together all = new TuneRequest.Together(80, 0);
    assertThat(TuneCommand.shared(layers, all, 20))
        .as("20 s of 80 are for networks, and 40 were left")
        .extracting(NetworkTuneRequest.Search::seconds)
        .containsExactly(30.0, 30.0);
    assertThat(TuneCommand.shared(layers, all, 90))
        .extracting(NetworkTuneRequest.Search::seconds)
        .containsExactly(10.0, 10.0);
  }

  /** What the job in the background does with the same arguments. */
  @ParameterizedTest
  @CsvSource({"O=0, false", "O=1, true"})
  void theJobSearchesWhatWasAskedFor(String letter, boolean free) {
    List<TuneRequest> requests = new ArrayList<>();
    TuneCommand command = command(requests, false);
    new CommandLine(command).parseArgs("gemm", "MNK=64", letter);
    String before = System.setProperty("warpwright.job", "/nowhere");
    try {
      command.perform(line -> {});
    } finally {
      if (before == null) {
        System.clearProperty("warpwright.job");
      } else {
        System.setProperty("warpwright.job", before);
      }
    }
    assertThat(requests.getFirst().searches().getFirst().options().free()).isEqualTo(free);
  }

  /** One kernel is searched for as a whole; wider networks product by product, and then, too. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp widths=64,64,64 rows=1000 t=12|1|0",
        "mlp widths=64,64,64 M=1000|1|0",
        "mlp widths=784,1024,1024,16 M=64 dtype=bf16 bias=1|1|3",
        "ffn M=16 K=64 N=128|1|0|0",
        "ffn M=16 D=1024 H=1040|1|2",
        "ffn M=16 D=1024 H=1040 gated=1 act=gelu bias=1|1|2",
        "../models/digits-relu-128-64/model.onnx rows=128 dtype=f16|1|0"
      })
  void networksAreTunedAsAWholeWhereOneKernelCarriesThem(
      String arguments, int networks, int products) {
    List<TuneRequest> requests = new ArrayList<>();
    List<NetworkTuneRequest> whole = new ArrayList<>();
    Report done = new Report(true, "", Json.object());
    TuneCommand command =
        new TuneCommand(
            (request, progress) -> {
              requests.add(request);
              return done;
            },
            (request, progress) -> {
              whole.add(request);
              return done;
            },
            (request, progress) -> {
              throw new AssertionError("no function is asked for");
            },
            () -> {
              throw new Background();
            });
    new CommandLine(command).parseArgs(arguments.split(" "));
    command.perform(line -> {});
    assertThat(whole).hasSize(networks);
    assertThat(requests).hasSize(products == 0 ? 0 : 1);
    if (products == 0) {
      assertThat(whole.getFirst().searches().getFirst().trials())
          .isEqualTo(arguments.contains("t=12") ? 12 : 200);
    } else {
      assertThat(requests.getFirst().searches().getFirst().products().workloads())
          .hasSize(products);
      assertThat(requests.getFirst().searches().getFirst().options().limits().seconds())
          .isEqualTo(450);
      assertThat(whole.getFirst().searches().getFirst().seconds())
          .as("150 are the network's, and its GEMMs have taken next to nothing of theirs")
          .isBetween(500.0, 600.0);
    }
  }

  private static TuneCommand command(List<TuneRequest> requests, boolean background) {
    return new TuneCommand(
        (request, progress) -> {
          requests.add(request);
          return new Report(true, "", Json.object());
        },
        (request, progress) -> {
          throw new AssertionError("a GEMM is no network");
        },
        (request, progress) -> {
          throw new AssertionError("a GEMM is no function");
        },
        () -> {
          assertThat(background).as("no job is asked for").isTrue();
          throw new Background();
        });
  }

  private static TuneRequest together(String arguments) {
    List<TuneRequest> requests = new ArrayList<>();
    TuneCommand command = command(requests, false);
    new CommandLine(command).parseArgs(arguments.split(" "));
    command.perform(line -> {});
    return requests.getFirst();
  }

  @Test
  void linesOfAFileShareTheirTime(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("tasks"), "gemm MNK=256\ngemm MNK=512\n");
    assertThat(together("--file " + file).together()).isEqualTo(TuneRequest.Together.NOT);
    assertThat(together("--file " + file + " --seconds 90 --until 0.8").together())
        .isEqualTo(new TuneRequest.Together(90, 0.8));
    for (String wrong :
        List.of(
            "gemm MNK=256 --seconds 9",
            "--file " + file + " --until 1.5",
            "--file " + file + " --seconds -1",
            "--file " + file + " --conf spark.cores.max=4")) {
      assertThatThrownBy(() -> together(wrong)).isInstanceOf(UserError.class);
    }
  }

  @Test
  void whoLacksSparkIsToldHowToGetIt() {
    assertThatThrownBy(
            () -> together("gemm MNK=256 --on spark://there:7077 --db build/no-fleet.db"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("warpwright-spark is not on the class path")
        .hasMessageContaining("docs/fleet.md");
  }
}
