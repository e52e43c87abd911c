package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/primitives.md} says what the Javadoc of each primitive says. {@code
 * -Dgoldens.update=true} rewrites it.
 */
final class PrimitivesDocumentTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "primitives.md");
  private static final String FOLDER = "schedule/src/main/java/dev/warpwright/schedule/primitive/";

  /** What others call the same or nearly the same; TVM has many names as they are here. */
  private static final Map<String, String> ELSEWHERE =
      Map.ofEntries(
          Map.entry("blockOrder", "CUTLASS: threadblock swizzle, rasterisation"),
          Map.entry("bind", "TVM: bind"),
          Map.entry("blockize", "TVM: blockize"),
          Map.entry("cacheRead", "TVM: cache_read"),
          Map.entry("cacheWrite", "TVM: cache_write"),
          Map.entry("cluster", "CUDA: thread block cluster"),
          Map.entry("computeAt", "TVM: compute_at"),
          Map.entry("computeInline", "TVM: compute_inline"),
          Map.entry("decomposeReduction", "TVM: decompose_reduction"),
          Map.entry("fuse", "TVM: fuse"),
          Map.entry("merge", "TVM: merge"),
          Map.entry("multicast", "CUTLASS: TMA multicast"),
          Map.entry("pad", "TVM: pad_einsum"),
          Map.entry("parallel", "TVM: parallel"),
          Map.entry("persistent", "CUTLASS: persistent tile scheduler"),
          Map.entry("pipeline", "TVM: software_pipeline_stage; CUTLASS: stages"),
          Map.entry("reorder", "TVM: reorder"),
          Map.entry("reverseComputeAt", "TVM: reverse_compute_at"),
          Map.entry("reverseComputeInline", "TVM: reverse_compute_inline"),
          Map.entry("rfactor", "TVM: rfactor"),
          Map.entry("roles", "CUTLASS: warp specialisation"),
          Map.entry("sampleCategorical", "TVM: sample_categorical"),
          Map.entry("samplePerfectTile", "TVM: sample_perfect_tile"),
          Map.entry("setScope", "TVM: set_scope"),
          Map.entry("split", "TVM: split"),
          Map.entry("splitK", "CUTLASS: split-K"),
          Map.entry("storageAlign", "TVM: storage_align"),
          Map.entry("streamK", "CUTLASS: Stream-K"),
          Map.entry("tensorize", "TVM: tensorize"),
          Map.entry("transformLayout", "TVM: transform_layout"),
          Map.entry("unroll", "TVM: unroll"),
          Map.entry("vectorize", "TVM: vectorize"));

  @Test
  void saysWhatTheClassesSay() throws IOException, ClassNotFoundException {
    StringBuilder text =
        new StringBuilder(
            """
            # Schedule primitives

            Each is a method of [Schedule](../schedule/src/main/java/dev/warpwright/schedule/Schedule.java) and a class of its own, whose Javadoc this is (a test writes the page). Each keeps the
            results, refuses what would not, and is a step of the trace. [Writing a schedule](writing-a-schedule.md) uses some; [adding one](extending/primitive.md).

            """);
    for (Map.Entry<String, String> primitive : EveryPrimitiveTest.classes().entrySet()) {
      text.append(section(primitive.getKey(), primitive.getValue()));
    }
    if (Boolean.getBoolean("goldens.update")) {
      Files.writeString(DOCUMENT, text.toString());
    }
    assertThat(Files.readString(DOCUMENT))
        .as("-Dgoldens.update=true writes it again")
        .isEqualTo(text.toString());
  }

  private static String section(String name, String simple) throws IOException {
    String source =
        Files.readString(
            Path.of("src/main/java/dev/warpwright/schedule/primitive", simple + ".java"));
    Matcher javadoc = Pattern.compile("(?s)/\\*\\*(.*?)\\*/\\s*public ").matcher(source);
    assertThat(javadoc.find()).as("Javadoc of %s", simple).isTrue();
    String plain = javadoc.group(1).replaceAll("(?m)^ \\* ?", "");
    Matcher example = Pattern.compile("(?s)<pre>(?:\\{@code)?(.*?)\\}?</pre>").matcher(plain);
    String sentence = plain.strip().split("(?s)\\.\\s|<p>|<pre>", 2)[0].replaceAll("\\s+", " ");
    String elsewhere = ELSEWHERE.get(name);
    return "## "
        + name
        + "\n\n"
        + sentence.replaceAll("\\{@(?:code|link) #?([^}]*)\\}", "`$1`").strip()
        + (sentence.endsWith(".") ? "" : ".")
        + (elsewhere == null ? "" : " (" + elsewhere + ")")
        + " ["
        + simple
        + ".java](../"
        + FOLDER
        + simple
        + ".java)\n\n"
        + (example.find() ? "```\n" + example.group(1).strip() + "\n```\n\n" : "")
        + requirements(plain);
  }

  /** The numbered list, to whose numbers refusals point. */
  private static String requirements(String javadoc) {
    Matcher list = Pattern.compile("(?s)<ol>(.*?)</ol>").matcher(javadoc);
    if (!list.find()) {
      return "";
    }
    StringBuilder text = new StringBuilder("Requires:\n\n");
    int number = 0;
    for (String item : list.group(1).strip().split("<li>")) {
      if (!item.isBlank()) {
        text.append(++number).append(". ").append(plain(item)).append('\n');
      }
    }
    return text.append('\n').toString();
  }

  private static String plain(String javadoc) {
    return javadoc
        .replaceAll("\\s+", " ")
        .replaceAll("\\{@(?:code|link) #?([^}]*)\\}", "`$1`")
        .replaceAll("</?(?:li|b|i|em)>", "")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .strip();
  }
}
