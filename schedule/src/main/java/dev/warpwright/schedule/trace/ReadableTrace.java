package dev.warpwright.schedule.trace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The steps of a trace for people: loops are called by where they come from, {@code c[1].inner} for
 * the inner half of the second loop around block {@code c}, instead of by number.
 */
final class ReadableTrace {
  private final Map<String, String> names = new HashMap<>();

  private ReadableTrace() {}

  static List<String> steps(Trace trace) {
    ReadableTrace readable = new ReadableTrace();
    List<String> steps = new ArrayList<>();
    for (Instruction x : trace.instructions()) {
      if (x.op().equals("loops")) {
        for (int i = 0; i < x.outputs().size(); i++) {
          readable.names.putIfAbsent(x.outputs().get(i), x.inputs().getFirst() + "[" + i + "]");
        }
      } else {
        steps.add(readable.step(x));
        readable.nameResults(x);
      }
    }
    return steps;
  }

  private String name(String id) {
    return names.getOrDefault(id, id);
  }

  private List<String> inputs(Instruction x) {
    return x.inputs().stream().map(this::name).toList();
  }

  private String step(Instruction x) {
    StringBuilder step = new StringBuilder(x.op());
    step.append('(').append(String.join(", ", inputs(x)));
    String separator = x.inputs().isEmpty() ? "" : ", ";
    for (Map.Entry<String, Object> attr : x.attrs().entrySet()) {
      String value = attr.getValue() instanceof String s ? name(s) : "" + attr.getValue();
      step.append(separator).append(attr.getKey()).append('=').append(value);
      separator = ", ";
    }
    return step.append(')').toString();
  }

  private void nameResults(Instruction x) {
    List<String> out = x.outputs();
    String from = String.join("*", inputs(x));
    switch (x.op()) {
      case "split" -> {
        names.put(out.get(0), from + ".outer");
        names.put(out.get(1), from + ".inner");
      }
      case "streamK" -> {
        names.put(out.get(0), "workers(" + from + ")");
        names.put(out.get(1), "steps(" + from + ")");
      }
      case "splitK" -> {
        names.put(out.get(1), out.get(0) + ".part");
        names.put(out.get(2), from + ".turn");
      }
      case "fuse", "blockOrder" -> names.put(out.getFirst(), "(" + from + ")");
      case "mergeGrids" -> names.put(out.getFirst(), "work(" + from + ")");
      case "samplePerfectTile" -> {
        for (int i = 0; i < out.size(); i++) {
          names.put(out.get(i), "tile(" + from + ")[" + i + "]");
        }
      }
      case "sampleCategorical" ->
          names.put(out.getFirst(), "choice(" + x.attrs().get("candidates") + ")");
      default -> {}
    }
  }
}
