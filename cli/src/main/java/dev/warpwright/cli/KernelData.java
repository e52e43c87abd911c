package dev.warpwright.cli;

import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.UserError;
import dev.warpwright.sim.Arguments;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Random arguments for programs in text. */
final class KernelData {
  /** What a scalar is that nothing was said of, if its range has it. */
  private static final long USUAL = 64;

  private KernelData() {}

  /**
   * Values of the scalars: as {@code --set} says, else the batch for the first one, else 64.
   *
   * @throws UserError if a name is none of them, or a value is out of range
   */
  static Map<String, Long> scalars(KernelRequest request, List<? extends Param> params) {
    Map<String, Long> values = new LinkedHashMap<>();
    for (Param param : params) {
      if (param instanceof ScalarParam scalar) {
        boolean first = values.isEmpty();
        long usual = Math.clamp(USUAL, scalar.min(), scalar.max());
        long value =
            request
                .values()
                .getOrDefault(scalar.name(), first ? request.batch().orElse((int) usual) : usual);
        if (value < scalar.min() || value > scalar.max()) {
          throw new UserError(
              "%s = %d: the kernel is for %d to %d"
                  .formatted(scalar.name(), value, scalar.min(), scalar.max()));
        }
        values.put(scalar.name(), value);
      }
    }
    for (String name : request.values().keySet()) {
      if (!values.containsKey(name)) {
        throw new UserError(
            "--set " + name + ": there is no such scalar; there are " + values.keySet());
      }
    }
    return values;
  }

  /**
   * Random arrays and the scalars.
   *
   * @throws UserError if they cannot be made, for example because an array is too large
   */
  static Arguments random(KernelRequest request, List<? extends Param> params) {
    Map<String, Long> scalars = scalars(request, params);
    try {
      return Arguments.random(params, request.seed(), scalars);
    } catch (IllegalArgumentException e) {
      throw new UserError("no random data for " + scalars + ": " + e.getMessage(), e);
    }
  }
}
