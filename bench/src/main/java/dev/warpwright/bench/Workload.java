package dev.warpwright.bench;

import java.util.List;

/**
 * One line of the table.
 *
 * @param group lines whose ratios are averaged
 * @param flops floating point operations of a call, 2 for a multiply-add; 0 where bytes tell more
 * @param contenders ours first
 */
record Workload(String group, String name, long flops, List<Contender> contenders)
    implements AutoCloseable {
  @Override
  public void close() {
    for (Contender contender : contenders) {
      if (contender.call() instanceof OnnxBaseline peer) {
        peer.close();
      }
    }
  }
}
