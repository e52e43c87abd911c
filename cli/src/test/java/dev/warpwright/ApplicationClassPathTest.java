package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What an application gets that depends on {@code warpwright-compiler}: little, and enough. */
class ApplicationClassPathTest {
  /** What README.md and the guide for Java say, 3.0 MiB, as they round it. */
  private static final long MOST_BYTES = (long) (3.05 * (1 << 20));

  private static final String PREFIX = "warpwright-";

  /** A stranger's program: no class of it is on the class path of these tests. */
  private static final String APPLICATION =
      """
      import dev.warpwright.compiler.*;
      import dev.warpwright.target.GpuTarget;
      import java.nio.file.Path;
      public class Application {
        public static void main(String[] args) {
          Model file = Warpwright.load(Path.of(args[0]));
          try (var device = new CpuDevice(); var model = file.compile(device)) {
            System.out.println("outputs " + model.run(new float[3 * 64]).length);
          }
          try (var model = file.compile(new OfflineGpu(GpuTarget.SM_90A))) {
            System.out.println("cuda " + model.cudaSource(64).contains("__global__"));
          }
        }
      }
      """;

  private static final String AS_MODULES = "--add-modules=dev.warpwright.compiler";
  private static final String NATIVE =
      "--enable-native-access=dev.warpwright.runtime,dev.warpwright.cuda";

  private static final Set<String> MODULES = new LinkedHashSet<>();
  private static final List<String> OTHERS = new ArrayList<>();

  @BeforeAll
  static void readPoms() throws Exception {
    read("compiler");
  }

  /** Follows what Maven would: neither optional, provided and test dependencies nor their own. */
  private static void read(String module) throws Exception {
    if (!MODULES.add(module)) {
      return;
    }
    NodeList dependencies =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(Path.of("..", module, "pom.xml").toFile())
            .getElementsByTagName("dependency");
    for (int i = 0; i < dependencies.getLength(); i++) {
      Element dependency = (Element) dependencies.item(i);
      String scope = text(dependency, "scope");
      if (scope.equals("test")
          || scope.equals("provided")
          || text(dependency, "optional").equals("true")) {
        continue;
      }
      String artifact = text(dependency, "artifactId");
      if (text(dependency, "groupId").equals("dev.warpwright")) {
        read(artifact.substring(PREFIX.length()));
      } else {
        OTHERS.add(artifact);
      }
    }
  }

  private static String text(Element element, String tag) {
    NodeList found = element.getElementsByTagName(tag);
    return found.getLength() == 0 ? "" : found.item(0).getTextContent().strip();
  }

  @Test
  void itBringsNoTunersDatabaseNoSimulatorNoPageAndNobodyElses() {
    assertThat(OTHERS).as("libraries").isEmpty();
    assertThat(MODULES)
        .doesNotContain(
            "rules",
            "interpreter",
            "sim",
            "tune",
            "measure",
            "parallel",
            "verify",
            "export",
            "explorer",
            "profiler",
            "cli");
  }

  @Test
  void theBomHasAllModulesInOneVersion() throws Exception {
    String root = Files.readString(Path.of("..", "pom.xml"));
    Element bom =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(Path.of("..", "bom", "pom.xml").toFile())
            .getDocumentElement();
    List<String> listed = new ArrayList<>();
    NodeList dependencies = bom.getElementsByTagName("dependency");
    for (int i = 0; i < dependencies.getLength(); i++) {
      listed.add(text((Element) dependencies.item(i), "artifactId").substring(PREFIX.length()));
    }
    List<String> modules =
        new ArrayList<>(
            Pattern.compile("<module>(\\w+)</module>")
                .matcher(root.substring(0, root.indexOf("<profiles>")))
                .results()
                .map(module -> module.group(1))
                .filter(module -> !module.equals("bom") && !module.equals("pages"))
                .toList());
    // Stand in a profile, so that -Dquick fetches no Spark.
    modules.addAll(List.of("fleet", "spark"));
    assertThat(listed).containsExactlyElementsOf(modules);
    assertThat(root).contains("<version>" + text(bom, "version") + "</version>");
  }

  @Test
  void itIsSmall() throws IOException {
    long bytes = 0;
    for (String module : MODULES) {
      bytes += zipped(classes(module));
    }
    assertThat(bytes).as("bytes of the jars").isBetween(1_000_000L, MOST_BYTES);
  }

  private static Path classes(String module) {
    return Path.of("..", module, "build", "classes");
  }

  /** The size of a jar of a folder. */
  private static long zipped(Path folder) throws IOException {
    long[] written = {0};
    OutputStream counter =
        new OutputStream() {
          @Override
          public void write(int b) {
            written[0]++;
          }

          @Override
          public void write(byte[] bytes, int from, int length) {
            written[0] += length;
          }
        };
    try (var files = Files.walk(folder);
        var jar = new ZipOutputStream(counter)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        jar.putNextEntry(new ZipEntry(folder.relativize(file).toString()));
        Files.copy(file, jar);
        jar.closeEntry();
      }
    }
    return written[0];
  }

  @Test
  void itSuffices(@TempDir Path folder) throws Exception {
    Result run =
        run(
            folder,
            APPLICATION,
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            path());
    assertThat(run.status()).as(run.output()).isZero();
    assertThat(run.output()).contains("outputs 30").contains("cuda true");
  }

  @Test
  void itSufficesAsModules(@TempDir Path folder) throws Exception {
    Result run = run(folder, APPLICATION, AS_MODULES, NATIVE, "--module-path", path());
    assertThat(run.status()).as(run.output()).isZero();
    assertThat(run.output()).contains("outputs 30").contains("cuda true");
  }

  /** Of modules an application sees only packages that are meant for it. */
  @Test
  void itShowsNoPackageOfOurs(@TempDir Path folder) throws Exception {
    String curious =
        APPLICATION.replace(
            "import java.nio.file.Path;",
            "import java.nio.file.Path;\nimport dev.warpwright.compiler.fusion.NetworkCompiler;");
    Result run = run(folder, curious, AS_MODULES, NATIVE, "--module-path", path());
    assertThat(run.status()).isNotZero();
    assertThat(run.output())
        .contains("package dev.warpwright.compiler.fusion is declared in module")
        .contains("not export it to the unnamed module");
  }

  private static String path() {
    return MODULES.stream()
        .map(module -> classes(module).toAbsolutePath().normalize().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  private record Result(int status, String output) {}

  /** Compiles and runs a program as a user's Java does. */
  private static Result run(Path folder, String program, String... options) throws Exception {
    Path source = Files.writeString(folder.resolve("Application.java"), program);
    Path model = Path.of("..", "models", "digits-relu-128-64", "model.onnx");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of(options));
    command.add(source.toString());
    command.add(model.toAbsolutePath().normalize().toString());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output;
    try (var in = process.getInputStream()) {
      output = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    return new Result(process.waitFor(), output);
  }
}
