package dev.warpwright.bench;

import java.util.List;

/**
 * One line of the table.
 *
 * @param group lines whose ratios are averaged
 * @param flops floating point operations of a call, 2 for a multiply-add; 0 where bytes tell more
 * @param implementations ours first
 */
record Workload(String group, String name, long flops, List<Implementation> implementations)
    implements AutoCloseable {
  @Override
  public void close() {
    for (Implementation implementation : implementations) {
      if (implementation.call() instanceof OnnxBaseline baseline) {
        baseline.close();
      }
    }
  }
}
