package dev.warpwright.schedule.trace;

import dev.warpwright.ir.PrimFunc;
import java.util.List;

/**
 * The primitives that were applied to a function, in order. Applied to an equal function again they
 * give an equal result.
 */
public record Trace(List<Instruction> instructions) {
  public Trace {
    instructions = List.copyOf(instructions);
  }

  /**
   * Does the same to another function.
   *
   * @throws dev.warpwright.schedule.ScheduleError if a primitive refuses
   * @throws dev.warpwright.ir.UserError if the trace does not fit the function, or is none
   */
  public PrimFunc replay(PrimFunc func) {
    return Replay.run(this, func).func();
  }

  /** A JSON document: an array with one instruction in each line. */
  public String toJson() {
    return TraceJson.write(this);
  }

  /**
   * Reads what {@link #toJson} writes.
   *
   * @throws dev.warpwright.ir.UserError if the text is no trace
   */
  public static Trace parse(String json) {
    return TraceJson.read(json);
  }
}
