package dev.warpwright.schedule.trace;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.UserError;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Calls the primitives that instructions name. */
final class Replay {
  private final Schedule schedule;
  private final Map<String, LoopRef> loops = new HashMap<>();

  private Replay(Schedule schedule) {
    this.schedule = schedule;
  }

  static Schedule run(Trace trace, PrimFunc func) {
    Replay replay = new Replay(new Schedule(func));
    for (int i = 0; i < trace.instructions().size(); i++) {
      Instruction instruction = trace.instructions().get(i);
      try {
        replay.apply(instruction);
      } catch (IndexOutOfBoundsException
          | ClassCastException
          | IllegalArgumentException
          | ArithmeticException e) {
        throw new UserError(
            "trace: instruction " + i + " (" + instruction.op() + ") is malformed: " + e, e);
      }
    }
    return replay.schedule;
  }

  private void apply(Instruction x) {
    switch (x.op()) {
      case "loops" -> name(x, schedule.loops(block(x, 0)));
      case "split" -> {
        Schedule.Halves halves = schedule.split(loop(x, 0), number(x, "factor"));
        name(x, List.of(halves.outer(), halves.inner()));
      }
      case "fuse" -> name(x, List.of(schedule.fuse(loop(x, 0), loop(x, 1))));
      case "reorder" -> schedule.reorder(x.inputs().stream().map(this::loop).toList());
      case "bind" -> schedule.bind(loop(x, 0), ThreadAxis.parse(text(x, "axis")));
      case "parallel" -> schedule.parallel(loop(x, 0));
      case "vectorize" -> schedule.vectorize(loop(x, 0));
      case "unroll" -> schedule.unroll(loop(x, 0));
      case "pipeline" -> schedule.pipeline(loop(x, 0), integer(x, "stages"));
      case "blockOrder" ->
          name(
              x,
              List.of(
                  schedule.blockOrder(loop(x, 0), loop(x, 1), BlockOrder.parse(text(x, "order")))));
      case "persistent" -> schedule.persistent(loop(x, 0), number(x, "blocks"));
      case "roles" -> schedule.roles(integer(x, "producers"), integer(x, "consumers"));
      case "cluster" -> schedule.cluster(integer(x, "m"), integer(x, "n"));
      case "multicast" -> schedule.multicast(block(x, 0));
      case "annotateLoop" -> schedule.annotate(loop(x, 0), text(x, "key"), value(x, "value"));
      case "annotateBlock" -> schedule.annotate(block(x, 0), text(x, "key"), value(x, "value"));
      case "annotate" -> schedule.annotate(text(x, "key"), value(x, "value"));
      case "computeAt" -> schedule.computeAt(block(x, 0), loop(x, 1));
      case "reverseComputeAt" -> schedule.reverseComputeAt(block(x, 0), loop(x, 1));
      case "computeInline" -> schedule.computeInline(block(x, 0));
      case "decomposeReduction" ->
          expect(x, 0, schedule.decomposeReduction(block(x, 0), loop(x, 1)).name());
      case "setScope" -> schedule.setScope(buffer(x, 0), Scope.parse(text(x, "scope")));
      case "cacheRead" -> {
        List<BlockRef> readers =
            x.inputs().subList(1, x.inputs().size()).stream().map(BlockRef::new).toList();
        Scope scope = Scope.parse(text(x, "scope"));
        expect(x, 0, schedule.cacheRead(buffer(x, 0), scope, readers).name());
      }
      case "cacheWrite" -> {
        Schedule.Written written = schedule.cacheWrite(block(x, 0), Scope.parse(text(x, "scope")));
        expect(x, 0, written.copy().name());
        expect(x, 1, written.buffer().name());
      }
      case "compact" -> schedule.compact(buffer(x, 0));
      case "storageAlign" ->
          schedule.storageAlign(
              buffer(x, 0), integer(x, "dimension"), number(x, "factor"), number(x, "offset"));
      case "blockize" -> schedule.blockize(loop(x, 0));
      case "transformLayout" ->
          schedule.transformLayout(
              buffer(x, 0), numbers(x, "order").stream().map(Math::toIntExact).toList());
      case "pad" -> schedule.pad(block(x, 0), numbers(x, "multiples"));
      case "tensorize" ->
          schedule.tensorize(
              block(x, 0), x.inputs().size() > 1 ? loop(x, 1) : null, new Attrs(x.attrs()));
      default -> throw new UserError("trace: there is no primitive '" + x.op() + "'");
    }
  }

  private BlockRef block(Instruction x, int input) {
    return new BlockRef(x.inputs().get(input));
  }

  private BufferRef buffer(Instruction x, int input) {
    return new BufferRef(x.inputs().get(input));
  }

  private LoopRef loop(Instruction x, int input) {
    return loop(x.inputs().get(input));
  }

  private LoopRef loop(String id) {
    LoopRef loop = loops.get(id);
    if (loop == null) {
      throw new UserError("trace: loop " + id + " is used before it is made");
    }
    return loop;
  }

  private void name(Instruction x, List<LoopRef> made) {
    if (made.size() != x.outputs().size()) {
      throw new UserError(
          "trace: " + x.op() + " gives " + made.size() + " loops, the trace has " + x.outputs());
    }
    for (int i = 0; i < made.size(); i++) {
      loops.put(x.outputs().get(i), made.get(i));
    }
  }

  private static void expect(Instruction x, int output, String name) {
    if (!x.outputs().get(output).equals(name)) {
      throw new UserError(
          "trace: " + x.op() + " gives " + name + ", the trace has " + x.outputs().get(output));
    }
  }

  private static Object value(Instruction x, String key) {
    Object value = x.attrs().get(key);
    if (value == null) {
      throw new UserError("trace: " + x.op() + " lacks '" + key + "'");
    }
    return value;
  }

  private static long number(Instruction x, String key) {
    return (Long) value(x, key);
  }

  private static int integer(Instruction x, String key) {
    return Math.toIntExact(number(x, key));
  }

  /** Numbers with commas. */
  private static List<Long> numbers(Instruction x, String key) {
    return Arrays.stream(text(x, key).split(",")).map(Long::valueOf).toList();
  }

  private static String text(Instruction x, String key) {
    return (String) value(x, key);
  }
}
