package dev.warpwright.schedule;

import dev.warpwright.base.Spelling;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.Combine;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.schedule.trace.Decision;
import dev.warpwright.schedule.trace.Instruction;
import dev.warpwright.schedule.trace.Trace;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Does what a {@link Trace} says: calls the primitives that its instructions name. */
public final class Replay {
  /** Steps are methods of a schedule; what is near one of them was meant to be one. */
  private static final Set<String> PRIMITIVES =
      Arrays.stream(Schedule.class.getDeclaredMethods())
          .filter(method -> Modifier.isPublic(method.getModifiers()))
          .map(Method::getName)
          .collect(Collectors.toCollection(TreeSet::new));

  private final Schedule schedule;
  private final @Nullable Function<String, LoopRef> finder;
  private final Map<String, LoopRef> loops = new HashMap<>();
  private final Map<String, ValueRef> values = new HashMap<>();

  /** Blocks and buffers that steps call otherwise than the function does. */
  private final Map<String, String> names = new HashMap<>();

  /** Arguments that the last step's primitive has. */
  private final Set<String> asked = new TreeSet<>();

  private Replay(Schedule schedule, @Nullable Function<String, LoopRef> finder) {
    this.schedule = schedule;
    this.finder = finder;
  }

  /**
   * {@return what takes steps that a person writes: results may have any name or none, and loops
   * that no step has named are found}
   *
   * @param schedule to which {@link #step} applies
   * @param finder of a loop by {@code LOOP} or {@code BLOCK.LOOP}; throws {@link UserError} if
   *     there is none
   */
  public static Replay byHand(Schedule schedule, Function<String, LoopRef> finder) {
    return new Replay(schedule, finder);
  }

  /**
   * Takes one step.
   *
   * @param x named as in a trace
   * @throws ScheduleError if the primitive refuses
   * @throws UserError if it is no step of this function
   */
  public void step(Instruction x) {
    try {
      if (x.op().equals("compactAll")) {
        // Written by hand only: a trace has a compact for each buffer.
        schedule.compactAll();
      } else {
        asked.clear();
        apply(x);
        refuseOthers(x);
      }
    } catch (IndexOutOfBoundsException
        | ClassCastException
        | IllegalArgumentException
        | ArithmeticException e) {
      throw new UserError(x.op() + " is malformed: " + e.getMessage(), e);
    }
  }

  /**
   * Does the same to another function, of another shape too where every step fits.
   *
   * @param trace what was done
   * @param func stays as it is
   * @return the function afterwards
   * @throws ScheduleError if a primitive refuses, with the instruction's number
   * @throws UserError if the trace does not fit the function, or is none
   */
  public static PrimFunc func(Trace trace, PrimFunc func) {
    return schedule(trace, func, 0).func();
  }

