package dev.warpwright.cli.command;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;

/**
 * What a command does, apart from its options and its output.
 *
 * @param <R> the request: the command's checked options
 */
@FunctionalInterface
public interface Action<R> {
  /**
   * Does what is asked.
   *
   * @param progress where to tell a waiting user what is going on; it is not part of the result
   * @throws dev.warpwright.base.UserError if the request or a file is wrong (exit code 2)
   * @throws dev.warpwright.base.DeviceError if a device or toolchain is missing or fails (3)
   */
  Report perform(R request, Progress progress);
}
