package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The list of passes: each says before → after, has a golden text of what it makes of a program,
 * and asks the target for what it can do, not for its name. {@code -Dgoldens.update=true} rewrites
 * the texts.
 */
class PassListTest {
  private static final Path GOLDENS = Path.of("src/test/resources/dev/warpwright/lower/flow");
  private static final Path SOURCES = Path.of("src/main/java/dev/warpwright/lower");
  private static final String TILES =
      "../../../../../../../tiles/src/main/java/dev/warpwright/lower/";

  /** The passes in their order, and where they are. */
  private static final Map<String, Path> PASSES = new LinkedHashMap<>();

  static {
    for (String pass :
        List.of(
            TILES + "tile/DistributeWork",
            TILES + "tile/PlanPipes",
            TILES + "tile/AssignRoles",
            TILES + "tile/PrefetchItems",
            "flow/ChooseMovement",
            "flow/PlanShared",
            "flow/LowerPipes",
            "flow/LowerTiles",
            "../../../../../../../ir/src/main/java/dev/warpwright/ir/arith/Simplify")) {
      PASSES.put(pass.substring(pass.lastIndexOf('/') + 1), SOURCES.resolve(pass + ".java"));
    }
  }

  /** It refuses what does not fit, and changes nothing. */
  private static final Set<String> CHECKS = Set.of("PlanShared");

  /**
   * Told only where operands are packed in front of all tiles ({@code GridPrologueTest}), where
   * they are gathered to registers ({@code HalveGathersTest}), where products are computed some
   * columns at a time, which goldens of warps have, where waits move ({@link EarlyWaitsTest}), or
   * where layers are a loop ({@link SimtWarpLoweringTest}), or rows are read by formulas ({@link
   * PrefetchRowsTest}).
   */
  private static final Map<String, Path> SOMETIMES =
      Map.of(
          "GridPrologue", SOURCES.resolve("copy/GridPrologue.java"),
          "HalveGathers", SOURCES.resolve(TILES + "tile/HalveGathers.java"),
          "SplitColumns", SOURCES.resolve(TILES + "tile/SplitColumns.java"),
          "EarlyWaits", SOURCES.resolve("flow/EarlyWaits.java"),
          "PrefetchRows", SOURCES.resolve("copy/PrefetchRows.java"),
          "RollLayers", SOURCES.resolve("flow/RollLayers.java"));

  /** Items that are dealt out; rows that are read ahead, weights that stay; and no roles. */
  private static final Map<String, PrimFunc> PROGRAMS =
      Map.of(
          "gemm",
              DistributedGemmTest.gemm(
                  128, 64, 128, 64, 32, 64, 3, 2, "consumers = 1, producers = 1"),
          "network", FlowPrograms.network("f16", 64, 1, 2, false, 2),
          "block", BlockLoweringTest.persistent(72, 72, 104, 3));

  private static String code(Path source) throws IOException {
    String text = Files.readString(source);
    return text.replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("//[^\\n]*", "");
  }

