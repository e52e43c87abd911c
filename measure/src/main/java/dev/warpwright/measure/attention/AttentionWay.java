package dev.warpwright.measure.attention;

import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.families.attention.ProjectedAttention;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.lower.launch.EarlyStart;
import dev.warpwright.lower.launch.EarlyWeights;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What computes an attention of entries that all have all keys, alone or with its output projection
 * {@code Y = X + O · Wᵀ}.
 *
 * @param features rows of W; 0 without a projection
 * @param behind the GEMM that projects in a launch of its own, which begins early and fills its
 *     ring with weights; null if the attention's launch does, or nothing
 */
public record AttentionWay(AttentionConfig config, int features, @Nullable Behind behind) {
  /** Names in a GEMM's kernel, and what they are here. */
  private static final Map<String, String> OPERANDS =
      Map.of("A", "attended", "B", "W", "S", "X", "C", "Y");

  /**
   * A GEMM's launch.
   *
   * @param room that its ring takes, as "5 stages"; empty if it has none
   */
  public record Behind(BoundKernel kernel, String room) {}

  /**
   * A program, whose inputs are Q, K, V, and of a projection W and X.
   *
   * @param tables contents of those constants that are no weights
   */
  public record Made(Program program, Map<Buffer, List<Integer>> tables) {}

  /** Attention alone. */
  public static AttentionWay of(AttentionConfig config) {
    return new AttentionWay(config, 0, null);
  }

  /** In one line. */
  public String text() {
    return config.text()
        + (features == 0 ? "" : " project=" + features)
        + (behind == null ? "" : " by a launch behind it")
        + (behind == null || behind.room().isEmpty() ? "" : " of " + behind.room());
  }

  /** The name of the result. */
  public String result() {
    return features == 0 ? "O" : "Y";
  }

  /**
   * Lowers.
   *
   * @throws dev.warpwright.base.UserError if the configuration is none for it
   */
  public Made make(Attention attention, GpuTarget target) {
    if (features > 0 && behind == null) {
      return new Made(
          ProjectedAttention.of(attention, config, target, features).program(), Map.of());
    }
    Program alone = AttentionKernels.ofFull(attention, config, target).program();
    if (behind != null) {
      return overlapping(alone, behind.kernel());
    }
    return new Made(target.hasHopper() ? early(alone) : alone, Map.of());
  }

  /** Launches of which each begins while the one before it ends, and waits for it. */
  private static Program early(Program alone) {
    List<Program.Step> steps = new ArrayList<>();
    for (Program.Step step : alone.steps()) {
      Program.Launch launch = (Program.Launch) step;
      Kernel kernel = launch.kernel();
      steps.add(
          new Program.Launch(
              EarlyStart.waiting(kernel, Set.of()).orElse(kernel), launch.arguments()));
    }
    return new Program(alone.name(), alone.params(), alone.workspace(), steps);
  }

  /** The same and the GEMM's, which fills its ring with weights before it waits. */
  private static Made overlapping(Program alone, BoundKernel gemm) {
    List<ProgramParam> params = new ArrayList<>();
    List<Buffer> workspace = new ArrayList<>(alone.workspace());
    Map<String, Buffer> known = new HashMap<>();
    for (ProgramParam param : alone.params()) {
      if (param.role() == Program.Role.OUTPUT) {
        workspace.add((Buffer) param.param());
        known.put("attended", (Buffer) param.param());
      } else {
        params.add(param);
      }
    }
    Map<Buffer, List<Integer>> tables = new LinkedHashMap<>();
    Set<String> constants = new HashSet<>();
    List<Program.Argument> arguments = new ArrayList<>();
    gemm.contents()
        .forEach(
            (formal, content) -> {
              String name = OPERANDS.getOrDefault(formal.name(), "gemm_" + formal.name());
              Buffer actual =
                  known.computeIfAbsent(
                      name, n -> Buffer.of(n, formal.dtype(), formal.scope(), formal.shape()));
              if (content instanceof BoundKernel.Content.Table(List<Integer> values)) {
                tables.put(actual, values);
              }
              if (name.equals("W") || tables.containsKey(actual)) {
                constants.add(formal.name());
                params.add(new ProgramParam(Program.Role.CONSTANT, actual));
              } else if (name.equals("X")) {
                params.add(new ProgramParam(Program.Role.INPUT, actual));
              } else if (name.equals("Y")) {
                params.add(new ProgramParam(Program.Role.OUTPUT, actual));
              } else if (!name.equals("attended")) {
                workspace.add(actual);
              }
              arguments.add(new Program.BufferArgument(actual));
            });
    List<Program.Step> steps = new ArrayList<>(early(alone).steps());
    Kernel kernel = gemm.kernel();
    Kernel early =
        EarlyWeights.streaming(kernel, constants)
            .or(() -> EarlyStart.waiting(kernel, constants))
            .orElse(kernel);
    steps.add(new Program.Launch(early, arguments));
    return new Made(new Program(alone.name() + "_projected", params, workspace, steps), tables);
  }
}
