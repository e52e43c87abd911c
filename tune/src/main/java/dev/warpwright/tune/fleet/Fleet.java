package dev.warpwright.tune.fleet;

import dev.warpwright.space.record.Environment;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.WorkloadKey;
import java.util.List;

/** The devices of many machines. The searches and the database stay in this process. */
public interface Fleet extends AutoCloseable {
  /**
   * Devices that records are common to.
   *
   * @param environment what their records name
   * @param sms of each device
   * @param devices how many there are now
   */
  record Kind(Environment environment, int sms, int devices) {}

  /**
   * The kinds of devices there are; waits until the machines that were asked for have said what
   * they have, or for a limit of the provider.
   *
   * @return empty if no machine has a device
   * @throws InterruptedException if the thread is interrupted
   */
  List<Kind> kinds() throws InterruptedException;

  /**
   * {@return what measures the candidates of one workload: all on one device, as long as that one
   * lives and is healthy}
   *
   * @param kind on which devices
   * @param workload of which candidates are measured
   * @param free whether its candidates are of the space of all that rules allow
   */
  Measurer measurer(Kind kind, WorkloadKey workload, boolean free);

  /**
   * {@return what became of the machines, in lines for the user; empty if nothing is to be said}
   */
  List<String> remarks();

  /** Ends what is under way. */
  @Override
  void close();
}
