package dev.warpwright.cli.orders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands {@code order} and {@code analyze} from words to output. */
final class OrderAndAnalyzeTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @TempDir Path folder;

  private int execute(String... args) {
    out.reset();
    err.reset();
    return Main.execute(stream(out), stream(err), args);
  }

  private static PrintStream stream(ByteArrayOutputStream to) {
    return new PrintStream(to, true, StandardCharsets.UTF_8);
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource({"optimal, 10", "lru, 10", "fifo, 10"})
  void searchKeepsItsContract(String policy, int loads) {
    int code = execute("order", "search", "grid=4x4", "capacity=4", "policy=" + policy, "--json");
    assertThat(code).isZero();
    assertThat(out())
        .contains(
            "\"loads\": " + loads + ",", "\"lowerBound\": " + loads + ",", "\"proven\": true");
    assertThat(out()).containsPattern("\"path\": \\[(\\[\\d, \\d\\](, )?){16}\\]");
  }

  @Test
  void aFoundOrderCanBeReadAgain() throws IOException {
    execute("order", "search", "grid=3x4", "capacity=3", "policy=lru");
    Path file = folder.resolve("order.txt");
    Files.writeString(file, out());
    out.reset();
    int code = execute("order", "score", "grid=3x4", "capacity=3", "policy=lru", "file=" + file);
    assertThat(code).isZero();
    assertThat(out()).containsPattern(file + " +9 +").contains("cache: lru (search: optimal");
  }

  @Test
  void filesWithSeveralOrdersAreReadByTheirLines() throws IOException {
    Path file = folder.resolve("orders.txt");
    Files.writeString(
        file,
        """
        outer_width = 2, inner_width = 1
        t = 1 Order: [(0, 0), (1, 0), (1, 1), (0, 1)]
        t = 1 Order: [(0, 0), (1, 1), (1, 0), (0, 1)]
        """);
    String score = "order score grid=2x2 capacity=2 file=" + file;
    assertThat(execute(score.split(" "))).isZero();
    assertThat(out()).containsPattern(file + ":1 +5 +").containsPattern(file + ":3 +7 +");
    assertThat(execute((score + " line=3").split(" "))).isZero();
    assertThat(out()).containsPattern(file + ":3 +7 +").doesNotContain(file + ":1 ");
    assertThat(execute((score + " line=2").split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("line=2; they begin on lines 1, 3");
    String measure = "order measure M=256 N=256 K=64 from=simulator file=" + file;
    assertThat(execute(measure.split(" "))).isZero();
    assertThat(out()).contains("explicit:0,0;0,1;1,1;1,0 ", "explicit:0,0;1,1;0,1;1,0 ");
    assertThat(execute((measure + " line=3 tile=64x64").split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("4 tiles for a grid of 4 x 4");
  }

  /** A found or drawn order of two chained products runs as it stands in its file. */
  @Test
  void ordersOfTwoChainedProductsAreMeasured() throws IOException {
    String chain = "order measure M=128 N=128 K=32 N2=64 tile=64x64 from=simulator gpu=3050 ";
    assertThat(execute((chain + "order=row,rows:1,mixed:1,halves").split(" "))).isZero();
    assertThat(out()).contains("row            row", "mixed:1        row").doesNotContain("WRONG");
    assertThat(execute((chain + "order=row wait=grid,row").split(" "))).isZero();
    assertThat(out()).contains("row            grid");
    String drawn = "order=explicit:1,1,0;1,0,0;1,0,1;0,0,0;0,1,0;0,0,1";
    assertThat(execute((chain + drawn).split(" "))).isZero();
    assertThat(out()).contains("explicit       row").doesNotContain("WRONG");
    assertThat(execute((chain + "order=explicit:0,0,0;0,1").split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("order=explicit: tile 1 is '0,1'; write row,column,gemm");
    Path file = folder.resolve("chain.txt");
    Files.writeString(
        file, "t1 = 1 Order 0: [(1,1,0), (0,1,0), (0,1,1), (0,0,0), (1,0,0), (0,0,1)]");
    assertThat(execute((chain + "file=" + file).split(" "))).isZero();
    assertThat(out()).contains("line 1         row").doesNotContain("WRONG");
    assertThat(execute((chain + "wait=grid file=" + file).split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("for which it waits, too (wait=grid)");
    assertThat(execute((chain + "wait=tile,rows:2 file=" + file).split(" "))).isZero();
    assertThat(out())
        .contains("line 1         tile", "of the first one is done, for which it waits, too");
    assertThat(execute((chain + "wait=tile file=" + file).split(" "))).isZero();
    assertThat(out()).contains("line 1         tile").doesNotContain("WRONG");
    assertThat(execute((chain + "wait=rows:2 order=row").split(" "))).isZero();
    assertThat(out()).contains("row            rows:2").doesNotContain("WRONG");
    Files.writeString(
        file, "t1 = 1 Order 0: [(1,1,0), (0,1,1), (0,1,0), (0,0,0), (1,0,0), (0,0,1)]");
    assertThat(execute((chain + "file=" + file).split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("line 1: tile (1, 0) of matmul 1, number 1 of the order, comes before row 1");
  }

  /**
   * Partial sums of the second matmul: searched with their proof, shown, drawn, and read again from
   * what was printed; an order's name or its file says how many parts there are.
   */
  @Test
  void partialSumsAreSearchedShownAndScored() throws IOException {
    String grid = "grid=2x4 chained=1 results=cached capacity=5";
    assertThat(execute(("order search policy=lru parts=2 seconds=60 " + grid).split(" "))).isZero();
    assertThat(out()).contains("proven to be the least", "t1 = 1, parts = 2 Order 0: [");
    long loads = Long.parseLong(out().substring(0, out().indexOf(' ')));
    Path file = folder.resolve("partial.txt");
    Files.writeString(file, out());
    assertThat(execute(("order score " + grid + " file=" + file).split(" "))).isZero();
    assertThat(out()).containsPattern(file + " +" + loads + " ");
    assertThat(execute(("order score " + grid + " --json").split(" "))).isZero();
    assertThat(out())
        .contains(
            "\"order\": \"rows:1\", \"parts\": 1",
            "\"order\": \"partial:2\", \"parts\": 2",
            "\"order\": \"partial:8\", \"parts\": 4");
    Path svg = folder.resolve("partial.svg");
    Path csv = folder.resolve("partial.csv");
    String show = "order show " + grid + " order=partial:2 --svg " + svg + " --csv " + csv;
    assertThat(execute(show.split(" "))).isZero();
    assertThat(out()).contains("    0    1    3    4", "1:(0,0,0)", "1:(0,0,1)");
    assertThat(Files.readString(svg)).contains("stroke-dasharray").contains("width=\"22\"");
    assertThat(Files.readString(csv)).contains("\n2,1:0:0:0,").contains("\n5,1:0:0:1,");
    assertThat(execute((show + " --json").split(" "))).isZero();
    assertThat(out())
        .contains("\"parts\": 2", "\"path\": [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]");
    assertThat(execute(("order search parts=5 " + grid).split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("there are 1 to 4").hasLineCount(1);
  }

  /**
   * Partial sums in one kernel, of two columns of C each of a part, and as they stand in a file.
   */
  @Test
  void ordersInPartsAreMeasured() throws IOException {
    String chain = "order measure M=128 N=128 K=32 N2=64 tile=64x64 gpu=3050 ";
    assertThat(
            execute(
                (chain + "from=simulator order=partial:2,partial:2:2 wait=row,tile").split(" ")))
        .isZero();
    assertThat(out())
        .contains("partial:2      row", "partial:2      tile", "partial:2:2    tile")
        .doesNotContain("WRONG");
    assertThat(execute((chain + "from=simulator order=partial:2 wait=rows:2").split(" ")))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("comes before part 0 of row 1 of the first one is done");
    Path file = folder.resolve("parts.txt");
    Files.writeString(
        file,
        "t1 = 1, parts = 2 Order 0: [(1,1,0), (0,1,1,1), (0,0,0), (0,1,0), (0,1,1,0), (0,0,1,0),"
            + " (1,0,0), (0,0,1,1)]");
    assertThat(execute((chain + "from=simulator file=" + file).split(" "))).isZero();
    assertThat(out()).contains("line 1         row").doesNotContain("WRONG");
    String drawn = "order=explicit:0,0,0;0,0,1,0;0,1,0;0,0,1,1;1,0,0;1,1,0;1,0,1,1;1,0,1,0";
    assertThat(execute((chain + "from=simulator wait=tile " + drawn).split(" "))).isZero();
    assertThat(out()).contains("explicit       tile").doesNotContain("WRONG");
    assertThat(execute((chain + "from=model order=partial:2,rows:1").split(" "))).isZero();
    assertThat(out()).containsPattern("partial:2 +row .*- \\(\\d+%\\)");
    assertThat(execute((chain + "order=explicit:0,0,0;0,0,1,1").split(" ")))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("comes before part 1 of row 0 of matmul 0 is done");
  }

  @Test
  void filesThatAreNoOrdersAreRefusedByTheirLine() throws IOException {
    Path file = folder.resolve("order.txt");
    Files.writeString(file, "t1 = 1 Order 0: [(0, 0, 0)]\nand more\n");
    for (String[] wrong :
        new String[][] {
          {file.toString(), file + ": line 2: behind an order only another one may follow"},
          {folder.toString(), folder + ": is a folder; give a file"},
          {"/dev/zero", "/dev/zero: is no regular file"}
        }) {
      int code = execute("order", "score", "grid=1x1", "capacity=4", "file=" + wrong[0]);
      assertThat(code).isEqualTo(ExitCode.USAGE);
      assertThat(err.toString(StandardCharsets.UTF_8)).contains(wrong[1]).hasLineCount(1);
    }
  }

  @Test
  void loadsAndStoresStandBesideTheirOwnBounds() {
    execute("order", "score", "grid=4x4", "capacity=4", "chained=2", "order=row", "at=1");
    assertThat(out()).contains("loads   of bound     stores   of bound");
    assertThat(out()).containsPattern("row +\\d+ +\\d\\.\\d\\dx +24 +1.00x");
  }

  @Test
  void modelsDevicesAndRangesAreAnalyzed() throws IOException {
    Path model = folder.resolve("m.json");
    Files.writeString(
        model, "{\"layers\": [{\"name\": \"up\", \"N\": 13824, \"K\": 5120, \"times\": 40}]}");
    Path device = folder.resolve("d.json");
    Files.writeString(
        device, "{\"name\": \"my card\", \"like\": \"a100\", \"GBs\": 1000, \"GB\": 4}");
    assertThat(execute("analyze", "file=" + model, "M=64", "gpufile=" + device)).isZero();
    assertThat(out()).contains("my card: 312 TFLOP/s, 1000 GB/s", "does not fit: 5.66 GB");
    out.reset();
    assertThat(execute("analyze", "gemm", "MNK=1000000000")).isZero();
    assertThat(out().lines().filter(line -> line.startsWith("does not fit: 6000000000.00 GB")))
        .hasSize(1);
    assertThat(out()).contains("all parts, fused: at least 64081 years");
    assertThat(execute("analyze", "file=" + model)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("no M; give it there");
    assertThat(execute("analyze", "ffn", "M=1..100", "gpu=a100")).isZero();
    assertThat(out().lines().filter(line -> line.matches(" +\\d+ .*(memory|compute)"))).hasSize(8);
    assertThat(execute("analyze", "ffn", "M=9..2")).isEqualTo(ExitCode.USAGE);
    assertThat(execute("analyze", "gemm", "M=1..2", "N=1..2", "K=1")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void devicesWithoutTheTypeAreSkippedWithANote() {
    assertThat(execute("analyze", "gemm", "MNK=4096", "dtype=fp8", "gpu=a100,h200")).isZero();
    assertThat(out())
        .contains("H200 SXM: 1979 TFLOP/s", "A100 SXM 80 GB is skipped: it multiplies no e4m3");
  }

  @Test
  void tablesAndPicturesAreWritten() throws IOException {
    Path csv = folder.resolve("t.csv");
    Path svg = folder.resolve("t.svg");
    String[] files = {"--csv", csv.toString(), "--svg", svg.toString()};
    assertThat(execute(words("order show grid=3x3 capacity=4 order=hilbert", files))).isZero();
    assertThat(Files.readAllLines(csv)).hasSize(10).first().asString().startsWith("step,tiles");
    assertThat(Files.readString(svg)).startsWith("<svg ").contains("marker-end");
    assertThat(execute(words("analyze model=llama3-8b M=16 gpu=a100,h200", files))).isZero();
    assertThat(Files.readAllLines(csv)).hasSize(15);
    assertThat(Files.readString(svg)).contains("A100 SXM 80 GB").endsWith("</svg>\n");
  }

  private static String[] words(String line, String[] more) {
    String[] words = line.split(" ");
    String[] all = java.util.Arrays.copyOf(words, words.length + more.length);
    System.arraycopy(more, 0, all, words.length, more.length);
    return all;
  }

  @Test
  void analyzeTellsWhatIsBoundByMemory() {
    assertThat(execute("analyze", "ffn", "M=16", "gpu=a100,a40,4090,3050,h200")).isZero();
    assertThat(out()).contains("H200 SXM", "RTX 3050 Laptop", "memory").doesNotContain("compute");
    assertThat(execute("analyze", "gemm", "MNK=8192", "--json")).isZero();
    assertThat(out())
        .contains("\"boundBy\": \"compute\"", "\"waves\": ", "\"hitRate\": ", "\"fitsL2\": false");
  }

  /** Without a GPU: what is predicted of each order, waiting included. */
  @Test
  void chainedOrdersArePredicted() {
    String words = "order measure M=8192 N=1024 K=256 N2=1024 tile=128x128 from=model gpu=h200";
    assertThat(execute((words + " order=row,rows:1 wait=row,grid").split(" "))).isZero();
    List<String> lines = out().lines().toList();
    assertThat(lines.get(1)).contains("waiting (pred.)").contains("L2 hits (pred.)");
    assertThat(lines.get(2)).matches("row            row .*- \\(\\d+%\\) +- \\(\\d+%\\)");
    assertThat(out())
        .contains("order=rows:1 wait=grid is not possible: tile (0, 0) of the second grid")
        .contains("for which it waits, too (wait=grid)")
        .doesNotContainPattern("rows:1 +grid");
    assertThat(execute((words + " order=rows:4,rows:1 wait=rows:4,tile").split(" "))).isZero();
    assertThat(out())
        .containsPattern("rows:4 +rows:4 +.*\\(\\d+")
        .containsPattern("rows:4 +tile +.*\\(\\d+")
        .containsPattern("rows:1 +tile +.*\\(\\d+")
        .contains("order=rows:1 wait=rows:4 is not possible: ");
    assertThat(execute((words + " order=rows:1 wait=grid").split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("is not possible: tile (0, 0)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "order measure M=512 N=512 K=64 N2=128 from=tea | model: of two GEMMs (N2=) nothing is",
        "order measure M=512 N=512 K=64 N2=128 wait=column | wait=column: a tile waits for 'tile', 'row', 'rows:N'",
        "order | Missing required parameter",
        "order fly | none of search, show, score and measure",
        "order search | no grid; give grid=4x4",
        "order search grid=4x4 | no value for capacity",
        "order search grid=4 capacity=3 | grid=4: write rows",
        "order search grid=4x4 capacity=1 | capacity 1 cannot hold",
        "order search grid=4x4 capacity=x | capacity=x: it is a whole number",
        "order search grid=4x4 capacity=4 policy=mru | policy 'mru'",
        "order search grid=4x4 capacity=4 seconds=-1 | seconds=-1",
        "order search grid=4x4 capacity=4 colour=red | there is no 'colour'",
        "order search grid=4x4 grid=2x2 capacity=4 | two values for grid",
        "order search grid=99999x99999 capacity=4 | too large",
        "order search grid=9999999x9999999 capacity=4 | too large",
        "order show grid=4x4 capacity=4 | needs order=",
        "order show grid=4x4 capacity=4 order=zig | order 'zig'",
        "order score grid=4x4 capacity=4 file=/no/such | no such file",
        "order score grid=4x4 capacity=4 --svg x.svg | draws one order",
        "analyze | what to analyze?",
        "analyze gemm M=1 | needs a value of N",
        "analyze gemm MNK=1 model=gpt3 | not both",
        "analyze gemm MNK=1 gpu=voodoo | not in the catalogue",
        "analyze gemm MNK=4096 dtype=fp8 gpu=a100 | multiplies no e4m3",
        "analyze model=bert M=1 | none of llama3-8b",
        "analyze model=gpt3 M=5 batch=2 | no multiple of batch=2"
      })
  void badUsageIsOneLine(String line, String message) {
    assertThat(execute(line.split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8).lines()).hasSize(1);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains(message);
    assertThat(out()).isEmpty();
  }
}
