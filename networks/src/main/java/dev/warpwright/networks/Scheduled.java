package dev.warpwright.networks;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.trace.Trace;

/**
 * What a schedule made of a function.
 *
 * @param tiles the tile program
 * @param trace how it came about
 */
public record Scheduled(PrimFunc tiles, Trace trace) {
  /** The state of a session. */
  public static Scheduled by(Schedule schedule) {
    return new Scheduled(schedule.func(), schedule.trace());
  }
}
