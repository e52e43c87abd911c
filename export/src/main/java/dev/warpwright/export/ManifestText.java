package dev.warpwright.export;

import dev.warpwright.base.json.Json;
import dev.warpwright.export.Exported.State;
import dev.warpwright.export.LaunchPlan.Begin;
import dev.warpwright.export.LaunchPlan.Fill;
import dev.warpwright.export.LaunchPlan.Passed;
import dev.warpwright.export.LaunchPlan.Start;
import dev.warpwright.export.Signature.Argument;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What is to be known of machine code to launch it from any language: entries, arguments, tensor
 * maps, tables, workspace. Where a number depends on the row count it is an expression in a string.
 */
final class ManifestText {
  private ManifestText() {}

  static String of(Exported exported, Signature signature, LaunchPlan plan) {
    Json.Members json =
        Json.object()
            .with("name", ProjectText.name(exported))
            .with("about", exported.about())
            .with("target", exported.target().name())
            .with("cubin", BinaryFiles.cubin(exported));
    var rows = exported.rows();
    if (rows != null) {
      json =
          json.with(
              "rows",
              Json.object()
                  .with("name", signature.text().of(rows))
                  .with("min", rows.min())
                  .with("max", rows.max()));
    }
    List<Json> arguments = new ArrayList<>();
    for (Argument argument : signature.arguments()) {
      Buffer buffer = argument.buffer();
      if (buffer != null && !plan.workspace().contains(buffer)) {
        arguments.add(
            buffer(buffer, signature)
                .with("role", exported.buffers(Role.INPUT).contains(buffer) ? "input" : "output"));
      }
    }
    json = json.with("arguments", new Json.Array(arguments));
    Exported.Sample sample = exported.sample();
    if (!exported.buffers(Role.CONSTANT).isEmpty() && sample != null) {
      List<Json> constants = new ArrayList<>();
      for (Buffer constant : exported.buffers(Role.CONSTANT)) {
        Long at = sample.constants().get(constant);
        constants.add(buffer(constant, signature).with("offset", at == null ? 0 : at));
      }
      json =
          json.with(
              "constants",
              Json.object()
                  .with("file", sample.constantsFile())
                  .with("bytes", FatText.bytes(exported))
                  .with("parts", new Json.Array(constants)));
    }
    List<Json> workspace = new ArrayList<>();
    for (Buffer buffer : plan.workspace()) {
      Json.Members piece = buffer(buffer, signature);
      workspace.add(
          switch (exported.state().get(buffer)) {
            case State.Table(List<Integer> values) ->
                piece.with("holds", Json.array(values, v -> Json.of((long) v)));
            case State.Zero() -> piece.with("holds", "zeros before the first launch");
            case null -> piece;
          });
    }
    json = json.with("workspace", new Json.Array(workspace));
    json = json.with("steps", Json.array(plan.steps(), step -> step(step, signature)));
    return lines(json);
  }

  /** A member on each line, for people and for diffs. */
  private static String lines(Json.Members json) {
    StringBuilder out = new StringBuilder("{");
    String separator = "\n";
    for (Map.Entry<String, Json> member : json.members().entrySet()) {
      out.append(separator).append("  \"").append(member.getKey()).append("\": ");
      out.append(member.getValue().write());
      separator = ",\n";
    }
    return out.append("\n}\n").toString();
  }

  private static Json.Members buffer(Buffer buffer, Signature signature) {
    return Json.object()
        .with("name", signature.text().of(buffer))
        .with("type", buffer.dtype().text())
        .with("elements", LaunchPlan.elements(buffer, signature, ""));
  }

  private static Json step(LaunchPlan.Action action, Signature signature) {
    return switch (action) {
      case Fill(Buffer buffer, int value) ->
          Json.object().with("fill", signature.text().of(buffer)).with("byte", value);
      case Begin(Buffer from, Buffer to) ->
          Json.object()
              .with("carry", signature.text().of(from))
              .with("to", signature.text().of(to));
      case Start start ->
          Json.object()
              .with("entry", start.entry())
              .with("grid", Json.array(start.grid(), Json::of))
              .with("block", Json.array(start.block(), Json::of))
              .with("dynamicSharedBytes", start.dynamicShared())
              .with("programmaticStreamSerialization", start.overlaps())
              .with(
                  "arguments", Json.array(start.arguments(), passed -> argument(passed, signature)))
              .with(
                  "tensorMaps",
                  Json.array(
                      start.maps(),
                      map ->
                          Json.object()
                              .with("of", signature.text().of(map.buffer()))
                              .with("type", map.dtype().text())
                              .with("rows", map.rows())
                              .with("columns", map.columns())
                              .with("matrices", map.matrices())
                              .with("boxRows", map.boxRows())
                              .with("boxColumns", map.boxColumns())
                              .with("swizzleBytes", map.swizzleBytes())));
    };
  }

  private static Json argument(Passed passed, Signature signature) {
    Buffer buffer = passed.buffer();
    return buffer == null
        ? Json.object().with("i32", passed.value())
        : Json.object().with("pointer", signature.text().of(buffer));
  }
}
