package dev.warpwright.sim.finding;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Collects races, one for each statement. */
public final class RaceCollector implements FindingSink {
  private final List<Finding> findings = new ArrayList<>();
  private final Set<Stmt> seen = Collections.newSetFromMap(new IdentityHashMap<>());

  private RaceCollector() {}

  /** The races of an execution and, last, the finding that ended it. */
  public static List<Finding> collect(Consumer<FindingSink> execution) {
    RaceCollector collector = new RaceCollector();
    try {
      execution.accept(collector);
    } catch (SimulationError e) {
      collector.report(e);
    }
    return List.copyOf(collector.findings);
  }

  @Override
  public boolean wants(Stmt where) {
    return seen.add(where);
  }

  @Override
  public void report(SimulationError error) {
    findings.addAll(error.findings());
  }
}
