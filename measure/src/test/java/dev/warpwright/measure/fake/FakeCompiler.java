package dev.warpwright.measure.fake;

import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compiles for the fake GPU: an image names the kernels of its source, and the log what they use.
 */
public final class FakeCompiler implements CudaCompiler {
  private static final Pattern FUNCTION =
      Pattern.compile("__global__ void (?:__\\w+__\\([^)]*\\)\\s*)*(\\w+)\\s*\\(");

  private final Map<String, Integer> spills = new HashMap<>();
  private final List<String> compiled = new ArrayList<>();

  /** From now on it says that a kernel keeps so many bytes of registers in memory. */
  public void spill(String kernel, int bytes) {
    spills.put(kernel, bytes);
  }

  /** Each source's kernels, in a line. */
  public List<String> compiled() {
    return List.copyOf(compiled);
  }

  @Override
  public String describe() {
    return "fake compiler";
  }

  @Override
  public String identity() {
    return "fake";
  }

  @Override
  public Cubin compile(CompileRequest request) {
    List<String> names = new ArrayList<>();
    StringBuilder log = new StringBuilder();
    Matcher function = FUNCTION.matcher(request.source());
    while (function.find()) {
      String name = function.group(1);
      int bytes = spills.getOrDefault(name, 0);
      names.add(name);
      log.append(
              String.format(
                  Locale.ROOT,
                  "ptxas info    : Compiling entry function '%s' for '%s'\n",
                  name,
                  request.arch()))
          .append(String.format(Locale.ROOT, "ptxas info    : Function properties for %s\n", name))
          .append(
              String.format(
                  Locale.ROOT,
                  "    %d bytes stack frame, %d bytes spill stores, %d bytes spill loads\n",
                  bytes,
                  bytes,
                  bytes))
          .append("ptxas info    : Used 32 registers\n");
    }
    compiled.add(String.join(" ", names));
    return new Cubin(String.join("\n", names).getBytes(StandardCharsets.UTF_8), log.toString());
  }
}
