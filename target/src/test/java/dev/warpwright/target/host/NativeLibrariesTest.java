package dev.warpwright.target.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibrariesTest {
  private static final List<String> NAMES = List.of("libx.so.13", "libx.so.12");

  @TempDir Path root;
  private final Map<String, String> variables = new HashMap<>();

  @BeforeEach
  void ownHome() {
    variables.put("HOME", root.resolve("home").toString());
    variables.put("WARPWRIGHT_CACHE", root.resolve("cache").toString());
  }

  @Test
  void nothingAnywhereIsAnEmptyAnswer() {
    assertThat(search().library(NAMES)).isEmpty();
    assertThat(search().program("nvcc")).isEmpty();
  }

  @Test
  void aNamedToolkitWinsOverTheUsualOneEvenWithAnOlderVersion() throws IOException {
    file("usr/local/cuda/lib64/libx.so.13");
    Path mine = file("mine/lib64/libx.so.12");
    assertThat(search().library(NAMES)).contains(root.resolve("usr/local/cuda/lib64/libx.so.13"));
    variables.put("CUDA_HOME", root.resolve("mine").toString());
    assertThat(search().library(NAMES)).contains(mine);
  }

  @Test
  void theNewestOfSeveralToolkitsIsTaken() throws IOException {
    file("usr/local/cuda-9.2/lib64/libx.so.12");
    Path newest = file("usr/local/cuda-12.10/lib64/libx.so.12");
    file("usr/local/cuda-12.9/lib64/libx.so.12");
    file("usr/local/cuda-draft/lib64/libx.so.12");
    assertThat(search().library(NAMES)).contains(newest);
  }

  @Test
  void thePreferredVersionIsTakenWithinAPlace() throws IOException {
    variables.put("LD_LIBRARY_PATH", root.resolve("a") + ":" + root.resolve("b") + "::\0bad");
    file("a/libx.so.12");
    Path preferred = file("b/libx.so.13");
    assertThat(search().library(NAMES)).contains(preferred);
  }

  @Test
  void pipPackagesBesideTheInterpreterAreFoundWithoutRunningIt() throws IOException {
    interpreter("venv/bin/python3", "exit 9");
    variables.put("PATH", root.resolve("venv/bin").toString());
    Path library = file("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libx.so.13");
    assertThat(search().library(NAMES)).contains(library);
  }

  @Test
  void theInterpreterIsAskedOnceAndAgainWhenItChanges() throws IOException {
    Path count = root.resolve("count");
    Path packages = root.resolve("far/site-packages");
    Path library = file("far/site-packages/nvidia/nvrtc/lib/libx.so.12");
    Path python =
        interpreter("shims/python3", "echo run >> '" + count + "'\necho '" + packages + "'");
    variables.put("PATH", root.resolve("shims").toString());
    assertThat(search().library(NAMES)).contains(library);
    assertThat(search().library(NAMES)).contains(library);
    assertThat(count).hasContent("run\n");
    Files.setLastModifiedTime(python, java.nio.file.attribute.FileTime.fromMillis(1_000_000));
    assertThat(search().library(NAMES)).contains(library);
    assertThat(count).hasContent("run\nrun\n");
  }

  @Test
  void aFailingInterpreterIsNoError() throws IOException {
    interpreter("shims/python3", "exit 3");
    variables.put("PATH", root.resolve("shims").toString());
    assertThat(search().library(NAMES)).isEmpty();
  }

  @Test
  void programsComeFromThePathBeforeTheUsualToolkit() throws IOException {
    Path usual = file("usr/local/cuda/bin/nvcc");
    assertThat(search().program("nvcc")).contains(usual);
    Path onPath = file("tools/nvcc");
    variables.put("PATH", root.resolve("tools").toString());
    assertThat(search().program("nvcc")).contains(onPath);
  }

  @Test
  void theCacheFolderFollowsTheVariables() {
    variables.remove("WARPWRIGHT_CACHE");
    assertThat(environment().cacheFolder()).contains(root.resolve("home/.cache/warpwright"));
    variables.put("XDG_CACHE_HOME", root.resolve("xdg").toString());
    assertThat(environment().cacheFolder()).contains(root.resolve("xdg/warpwright"));
    variables.put("WARPWRIGHT_CACHE", root.resolve("own").toString());
    assertThat(environment().cacheFolder()).contains(root.resolve("own"));
  }

  private HostEnvironment environment() {
    return new HostEnvironment(variables, root);
  }

  private NativeLibraries search() {
    return new NativeLibraries(environment());
  }

  private Path file(String name) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, "x");
  }

  private Path interpreter(String name, String script) throws IOException {
    Path file = file(name);
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
    return file;
  }
}
