package dev.warpwright.target.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds NVIDIA's shared libraries and tools by file name.
 *
 * <p>Libraries are looked for, in this order, in the toolkit that {@code CUDA_HOME} or {@code
 * CUDA_PATH} names; in {@code /usr/local/cuda*} (the plain link first, then the newest version) and
 * {@code /opt/cuda}; in {@code LD_LIBRARY_PATH}; in the system's library folders; and in the {@code
 * nvidia/*}{@code /lib} folders that pip's packages bring. Within a place, earlier names win, so
 * list the preferred version first.
 */
public final class NativeLibraries {
  private final HostEnvironment environment;
  private final PythonFolders python;

  public NativeLibraries(HostEnvironment environment) {
    this.environment = environment;
    this.python = new PythonFolders(environment);
  }

  /** A search in this process's environment. */
  public static NativeLibraries system() {
    return new NativeLibraries(HostEnvironment.system());
  }

  /**
   * The first file with one of these names.
   *
   * @param names file names such as {@code libnvrtc.so.13}, the preferred first
   */
  public Optional<Path> library(List<String> names) {
    return in(namedToolkits(), names)
        .or(() -> in(usualToolkits(), names))
        .or(() -> in(environment.folders("LD_LIBRARY_PATH"), names))
        .or(() -> in(systemFolders(), names))
        .or(() -> in(libraryFolders(python.nearby()), names))
        .or(() -> in(libraryFolders(python.asked()), names));
  }

  /**
   * A program: in the toolkit that a variable names, on the {@code PATH}, then in the usual
   * toolkits.
   */
  public Optional<Path> program(String name) {
    List<String> names = List.of(name);
    return in(binFolders(toolkitsByVariable()), names)
        .or(() -> in(environment.folders("PATH"), names))
        .or(() -> in(binFolders(toolkitsByPlace()), names));
  }

  private List<Path> namedToolkits() {
    return toolkitFolders(toolkitsByVariable());
  }

  private List<Path> usualToolkits() {
    return toolkitFolders(toolkitsByPlace());
  }

  private List<Path> toolkitsByVariable() {
    return Stream.of("CUDA_HOME", "CUDA_PATH")
        .flatMap(name -> environment.folders(name).stream())
        .toList();
  }

  private List<Path> toolkitsByPlace() {
    Set<Path> toolkits = new LinkedHashSet<>();
    Path local = environment.below("usr/local");
    toolkits.add(local.resolve("cuda"));
    children(local).stream()
        .filter(path -> path.getFileName().toString().startsWith("cuda-"))
        .sorted(Comparator.comparingLong(NativeLibraries::version).reversed())
        .forEach(toolkits::add);
    toolkits.add(environment.below("opt/cuda"));
    return List.copyOf(toolkits);
  }

  private static List<Path> toolkitFolders(List<Path> toolkits) {
    String platform = isArm() ? "sbsa-linux" : "x86_64-linux";
    List<Path> folders = new ArrayList<>();
    for (Path toolkit : toolkits) {
      folders.add(toolkit.resolve("lib64"));
      folders.add(toolkit.resolve("targets").resolve(platform).resolve("lib"));
      folders.add(toolkit.resolve("lib"));
    }
    return folders;
  }

  private static List<Path> binFolders(List<Path> toolkits) {
    return toolkits.stream().map(toolkit -> toolkit.resolve("bin")).toList();
  }

  private List<Path> systemFolders() {
    String triple = isArm() ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
    return Stream.of("usr/lib/" + triple, "usr/lib64", "usr/lib").map(environment::below).toList();
  }

  /**
   * Below a folder of Python packages: {@code nvidia/cu13/lib}, {@code nvidia/cublas/lib} and so
   * on.
   */
  private static List<Path> libraryFolders(List<Path> packageFolders) {
    List<Path> folders = new ArrayList<>();
    for (Path packages : packageFolders) {
      children(packages.resolve("nvidia")).stream()
          .sorted(Comparator.comparing(Path::toString).reversed())
          .map(path -> path.resolve("lib"))
          .forEach(folders::add);
    }
    return folders;
  }

  private static Optional<Path> in(List<Path> folders, List<String> names) {
    for (String name : names) {
      for (Path folder : folders) {
        Path file = folder.resolve(name);
        if (Files.isRegularFile(file) && Files.isReadable(file)) {
          return Optional.of(file);
        }
      }
    }
    return Optional.empty();
  }

  /** What a folder holds; nothing if it is missing or unreadable. */
  static List<Path> children(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> list = Files.list(folder)) {
      return list.toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }

  /** {@code cuda-12.4} as a number that sorts like the version. */
  private static long version(Path toolkit) {
    long version = 0;
    String[] parts = toolkit.getFileName().toString().substring("cuda-".length()).split("\\.");
    for (int i = 0; i < 3; i++) {
      boolean number = i < parts.length && parts[i].matches("\\d{1,4}");
      version = version * 10_000 + (number ? Long.parseLong(parts[i]) : 0);
    }
    return version;
  }

  private static boolean isArm() {
    return System.getProperty("os.arch", "").equals("aarch64");
  }
}
