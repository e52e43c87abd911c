package dev.warpwright.cli.schema;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import dev.warpwright.cli.Main;
import dev.warpwright.cli.program.OwnFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What commands print with {@code --json} is what their schemas say, and says nothing that they do
 * not: a new member belongs into the schema.
 */
final class SchemasTest {
  private static final Path SCHEMAS = Path.of("..", "docs", "schemas");
  private static final String ENDING = ".schema.json";
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;

  private static String run(int expected, String... arguments) {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    int code =
        Main.execute(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            arguments);
    assertThat(code).as(err.toString(StandardCharsets.UTF_8)).isEqualTo(expected);
    return out.toString(StandardCharsets.UTF_8);
  }

  private static JsonSchema schema(String command) throws IOException {
    JsonNode tree = JSON.readTree(Files.readString(SCHEMAS.resolve(command + ENDING)));
    close(tree);
    return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(tree);
  }

  /** Members that a schema does not name are no errors for its readers, but here. */
  private static void close(JsonNode node) {
    if (node instanceof ObjectNode object
        && object.path("properties").isObject()
        && !object.has("additionalProperties")) {
      object.put("additionalProperties", false);
    }
    node.forEach(SchemasTest::close);
  }

  private static Set<ValidationMessage> problems(String command, String output) throws IOException {
    return schema(command).validate(JSON.readTree(output));
  }

  @Test
  void everyCommandHasASchema() throws IOException {
    String help = run(0, "--help");
    Set<String> commands =
        Pattern.compile("(?m)^  ([a-z]+) {2,}")
            .matcher(help.substring(help.indexOf("Commands:")))
            .results()
            .map(m -> m.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    try (Stream<Path> files = Files.list(SCHEMAS)) {
      Set<String> described =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(ENDING))
              .map(name -> name.substring(0, name.length() - ENDING.length()))
              .collect(Collectors.toCollection(TreeSet::new));
      // There are commands for those who develop this, which the help does not list.
      assertThat(described).containsAll(commands).contains("accept", "manual", "shapes");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "run ../models/digits-relu-128-64/model.onnx --target cpu --time 0",
        "run ../models/digits-relu-128-64/model.onnx --target cpu --time 0 --input"
            + " ../models/digits-relu-128-64/input.npy --expect"
            + " ../models/digits-relu-128-64/expected_f64.npy",
        "run mlp widths=8,8 rows=5 --target sim --precision f16 --out @y.npy",
        "run attention HQ=2 HKV=1 D=16 T=2 S=7 --target cpu",
        "plan ../models/digits-relu-128-64/model.onnx --target cpu",
        "plan mlp widths=64,64 rows=16 dtype=f16 --target sm_90a",
        "plan attention HQ=8 HKV=2 D=64 T=1 S=127",
        "kernel @norms.ir",
        "kernel @norms.ir --print",
        "kernel @norms.ir --schedule @steps.txt --lower --out @norms.kernel",
        "kernel @norms.ir --schedule @steps.txt --simulate rows=64 --seed 1",
        "kernel @norms.ir --run rows=64 --seed 1",
        "kernel @small.kernel --simulate m=3",
        "check @small.kernel --seed 1",
        "check @small.kernel --print C --steps 0-1 --seed 1",
        "check attention B=1 HQ=2 HKV=1 D=16 S=17 --seed 1",
        "tune @norms.ir rows=64 t=2 -o @tuned",
        "perf fleet",
        "explain attention HQ=32 HKV=8 D=128 S=4096",
        "explain ffn M=64 D=128 H=256 dtype=bf16 --device A100",
        "db list --db @a.db",
        "db export @a.jsonl --db @a.db",
        "db prune --db @a.db",
        "jobs",
        "order search grid=2x3 capacity=4 seconds=2",
        "order search grid=1x2 chained=1 parts=2 capacity=4 seconds=2",
        "order show grid=2x3 capacity=4 chained=2 results=cached order=partial:2",
        "order show grid=2x3 capacity=4 order=hilbert",
        "order score grid=4x4 capacity=4 chained=2",
        "analyze gemm MNK=1024",
        "analyze gemm M=1..4 N=64 K=64",
        "analyze attention M=4 S=128",
        "ladder --target sim MN=32 K=16 --rung shared",
        "ladder MNK=64 --predict --no-chart --rung naive",
        "export @norms.ir --schedule @steps.txt rows=64 --target sm_80 -o @exported",
        "shapes --list --count 2 --seed 3",
        "devices",
        "version",
        "completion",
        "manual @man"
      })
  void printsWhatItsSchemaSays(String line) throws IOException {
    OwnFiles.write(folder);
    String[] words = (line + " --json").replace("@", folder + "/").split(" ");
    String output = run(0, words);
    assertThat(problems(words[0], output)).as("%s%n%s", line, output).isEmpty();
  }

  @Test
  void tellsOfARaceByItsSchema() throws IOException {
    OwnFiles.write(folder);
    String output = run(1, "check", folder + "/race.kernel", "--seed", "1", "--json");
    assertThat(problems("check", output)).as(output).isEmpty();
  }

  /** The schemas can say no: what lacks a member, or has one of another type, is refused. */
  @Test
  void refusesWhatIsNoOutput() throws JsonProcessingException, IOException {
    assertThat(problems("version", "{\"version\": 3, \"java\": \"25\", \"platform\": \"x\"}"))
        .isNotEmpty();
    assertThat(problems("tune", "{\"file\": \"a.ir\"}")).isNotEmpty();
    assertThat(problems("devices", "[]")).isNotEmpty();
  }
}
