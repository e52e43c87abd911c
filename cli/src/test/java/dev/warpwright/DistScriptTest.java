package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code bin/dist}, in a checkout whose build and JDKs are stand-ins: for which platforms it makes
 * distributions, what it says of the others, and what lies in an archive.
 */
final class DistScriptTest {
  private static final Path ROOT = Path.of("..");

  @TempDir Path folder;

  private record Ran(int code, String said) {}

  private void write(String file, String text) throws IOException {
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
    assertThat(path.toFile().setExecutable(true)).isTrue();
  }

  private void copy(String file) throws IOException {
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    Files.copy(ROOT.resolve(file), path);
    assertThat(path.toFile().setExecutable(Files.isExecutable(ROOT.resolve(file)))).isTrue();
  }

  @BeforeEach
  void checkout() throws IOException {
    assumeTrue(
        System.getProperty("os.name").equals("Linux")
            && System.getProperty("os.arch").equals("amd64"),
        "the stand-ins are for Linux on x64");
    for (String file :
        List.of(
            "bin/dist",
            "bin/launch.sh",
            "bin/java-modules",
            "LICENSE",
            "NOTICE",
            "README.md",
            "CHANGELOG.md",
            "docs/schemas/version.schema.json")) {
      copy(file);
    }
    for (String file : List.of("model.onnx", "input.npy", "expected_f64.npy")) {
      write("models/digits-relu-128-64/" + file, "");
    }
    write(
        "warpwright",
        "#!/bin/sh\ncase $1 in version) echo 'warpwright 0.1 x' ;; *) echo \"$1\" ;; esac\n");
    write(".warpwright/current", "app\n");
    write(".warpwright/app/jdk", folder.resolve("jdk") + "\n");
    write(".warpwright/app/lib/a.jar", "");
    write(".warpwright/app/lib/sqlite-jdbc-1.jar", "");
    // Unpacks native code for two platforms, and tells of which one is packed again.
    write(
        "jdk/bin/jar",
        """
        #!/bin/bash
        case $1 in
          -xf)
            mkdir -p org/sqlite/native/Linux/{x86_64,aarch64}
            touch org/sqlite/native/Linux/{x86_64,aarch64}/lib
            ;;
          --create) find org -type f >>FOLDER/natives ;;
        esac
        """
            .replace("FOLDER", folder.toString()));
    // A JDK whose jlink makes a java that does nothing, and tells which modules it took.
    write(
        "jdk/bin/jlink",
        """
        #!/bin/bash
        echo "$@" >>FOLDER/jlink
        while [[ $1 != --output ]]; do shift; done
        mkdir -p "$2/bin"
        printf '#!/bin/sh\\nexit 0\\n' >"$2/bin/java"
        chmod +x "$2/bin/java"
        """
            .replace("FOLDER", folder.toString()));
    write("arm/jmods/java.base.jmod", "");
    write("arm/release", "OS_NAME=\"Linux\"\nOS_ARCH=\"aarch64\"\n");
  }

  private Ran run(Map<String, String> environment, String... platforms) throws Exception {
    var builder = new ProcessBuilder("bin/dist").directory(folder.toFile());
    builder.command().addAll(List.of(platforms));
    builder.environment().keySet().removeIf(name -> name.startsWith("WARPWRIGHT_"));
    builder.environment().putAll(environment);
    Process process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ran(process.waitFor(), said);
  }

  @Test
  void makesAllThatCanBeMadeHereAndSaysWhatCannot() throws Exception {
    Ran ran = run(Map.of("WARPWRIGHT_JDK_LINUX_ARM64", folder + "/arm"), "all");
    assertThat(ran.code).as(ran.said).isZero();
    assertThat(ran.said)
        .contains(
            "cannot build macos-x64: this is linux-x64, and WARPWRIGHT_JDK_MACOS_X64 names no JDK",
            "cannot build macos-arm64: ",
            "made dist/warpwright-0.1-linux-x64.tar.gz",
            "made dist/warpwright-0.1-linux-arm64.tar.gz",
            "warpwright-0.1-linux-arm64 has no caches for fast starts and was not tried");
    assertThat(Files.readAllLines(folder.resolve("jlink")))
        .hasSize(2)
        .first()
        .asString()
        .doesNotContain("--module-path");
    assertThat(Files.readAllLines(folder.resolve("jlink")).getLast())
        .startsWith("--module-path " + folder + "/arm/jmods --add-modules java.");
    assertThat(Files.readAllLines(folder.resolve("natives")))
        .containsExactly(
            "org/sqlite/native/Linux/x86_64/lib", "org/sqlite/native/Linux/aarch64/lib");
    Process list =
        new ProcessBuilder("tar", "-tzf", folder + "/dist/warpwright-0.1-linux-arm64.tar.gz")
            .start();
    String files = new String(list.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(files.lines())
        .contains(
            "warpwright-0.1-linux-arm64/bin/warpwright",
            "warpwright-0.1-linux-arm64/lib/a.jar",
            "warpwright-0.1-linux-arm64/runtime/bin/java",
            "warpwright-0.1-linux-arm64/share/schemas/version.schema.json");
  }

  @Test
  void refusesWhatCannotBeBuiltInOneLine() throws Exception {
    Ran unknown = run(Map.of(), "plan9");
    assertThat(unknown.code).isEqualTo(2);
    assertThat(unknown.said).hasLineCount(1).contains("there is no platform 'plan9'");
    Ran none = run(Map.of(), "linux-arm64");
    assertThat(none.code).isEqualTo(3);
    assertThat(none.said).hasLineCount(1).contains("WARPWRIGHT_JDK_LINUX_ARM64 names no JDK");
    Ran other = run(Map.of("WARPWRIGHT_JDK_MACOS_ARM64", folder + "/arm"), "macos-arm64");
    assertThat(other.code).isEqualTo(3);
    assertThat(other.said).hasLineCount(1).contains("is for Linux aarch64, not for Darwin aarch64");
    Files.delete(folder.resolve("arm/jmods/java.base.jmod"));
    Files.delete(folder.resolve("arm/jmods"));
    Ran links = run(Map.of("WARPWRIGHT_JDK_LINUX_ARM64", folder + "/arm"), "linux-arm64");
    assertThat(links.code).isEqualTo(3);
    assertThat(links.said).hasLineCount(1).contains("has no folder jmods");
    assertThat(folder.resolve("dist")).doesNotExist();
  }
}
