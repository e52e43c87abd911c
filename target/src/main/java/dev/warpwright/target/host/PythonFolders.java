package dev.warpwright.target.host;

import dev.warpwright.base.files.StagedFiles;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The folders that hold Python packages: pip installs NVIDIA's libraries there.
 *
 * <p>Most are found by looking beside the interpreter. Asking the interpreter itself takes 130 to
 * 280 ms, so its answer is kept in the cache folder and used for as long as the interpreter is the
 * same file.
 */
final class PythonFolders {
  private static final long PATIENCE_SECONDS = 5;
  private static final String QUESTION =
      "import site,sys;print('\\n"
          + "'.join(p for p in sys.path+site.getsitepackages() if 'packages' in p))";

  private final HostEnvironment environment;

  PythonFolders(HostEnvironment environment) {
    this.environment = environment;
  }

  /**
   * The package folders of the active virtual environment, of the first python3 on the PATH, and of
   * the system.
   */
  List<Path> nearby() {
    Set<Path> prefixes = new LinkedHashSet<>();
    prefixes.addAll(environment.folders("VIRTUAL_ENV"));
    prefixes.addAll(environment.folders("CONDA_PREFIX"));
    interpreter().map(Path::getParent).map(Path::getParent).ifPresent(prefixes::add);
    environment.home().ifPresent(home -> prefixes.add(home.resolve(".local")));
    prefixes.add(environment.below("usr/local"));
    prefixes.add(environment.below("usr"));
    List<Path> folders = new ArrayList<>();
    for (Path prefix : prefixes) {
      for (Path version : NativeLibraries.children(prefix.resolve("lib"))) {
        if (version.getFileName().toString().startsWith("python")) {
          folders.add(version.resolve("site-packages"));
          folders.add(version.resolve("dist-packages"));
        }
      }
    }
    return folders;
  }

  /**
   * The package folders that the first python3 on the PATH names, remembered from an earlier run if
   * possible.
   */
  List<Path> asked() {
    Optional<Path> interpreter = interpreter();
    if (interpreter.isEmpty()) {
      return List.of();
    }
    String stamp = stamp(interpreter.get());
    Optional<Path> memory =
        environment.cacheFolder().map(folder -> folder.resolve("python-folders"));
    return memory
        .flatMap(file -> recall(file, stamp))
        .orElseGet(
            () -> {
              List<Path> folders = ask(interpreter.get());
              memory.ifPresent(file -> remember(file, stamp, folders));
              return folders;
            });
  }

  private Optional<Path> interpreter() {
    return environment.folders("PATH").stream()
        .map(folder -> folder.resolve("python3"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * What the answer depends on: the interpreter's file, and the variables that point it elsewhere.
   */
  private String stamp(Path interpreter) {
    String modified;
    try {
      modified = Files.getLastModifiedTime(interpreter).toString();
    } catch (IOException e) {
      modified = "?";
    }
    return Stream.of("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_VERSION", "PYTHONPATH")
        .map(name -> environment.variable(name).orElse(""))
        .reduce(interpreter + File.pathSeparator + modified, (a, b) -> a + File.pathSeparator + b)
        .replace('\n', ' ');
  }

  private static Optional<List<Path>> recall(Path memory, String stamp) {
    try {
      // What is no file, a named pipe for example, might never end or never begin.
      List<String> lines =
          Files.isRegularFile(memory) ? Files.readAllLines(memory) : List.<String>of();
      if (!lines.isEmpty() && lines.getFirst().equals(stamp)) {
        return Optional.of(paths(lines.subList(1, lines.size())));
      }
    } catch (IOException e) {
      // Never asked, or the note is unreadable: ask.
    }
    return Optional.empty();
  }

  private static void remember(Path memory, String stamp, List<Path> folders) {
    try {
      Files.createDirectories(memory.toAbsolutePath().getParent());
      List<String> lines = new ArrayList<>(List.of(stamp));
      folders.forEach(folder -> lines.add(folder.toString()));
      byte[] bytes = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
      StagedFiles.write(memory, out -> out.write(bytes));
    } catch (IOException e) {
      // Without a cache folder the question is asked again next time: slower, not wrong.
    }
  }

  private static List<Path> ask(Path interpreter) {
    Process process;
    try {
      process =
          new ProcessBuilder(interpreter.toString(), "-c", QUESTION)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .start();
    } catch (IOException e) {
      return List.of();
    }
    try (InputStream output = process.getInputStream()) {
      // A few lines fit in the pipe, so that waiting first cannot block the interpreter.
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        return List.of();
      }
      return paths(new String(output.readAllBytes(), StandardCharsets.UTF_8).lines().toList());
    } catch (IOException e) {
      return List.of();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    } finally {
      process.destroyForcibly();
    }
  }

  private static List<Path> paths(List<String> lines) {
    return lines.stream()
        .filter(line -> !line.isBlank())
        .flatMap(line -> HostEnvironment.path(line).stream())
        .distinct()
        .toList();
  }
}
