package dev.warpwright.cuda.compile;

import dev.warpwright.target.host.NativeLibraries;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The offline compiler as a child process: about half a second a kernel, and it needs a C++
 * compiler beside it.
 */
public final class Nvcc implements CudaCompiler {
  private static final List<String> FLAGS =
      List.of(
          "-cubin", "-std=c++17", "-fmad=false", "-Xptxas", "-v", "-Wno-deprecated-gpu-targets");

  private final Path program;
  private final Duration patience;
  private final Path temporary;

  /**
   * @param patience how long one compilation may take
   * @param temporary an existing folder for what comes and goes
   */
  Nvcc(Path program, Duration patience, Path temporary) {
    this.program = program;
    this.patience = patience;
    this.temporary = temporary;
  }

  static Optional<Nvcc> find(NativeLibraries libraries) {
    return libraries
        .program("nvcc")
        .map(
            program ->
                new Nvcc(
                    program,
                    Duration.ofMinutes(2),
                    Path.of(System.getProperty("java.io.tmpdir", "."))));
  }

  @Override
  public String describe() {
    return "nvcc (" + program + ")";
  }

  @Override
  public String identity() {
    return "nvcc " + CudaCompilers.stamp(program) + " " + FLAGS;
  }

  @Override
  public Cubin compile(CompileRequest request) {
    Path folder;
    try {
      folder = Files.createTempDirectory(temporary, "warpwright-nvcc");
    } catch (IOException e) {
      throw new CompileError(describe() + ": no temporary folder: " + e.getMessage(), "");
    }
    try {
      return compileIn(folder, request);
    } catch (IOException e) {
      throw new CompileError(describe() + " cannot be run: " + e.getMessage(), "");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CompileError(describe() + " was interrupted", "");
    } finally {
      delete(folder);
    }
  }

  private Cubin compileIn(Path folder, CompileRequest request)
      throws IOException, InterruptedException {
    Files.writeString(folder.resolve("kernel.cu"), request.source());
    Path output = folder.resolve("log");
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(FLAGS);
    command.add("-gencode=arch=" + request.virtualArch() + ",code=" + request.arch());
    command.addAll(request.options());
    command.addAll(List.of("-o", "kernel.cubin", "kernel.cu"));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    // nvcc's own intermediate files then go when the folder goes, also after a timeout.
    builder.environment().put("TMPDIR", folder.toString());
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new CompileError(
            describe() + " did not finish within " + patience.toSeconds() + " s",
            Files.readString(output));
      }
    } finally {
      stop(process);
    }
    String log = Files.readString(output);
    Path cubin = folder.resolve("kernel.cubin");
    if (process.exitValue() != 0 || !Files.isRegularFile(cubin)) {
      throw CompileError.fromLog("nvcc", request.arch(), "exit code " + process.exitValue(), log);
    }
    return new Cubin(Files.readAllBytes(cubin), log);
  }

  /**
   * Ends the process and those it started, if they still run, and waits so that they write no more
   * files.
   */
  private static void stop(Process process) throws InterruptedException {
    if (process.isAlive()) {
      List<ProcessHandle> children = process.descendants().toList();
      process.destroyForcibly().waitFor();
      for (ProcessHandle child : children) {
        child.destroyForcibly();
        child.onExit().completeOnTimeout(child, 5, TimeUnit.SECONDS).join();
      }
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      System.err.println("warpwright: cannot delete the temporary folder " + folder + ": " + e);
    }
  }
}
