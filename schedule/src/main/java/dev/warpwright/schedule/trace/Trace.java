package dev.warpwright.schedule.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The primitives that were applied to a function, in order. Applied to an equal function again, by
 * {@code Replay}, they give an equal result: what was sampled is recorded, and chosen again.
 *
 * @param instructions in the order in which they were applied
 */
public record Trace(List<Instruction> instructions) {
  /** The argument of a sampling instruction that records what was chosen. */
  public static final String DECISION = "decision";

  /** Copies the list. */
  public Trace {
    instructions = List.copyOf(instructions);
  }

  // --- choices

  /** {@return what was chosen, in order} */
  public List<Decision> decisions() {
    List<Decision> decisions = new ArrayList<>();
    for (int i = 0; i < instructions.size(); i++) {
      Instruction x = instructions.get(i);
      if (x.attrs().get(DECISION) instanceof String chosen) {
        decisions.add(new Decision(i, x.op(), Decision.read(chosen)));
      }
    }
    return decisions;
  }

  /**
   * {@return the same with another choice} Whether it is a possible one is seen when the trace is
   * replayed.
   *
   * @param instruction the index of a sampling instruction
   * @param chosen what the instruction chooses instead
   * @throws IllegalArgumentException if that instruction samples nothing
   */
  public Trace withDecision(int instruction, List<Long> chosen) {
    Instruction old = instructions.get(instruction);
    if (!old.op().startsWith("sample")) {
      throw new IllegalArgumentException(
          "instruction " + instruction + ", " + old.op() + ", samples nothing");
    }
    SortedMap<String, Object> attrs = new TreeMap<>(old.attrs());
    attrs.put(DECISION, Decision.write(chosen));
    List<Instruction> changed = new ArrayList<>(instructions);
    changed.set(instruction, new Instruction(old.op(), old.inputs(), attrs, old.outputs()));
    return new Trace(changed);
  }

  /** {@return the same without its choices: a replay makes new ones} */
  public Trace withoutDecisions() {
    List<Instruction> open = new ArrayList<>();
    for (Instruction x : instructions) {
      SortedMap<String, Object> attrs = new TreeMap<>(x.attrs());
      attrs.remove(DECISION);
      open.add(new Instruction(x.op(), x.inputs(), attrs, x.outputs()));
    }
    return new Trace(open);
  }

  // --- text

  /** {@return a JSON document: an array with one instruction in each line} */
  public String toJson() {
    return TraceJson.write(this);
  }

  /**
   * Reads what {@link #toJson} writes.
   *
   * @param json an array of instructions
   * @return the trace
   * @throws dev.warpwright.base.UserError if the text is no trace
   */
  public static Trace parse(String json) {
    return TraceJson.read(json);
  }
}
