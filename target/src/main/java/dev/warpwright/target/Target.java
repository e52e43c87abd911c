package dev.warpwright.target;

import dev.warpwright.base.UserError;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** What code is made for: an architecture of GPUs, or the processor of this machine. */
public sealed interface Target permits GpuTarget, HostTarget {
  /**
   * {@return the name by which {@link #parse} finds it, for example {@code sm_90a} or {@code cpu}}
   */
  String name();

  /**
   * {@return the target of this name: {@code cpu}, or an architecture of {@link GpuTarget#ALL}}
   *
   * @param name as {@link #name()} gives it
   * @throws UserError if there is none
   */
  static Target parse(String name) {
    if (name.equals("cpu")) {
      return HostTarget.current();
    }
    Optional<GpuTarget> gpu = GpuTarget.find(name);
    return gpu.orElseThrow(
        () ->
            new UserError(
                "unknown target '"
                    + name.replaceAll("\\p{Cntrl}", "?")
                    + "': use cpu or one of "
                    + names(GpuTarget.ALL)));
  }

  private static String names(List<GpuTarget> targets) {
    return targets.stream().map(GpuTarget::name).collect(Collectors.joining(", "));
  }
}
