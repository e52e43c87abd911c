package dev.warpwright.cli.kernels;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Data of one's own to run a kernel on, and what to show of it.
 *
 * @param inputs {@code NAME=FILE} or only {@code FILE}, for the buffer that is called like the
 *     file, or the next one without
 * @param prints names of buffers to show afterwards
 * @param schedule the file of steps by which a function is scheduled first; null for none
 * @param threads {@code FIRST-LAST} of a block, to be shown step by step; null for none
 * @param block whose threads they are, along x, y and z
 */
public record OwnData(
    List<String> inputs,
    List<String> prints,
    @Nullable Path schedule,
    @Nullable String threads,
    List<Long> block) {
  public OwnData {
    inputs = List.copyOf(inputs);
    prints = List.copyOf(prints);
    block = List.copyOf(block);
  }

  /** Whether anything is asked for. */
  public boolean isAsked() {
    return !inputs.isEmpty() || !prints.isEmpty() || schedule != null || threads != null;
  }
}
