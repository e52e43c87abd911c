package dev.warpwright.sim.finding;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.SimulationError;

/** Where races go, which need not end the execution. */
public interface FindingSink {
  /** Whether another race at this statement says anything new. */
  boolean wants(Stmt where);

  void report(SimulationError error);

  /** Throws everything. */
  FindingSink THROWING =
      new FindingSink() {
        @Override
        public boolean wants(Stmt where) {
          return true;
        }

        @Override
        public void report(SimulationError error) {
          throw error;
        }
      };
}
