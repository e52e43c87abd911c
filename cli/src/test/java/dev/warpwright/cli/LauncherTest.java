package dev.warpwright.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.command.ExitCode;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Starts as users do, by bin/launch.sh, in surroundings that Java does not like. */
@Timeout(120)
final class LauncherTest {
  private static final Path LAUNCH = Path.of("..", "bin", "launch.sh").toAbsolutePath();
  private static final String SCRIPT =
      ". \"$1\"; java=$2; app=$3; shift 3; start_warpwright \"$java\" \"$app\" \"$@\"";

  @TempDir Path folder;
  private Path app;
  private Path work;

  /** What came of it. */
  private record Ended(int code, String out, String err) {}

  /** An application folder whose only jar leads to the classes of this test run. */
  @BeforeEach
  void makeApplication() throws IOException {
    app = Files.createDirectories(folder.resolve("app"));
    work = Files.createDirectories(folder.resolve("work"));
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest
        .getMainAttributes()
        .put(
            Attributes.Name.CLASS_PATH,
            Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(part -> Path.of(part).toUri().toString())
                .collect(Collectors.joining(" ")));
    Files.createDirectories(app.resolve("lib"));
    try (var out = Files.newOutputStream(app.resolve("lib/warpwright.jar"))) {
      new JarOutputStream(out, manifest).close();
    }
  }

  private Ended start(String before, Map<String, String> variables, String... args)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "bash",
                "-c",
                before + SCRIPT,
                "warpwright",
                LAUNCH.toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                app.toString()));
    command.addAll(List.of(args));
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(work.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    for (String name : List.of("LANG", "LC_CTYPE", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")) {
      builder.environment().remove(name);
    }
    builder.environment().putAll(variables);
    Process process = builder.start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Ended(
        process.exitValue(),
        Files.readString(out, StandardCharsets.UTF_8),
        Files.readString(err, StandardCharsets.UTF_8));
  }

  /** Java's own failures are not "the result is wrong", which is what its exit code 1 says here. */
  private static void assertFailed(Ended ended, String why) {
    assertThat(ended.err()).startsWith("warpwright: ").contains(why).hasLineCount(1);
    assertThat(ended.code()).as(ended.err()).isEqualTo(ExitCode.DEVICE);
    assertThat(ended.out()).isEmpty();
  }

  @Test
  void namesOfFilesAreNotTheLocalesBusiness() throws Exception {
    Path accented = folder.resolve("josé ☃");
    Files.move(app, accented);
    app = accented;
    Path input = work.resolve("ünïcode.kernel");
    Files.copy(Path.of("..", "kernels", "gemm_bf16_sm90.kernel"), input);
    for (String locale : List.of("C", "xx_YY.UTF-8")) {
      Ended ended =
          start(
              "",
              Map.of("LC_ALL", locale, "WARPWRIGHT_JAVA_OPTS", "-XX:TieredStopAtLevel=1"),
              "kernel",
              "ünïcode.kernel",
              "--print",
              "--out",
              "größe-" + locale);
      assertThat(ended.code()).as(ended.err()).isEqualTo(ExitCode.OK);
      assertThat(work.resolve("größe-" + locale)).isRegularFile();
    }
  }

  @Test
  void optionsThatJavaRefuses() throws Exception {
    assertFailed(
        start("", Map.of("JAVA_TOOL_OPTIONS", "-XX:NoSuchThing"), "devices"),
        "Unrecognized VM option 'NoSuchThing'");
    assertFailed(
        start("", Map.of("WARPWRIGHT_JAVA_OPTS", "--no-such-option"), "version"),
        "Unrecognized option: --no-such-option");
    assertFailed(start("ulimit -v 300000; ", Map.of(), "devices"), "Java does not start");
  }

  @Test
  void aFolderThatWasDeleted() throws Exception {
    assertFailed(start("mkdir d && cd d && rmdir ../d; ", Map.of(), "devices"), "was deleted");
  }

  @Test
  void memoryThatEndsBeforeACommandBegins() throws Exception {
    Ended ended =
        start(
            "",
            Map.of("WARPWRIGHT_JAVA_OPTS", "-Xmx3m -XX:+UseSerialGC -XX:-UseParallelGC"),
            "export",
            "ladder:wgmma",
            "--target",
            "sm_90a",
            "-o",
            "x");
    assertThat(ended.code()).as(ended.err()).isEqualTo(ExitCode.DEVICE);
  }

  @Test
  void aUserWithoutAHome() throws Exception {
    Ended ended =
        start(
            "unset HOME XDG_DATA_HOME XDG_CACHE_HOME WARPWRIGHT_DB WARPWRIGHT_CACHE; ",
            Map.of("WARPWRIGHT_JAVA_OPTS", "-Duser.home=?"),
            "db",
            "list");
    assertThat(ended.err())
        .isEqualTo("warpwright: this user has no home folder; set HOME or XDG_DATA_HOME\n");
    assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
    assertThat(work).isEmptyDirectory();
  }
}
