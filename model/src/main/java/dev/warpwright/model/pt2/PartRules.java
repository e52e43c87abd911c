package dev.warpwright.model.pt2;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Dim;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Operators that put tensors together and take them apart, and constants. */
final class PartRules {
  private static final long MAX_PARTS = 1 << 16;

  private PartRules() {}

  static void concat(AtenCall call) {
    List<String> tensors = call.tensors("tensors");
    int axis = axis(call, call.rank(call.output()));
    DType type = call.outputType();
    List<String> parts = tensors.stream().map(tensor -> call.cast(tensor, type)).toList();
    call.last("Concat", parts, Map.of("axis", AtenCall.of(axis)));
  }

  static void stack(AtenCall call) {
    int axis = axis(call, call.rank(call.output()));
    String at = call.vector(List.of((long) axis));
    List<String> parts = new ArrayList<>();
    for (String tensor : call.tensors("tensors")) {
      parts.add(call.step("Unsqueeze", tensor, at));
    }
    call.last("Concat", parts, Map.of("axis", AtenCall.of(axis)));
  }

  private static int axis(AtenCall call, int rank) {
    return call.dimension(call.integer("dim", 0), rank);
  }

  /** Into parts of one size; the last may be smaller. */
  static void split(AtenCall call) {
    String x = call.tensor("self");
    int axis = axis(call, call.rank(x));
    long total = call.size(x, axis);
    long size = call.integer("split_size", 0);
    if (size < 1 || (total - 1) / size >= MAX_PARTS) {
      throw call.error("splits " + total + " into parts of " + size);
    }
    List<Long> sizes = new ArrayList<>();
    for (long at = 0; at < total; at += size) {
      sizes.add(Math.min(size, total - at));
    }
    parts(call, x, axis, sizes);
  }

  static void splitWithSizes(AtenCall call) {
    String x = call.tensor("self");
    parts(call, x, axis(call, call.rank(x)), call.integers("split_sizes"));
  }

  static void chunk(AtenCall call) {
    String x = call.tensor("self");
    int axis = axis(call, call.rank(x));
    long total = call.size(x, axis);
    long chunks = call.integer("chunks", 0);
    if (chunks < 1 || chunks > MAX_PARTS) {
      throw call.error("splits " + total + " into " + chunks + " parts");
    }
    long size = (total + chunks - 1) / chunks;
    List<Long> sizes = new ArrayList<>();
    for (long at = 0; at < total; at += size) {
      sizes.add(Math.min(size, total - at));
    }
    parts(call, x, axis, sizes);
  }

  private static void parts(AtenCall call, String x, int axis, List<Long> sizes) {
    List<String> outputs = new ArrayList<>();
    for (int i = 0; i < sizes.size(); i++) {
      outputs.add(call.output(i));
    }
    if (!call.output(sizes.size()).isEmpty()) {
      throw call.error("has more outputs than the " + sizes.size() + " parts");
    }
    call.emit("Split", List.of(x, call.vector(sizes)), Map.of("axis", AtenCall.of(axis)), outputs);
  }

  /** Each index of a dimension for itself. */
  static void unbind(AtenCall call) {
    String x = call.tensor("self");
    int axis = axis(call, call.rank(x));
    long total = Math.min(call.size(x, axis), MAX_PARTS);
    for (int i = 0; i < total && !call.output(i).isEmpty(); i++) {
      gather(call, x, axis, i, call.output(i));
    }
  }

  static void select(AtenCall call) {
    String x = call.tensor("self");
    int axis = axis(call, call.rank(x));
    gather(call, x, axis, call.integer("index", 0), call.output());
  }

  private static void gather(AtenCall call, String x, int axis, long index, String output) {
    String at = call.scalar(index, DType.I64);
    call.emit("Gather", List.of(x, at), Map.of("axis", AtenCall.of(axis)), List.of(output));
  }

  static void indexSelect(AtenCall call) {
    String x = call.tensor("self");
    int axis = axis(call, call.rank(x));
    call.last("Gather", List.of(x, call.tensor("index")), Map.of("axis", AtenCall.of(axis)));
  }

  /** What keeps all of a dimension, known or not, keeps the tensor. */
  static void slice(AtenCall call) {
    String x = call.tensor("self");
    long step = call.integer("step", 1);
    List<Dim> shape = call.meta(x).shape();
    int axis = axis(call, shape.size());
    boolean fromStart = !call.has("start") || call.raw("start").equals(new Argument.OfInt(0));
    if (fromStart && step == 1 && shape.equals(call.meta(call.output()).shape())) {
      call.last("Identity", x);
      return;
    }
    call.last(
        "Slice",
        x,
        call.vector(List.of(call.integer("start", 0))),
        call.vector(List.of(call.integer("end", Long.MAX_VALUE))),
        call.vector(List.of((long) axis)),
        call.vector(List.of(step)));
  }

  static void narrow(AtenCall call) {
    String x = call.tensor("self");
    long start = call.integer("start", 0);
    long length = call.integer("length", 0);
    if (start < 0 || length < 1 || start > Long.MAX_VALUE - length) {
      throw call.error("takes " + length + " from " + start + " on");
    }
    call.last(
        "Slice",
        x,
        call.vector(List.of(start)),
        call.vector(List.of(start + length)),
        call.vector(List.of((long) axis(call, call.rank(x)))));
  }

  static void scalarTensor(AtenCall call) {
    call.last("Identity", call.scalar(call.number("s"), call.outputType()));
  }

  /** A constant of one number in a shape that is known. */
  static void full(AtenCall call) {
    call.last(
        "Identity",
        call.filled(call.number("fill_value"), call.outputType(), call.integers("size")));
  }
}
