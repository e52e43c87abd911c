package dev.warpwright.schedule.trace;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The text form of a trace: a JSON array of objects {@code {"op": …, "in": […], "attrs": {…},
 * "out": […]}} with strings and integers as leaves, an object a line.
 */
final class TraceJson {
  private TraceJson() {}

  static String write(Trace trace) {
    return trace.instructions().stream()
        .map(x -> "\n  " + json(x).write())
        .collect(Collectors.joining(",", "[", "\n]\n"));
  }

  private static Json json(Instruction x) {
    Json.Members attrs = Json.object();
    for (Map.Entry<String, Object> attr : x.attrs().entrySet()) {
      attrs =
          attr.getValue() instanceof Long number
              ? attrs.with(attr.getKey(), number)
              : attrs.with(attr.getKey(), attr.getValue().toString());
    }
    return Json.object()
        .with("op", x.op())
        .with("in", Json.array(x.inputs(), Json::of))
        .with("attrs", attrs)
        .with("out", Json.array(x.outputs(), Json::of));
  }

  static Trace read(String text) {
    if (!(JsonParser.parse("trace", text) instanceof Json.Array(List<Json> elements))) {
      throw new UserError("trace: a trace is an array");
    }
    List<Instruction> instructions = new ArrayList<>();
    for (Json element : elements) {
      if (!(element instanceof Json.Members(Map<String, Json> members))
          || !(members.get("op") instanceof Json.Text(String op))
          || !(members.get("attrs") instanceof Json.Members(Map<String, Json> attrs))) {
        throw new UserError("trace: an instruction lacks \"op\" or \"attrs\"");
      }
      SortedMap<String, Object> arguments = new TreeMap<>();
      attrs.forEach((key, value) -> arguments.put(key, leaf(value)));
      instructions.add(
          new Instruction(
              op,
              names(op, "in", members.get("in")),
              arguments,
              names(op, "out", members.get("out"))));
    }
    return new Trace(instructions);
  }

  private static Object leaf(Json value) {
    if (value instanceof Json.Text(String text)) {
      return text;
    }
    if (value instanceof Json.Number(String written)) {
      try {
        return Long.valueOf(written);
      } catch (NumberFormatException e) {
        // Reported below, like everything that is no integer.
      }
    }
    throw new UserError("trace: an argument is neither an integer nor a string");
  }

  private static List<String> names(String op, String key, @Nullable Json value) {
    String what = "trace: \"" + key + "\" of " + Json.of(op).write();
    if (!(value instanceof Json.Array(List<Json> elements))) {
      throw new UserError(what + " is no array");
    }
    List<String> names = new ArrayList<>();
    for (Json element : elements) {
      if (!(element instanceof Json.Text(String name))) {
        throw new UserError(what + " has something else than names");
      }
      names.add(name);
    }
    return names;
  }
}
