package dev.warpwright.sim.api;

import java.util.List;

/** An execution did something that the IR does not define; the message is the first finding. */
public final class SimulationError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<Finding> findings;

  /**
   * An execution that ended for these reasons.
   *
   * @param findings at least one
   */
  public SimulationError(List<Finding> findings) {
    super(
        findings.getFirst().message()
            + (findings.size() > 1 ? " (and " + (findings.size() - 1) + " more)" : ""));
    this.findings = List.copyOf(findings);
  }

  /**
   * An execution that ended for one reason.
   *
   * @param finding the reason
   */
  public SimulationError(Finding finding) {
    this(List.of(finding));
  }

  /** {@return what was found, at least one} */
  public List<Finding> findings() {
    return findings;
  }
}