  /**
   * {@return a session in which the same was done, to be continued}
   *
   * @param trace what was done
   * @param func stays as it is
   * @param seed of what is sampled without a recorded decision, and later on
   * @throws ScheduleError as {@link #func}
   * @throws UserError as {@link #func}
   */
  public static Schedule schedule(Trace trace, PrimFunc func, long seed) {
    Replay replay = new Replay(new Schedule(func, seed), null);
    for (int i = 0; i < trace.instructions().size(); i++) {
      Instruction instruction = trace.instructions().get(i);
      try {
        replay.apply(instruction);
      } catch (ScheduleError e) {
        throw new ScheduleError(
            e.primitive(),
            e.requirement(),
            "instruction " + i + " of the trace does not fit: " + e.reason(),
            e.func(),
            e.culprit());
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
      case "loops" -> name(x, schedule.loops(block(x, 0)), loops);
      case "split" -> {
        Schedule.Halves halves =
            valueOf(x, "factor") instanceof ValueRef factor
                ? schedule.split(loop(x, 0), factor)
                : schedule.split(loop(x, 0), number(x, "factor"));
        name(x, List.of(halves.outer(), halves.inner()), loops);
      }
      case "merge" -> schedule.merge(loop(x, 0), loop(x, 1));
      case "fuse" -> name(x, List.of(schedule.fuse(loop(x, 0), loop(x, 1))), loops);
      case "reorder" -> schedule.reorder(x.inputs().stream().map(this::loop).toList());
      case "bind" -> schedule.bind(loop(x, 0), ThreadAxis.parse(text(x, "axis")));
      case "parallel" -> schedule.parallel(loop(x, 0));
      case "vectorize" -> schedule.vectorize(loop(x, 0));
      case "unroll" -> schedule.unroll(loop(x, 0));
      case "pipeline" -> {
        if (valueOf(x, "stages") instanceof ValueRef stages) {
          schedule.pipeline(loop(x, 0), stages);
        } else {
          schedule.pipeline(loop(x, 0), integer(x, "stages"));
        }
      }
      case "samplePerfectTile" ->
          name(
              x,
              schedule.samplePerfectTile(
                  loop(x, 0), integer(x, "parts"), number(x, "maxInnermost"), decision(x)),
              values);
      case "sampleCategorical" -> {
        List<Long> index = decision(x);
        ValueRef chosen =
            schedule.sampleCategorical(
                Decision.read(text(x, "candidates")),
                Decision.read(text(x, "weights")),
                index == null ? null : index.getFirst());
        name(x, List.of(chosen), values);
      }
      case "streamK" -> {
        Schedule.Halves halves = schedule.streamK(loop(x, 0), loop(x, 1), number(x, "workers"));
        name(x, List.of(halves.outer(), halves.inner()), loops);
      }
      case "mergeGrids" -> {
        WorkOrder order = WorkOrder.parse(text(x, "order"));
        WaitPolicy wait = WaitPolicy.parse(text(x, "wait"));
        name(x, List.of(schedule.mergeGrids(loop(x, 0), loop(x, 1), order, wait)), loops);
      }
      case "blockOrder" ->
          name(
              x,
              List.of(
                  schedule.blockOrder(loop(x, 0), loop(x, 1), BlockOrder.parse(text(x, "order")))),
              loops);
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
      case "reverseComputeInline" -> schedule.reverseComputeInline(block(x, 0));
      case "rfactor" ->
          expect(x, 0, schedule.rfactor(block(x, 0), loop(x, 1), integer(x, "axis")).name());
      case "splitK" -> {
        Combine combine = Combine.parse(text(x, "combine"));
        Schedule.Parts parts =
            valueOf(x, "parts") instanceof ValueRef chosen
                ? schedule.splitK(block(x, 0), chosen, combine)
                : schedule.splitK(block(x, 0), number(x, "parts"), combine);
        expect(x, 0, parts.partial().name());
        if (!x.outputs().isEmpty()) {
          loops.put(x.outputs().get(1), parts.part());
          loops.put(x.outputs().get(2), parts.turn());
        }
      }
      case "decomposeReduction" ->
          expect(x, 0, schedule.decomposeReduction(block(x, 0), loop(x, 1)).name());
      case "setScope" -> schedule.setScope(buffer(x, 0), Scope.parse(text(x, "scope")));
      case "cacheRead" -> {
        List<BlockRef> readers =
            x.inputs().subList(1, x.inputs().size()).stream()
                .map(name -> new BlockRef(named(name)))
                .toList();
        Scope scope = Scope.parse(text(x, "scope"));
        expect(x, 0, schedule.cacheRead(buffer(x, 0), scope, readers).name());
      }
      case "cacheWrite" -> {
        Schedule.Written written = schedule.cacheWrite(block(x, 0), Scope.parse(text(x, "scope")));
        expect(x, 0, written.copy().name());
        expect(x, 1, written.buffer().name());
      }
      case "compact" -> schedule.compact(buffer(x, 0));
      case "squeeze" -> schedule.squeeze();
      case "storageAlign" ->
          schedule.storageAlign(
              buffer(x, 0), integer(x, "dimension"), number(x, "factor"), number(x, "offset"));
      case "setLayout" -> schedule.setLayout(buffer(x, 0), IrParser.layout(text(x, "layout")));
      case "blockize" -> schedule.blockize(loop(x, 0));
      case "transformLayout" ->
          schedule.transformLayout(
              buffer(x, 0), numbers(x, "order").stream().map(Math::toIntExact).toList());
      case "pad" -> schedule.pad(block(x, 0), numbers(x, "multiples"));
      case "padRepeating" -> schedule.padRepeating(block(x, 0), numbers(x, "multiples"));
      case "tensorize" ->
          schedule.tensorize(block(x, 0), x.inputs().size() > 1 ? loop(x, 1) : null, attrs(x));
      default -> {
        String meant = Spelling.meant(x.op(), PRIMITIVES).strip();
        throw new UserError(
            "trace: there is no primitive '"
                + x.op()
                + "'"
                + (meant.isEmpty() ? "" : "; " + meant));
      }
    }
  }

  private BlockRef block(Instruction x, int input) {
    return new BlockRef(named(x.inputs().get(input)));
  }

  private BufferRef buffer(Instruction x, int input) {
    return new BufferRef(named(x.inputs().get(input)));
  }

  private String named(String name) {
    return names.getOrDefault(name, name);
  }

  private LoopRef loop(Instruction x, int input) {
    return loop(x.inputs().get(input));
  }

  private LoopRef loop(String id) {
    LoopRef loop = loops.get(id);
    if (loop == null && finder != null) {
      int dot = id.lastIndexOf('.');
      return finder.apply(dot < 0 ? id : named(id.substring(0, dot)) + id.substring(dot));
    }
    if (loop == null) {
      throw new UserError("trace: loop " + id + " is used before it is made");
    }
    return loop;
  }

  private <T> void name(Instruction x, List<T> made, Map<String, T> names) {
    if (finder != null && x.outputs().isEmpty()) {
      return;
    }
    if (made.size() != x.outputs().size()) {
      throw new UserError(
          "trace: " + x.op() + " gives " + made.size() + " results, the trace has " + x.outputs());
    }
    for (int i = 0; i < made.size(); i++) {
      names.put(x.outputs().get(i), made.get(i));
    }
  }

  private void expect(Instruction x, int output, String name) {
    if (finder != null) {
      if (!x.outputs().isEmpty()) {
        names.put(x.outputs().get(output), name);
      }
      return;
    }
    if (!x.outputs().get(output).equals(name)) {
      throw new UserError(
          "trace: " + x.op() + " gives " + name + ", the trace has " + x.outputs().get(output));
    }
  }

  private Object value(Instruction x, String key) {
    asked.add(key);
    Object value = x.attrs().get(key);
    if (value == null) {
      Set<String> others = new TreeSet<>(x.attrs().keySet());
      others.removeAll(asked);
      String like =
          others.stream()
              .filter(given -> Spelling.nearest(given, List.of(key)) != null)
              .findFirst()
              .map(given -> "; is '" + given + "' meant?")
              .orElse("");
      throw new UserError("trace: " + x.op() + " lacks '" + key + "'" + like);
    }
    return value;
  }

  /** What a person wrote and no primitive asked for was meant to do something. */
  private void refuseOthers(Instruction x) {
    for (String key : x.attrs().keySet()) {
      if (!asked.contains(key)) {
        throw new UserError(
            "trace: "
                + x.op()
                + " takes no '"
                + key
                + "'"
                + (asked.isEmpty() ? "" : "; it takes " + String.join(", ", asked)));
      }
    }
  }

  /** The sampled number that an argument stands for, or the argument itself. */
  private Object valueOf(Instruction x, String key) {
    Object value = value(x, key);
    if (!(value instanceof String id)) {
      return value;
    }
    ValueRef chosen = values.get(id);
    if (chosen == null) {
      throw new UserError("trace: value " + id + " is used before it is sampled");
    }
    return chosen;
  }

  private Attrs attrs(Instruction x) {
    asked.addAll(x.attrs().keySet());
    return new Attrs(x.attrs());
  }

  private @Nullable List<Long> decision(Instruction x) {
    asked.add(Trace.DECISION);
    return x.attrs().containsKey(Trace.DECISION) ? Decision.read(text(x, Trace.DECISION)) : null;
  }

  private long number(Instruction x, String key) {
    return (Long) value(x, key);
  }

  private int integer(Instruction x, String key) {
    return Math.toIntExact(number(x, key));
  }

  /** Numbers with commas. */
  private List<Long> numbers(Instruction x, String key) {
    return Arrays.stream(text(x, key).split(",")).map(Long::valueOf).toList();
  }

  private String text(Instruction x, String key) {
    return (String) value(x, key);
  }
}