  private static List<Path> sources(Path below) throws IOException {
    try (Stream<Path> files = Files.walk(below)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }

  @Test
  void nobodyAsksForATargetsName() throws IOException {
    Pattern named =
        Pattern.compile(
            "\"[^\"\\n]*sm_\\d|\\bSM_\\d|hasAmpere|hasHopper|\\barch\\(\\)"
                + "|arget(\\(\\))?\\.name\\(\\)\\s*\\.\\s*(equals|startsWith|contains|matches)");
    List<String> found = new ArrayList<>();
    for (String module : List.of("lower", "tiles", "threads", "host")) {
      for (Path source : sources(Path.of("..", module).resolve(SOURCES))) {
        Matcher matcher = named.matcher(code(source));
        while (matcher.find()) {
          found.add(source + ": " + matcher.group());
        }
      }
    }
    assertThat(found).isEmpty();
    // The pattern finds what it is for.
    assertThat(named.matcher("if (target.name().equals(\"sm_90a\"))").find()).isTrue();
  }

  @Test
  void theListIsAllThatTells() throws IOException {
    Set<String> told = new TreeSet<>();
    Pattern tell = Pattern.compile("tell\\(\\s*\"(\\w+)\"");
    for (String below : List.of("flow", "copy", TILES + "tile")) {
      for (Path source : sources(SOURCES.resolve(below))) {
        Matcher matcher = tell.matcher(code(source));
        while (matcher.find()) {
          told.add(matcher.group(1));
        }
      }
    }
    Set<String> known = new TreeSet<>(PASSES.keySet());
    known.addAll(SOMETIMES.keySet());
    assertThat(told).isEqualTo(known);
  }

  @Test
  void eachSaysBeforeAndAfter() throws IOException {
    Map<String, Path> all = new LinkedHashMap<>(PASSES);
    all.putAll(SOMETIMES);
    for (Map.Entry<String, Path> pass : all.entrySet()) {
      String text = Files.readString(pass.getValue());
      Matcher doc =
          Pattern.compile(
                  "(?s)/\\*\\*(?:(?!\\*/).)*\\*/\\s*(?:public )?final class " + pass.getKey())
              .matcher(text);
      assertThat(doc.find()).as(pass.getKey()).isTrue();
      if (CHECKS.contains(pass.getKey())) {
        assertThat(doc.group()).contains("Changes nothing");
      } else {
        assertThat(doc.group()).as(pass.getKey()).contains("<pre>").contains("→");
      }
    }
  }

  @Test
  void eachHasAGoldenText() throws IOException {
    Set<String> changing = new TreeSet<>();
    Set<String> names = new TreeSet<>();
    for (Map.Entry<String, PrimFunc> program : PROGRAMS.entrySet()) {
      List<String> passes = new ArrayList<>();
      String[] last = {IrPrinter.text(program.getValue())};
      Map<String, String> texts = new LinkedHashMap<>();
      PassListener listener =
          (pass, text) -> {
            passes.add(pass);
            texts.put(pass, text.get());
          };
      Lowering.lower(program.getValue(), GpuTarget.SM_90A, listener);
      assertThat(passes).containsExactlyElementsOf(PASSES.keySet());
      int number = 0;
      names.add(program.getKey() + "-0.txt");
      golden(program.getKey() + "-0.txt", last[0]);
      for (Map.Entry<String, String> behind : texts.entrySet()) {
        number++;
        if (behind.getValue().equals(last[0])) {
          continue;
        }
        last[0] = behind.getValue();
        changing.add(behind.getKey());
        String name = program.getKey() + "-" + number + "-" + behind.getKey() + ".txt";
        names.add(name);
        golden(name, behind.getValue());
      }
    }
    Set<String> all = new TreeSet<>(PASSES.keySet());
    all.removeAll(CHECKS);
    assertThat(changing).as("passes that change a program").isEqualTo(all);
    if (Boolean.getBoolean("goldens.update")) {
      // Files carry the pass's number: behind a new pass all others have another name.
      try (Stream<Path> files = Files.list(GOLDENS)) {
        for (Path file : files.toList()) {
          if (!names.contains(file.getFileName().toString())) {
            Files.delete(file);
          }
        }
      }
    }
    try (Stream<Path> files = Files.list(GOLDENS)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(names);
    }
  }

  private static void golden(String name, String text) throws IOException {
    Path file = GOLDENS.resolve(name);
    if (Boolean.getBoolean("goldens.update")) {
      Files.createDirectories(GOLDENS);
      Files.writeString(file, text);
      return;
    }
    assertThat(file).as("run with -Dgoldens.update=true if that is meant").exists();
    assertThat(text).as(name).isEqualTo(Files.readString(file));
  }

  /** The table of {@code docs/architecture.md} names the passes of each list in their order. */
  @ParameterizedTest
  @ValueSource(
      strings = {"lower/flow/Lowering", "threads/simt/SimtLowering", "host/host/HostLowering"})
  void theDocumentHasThePassesInTheirOrder(String file) throws IOException {
    String name = file.substring(file.lastIndexOf('/') + 1);
    Matcher row =
        Pattern.compile("`(?:lower\\.flow\\.)?" + name + "`: ([\\w, ]+)")
            .matcher(Files.readString(Path.of("../docs/architecture.md")));
    assertThat(row.find()).as("a row of %s", name).isTrue();
    Path module = Path.of("..", file.substring(0, file.indexOf('/')));
    Path inModule = SOURCES.resolve(file.substring(file.indexOf('/') + 1) + ".java");
    String source = Files.readString(module.resolve(inModule));
    List<String> told = new ArrayList<>();
    Matcher calls =
        Pattern.compile("\\b([A-Z]\\w+)\\.(?:apply|kernel)\\(|tell\\(\"(\\w+)\"").matcher(source);
    while (calls.find()) {
      told.add(calls.group(1) == null ? calls.group(2) : calls.group(1));
    }
    List<String> passes = List.of(row.group(1).strip().split(", "));
    assertThat(told).containsAll(passes);
    assertThat(passes).containsAll(told.stream().distinct().toList());
    assertThat(passes.stream().map(told::indexOf).toList())
        .as("the order of %s", passes)
        .isSorted();
  }
}
