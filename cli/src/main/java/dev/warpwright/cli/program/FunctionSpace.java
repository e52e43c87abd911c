package dev.warpwright.cli.program;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Sketch;
import dev.warpwright.space.Space;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * All schedules of a function that a search may try: its tiles, threads, vectors, unrolling and
 * staging, by primitives that keep the results.
 */
final class FunctionSpace {
  private static final List<FunctionSketch> SKETCHES = List.of(new TileSketch(), new RowSketch());

  private final PrimFunc function;
  private final Space space;

  /** Of each kernel that was made how. */
  private final Map<Kernel, Made> made = new IdentityHashMap<>();

  /** A schedule and its kernel. */
  record Made(Point point, Trace trace, PrimFunc scheduled, Kernel kernel) {}

  FunctionSpace(PrimFunc function) {
    this.function = function;
    this.space = new Space(SKETCHES.stream().map(this::sketch).toList());
  }

  Space space() {
    return space;
  }

  /** What a candidate is made of. */
  Made made(Candidate candidate) {
    Kernel kernel = candidate.kernel().get();
    Made known = made.get(kernel);
    if (known == null) {
      throw new IllegalStateException(candidate.point() + " was never made");
    }
    return new Made(candidate.point(), known.trace(), known.scheduled(), kernel);
  }

  private Sketch sketch(FunctionSketch sketch) {
    return new Sketch() {
      @Override
      public String name() {
        return sketch.name();
      }

      @Override
      public Plan plan(Decisions decisions) {
        Made result = make(sketch, decisions);
        made.put(result.kernel(), result);
        return new Plan(
            new Features(List.of(), new double[0], 1), result::kernel, Map.<String, Long>of());
      }
    };
  }

  private Made make(FunctionSketch sketch, Decisions decisions) {
    try {
      Schedule s = sketch.schedule(function, decisions);
      return new Made(Point.EMPTY, s.trace(), s.func(), SimtLowering.lower(s.func()));
    } catch (ScheduleError e) {
      throw new Rejected(e.primitive(), e.summary());
    } catch (LoweringException e) {
      throw new Rejected("lowering", String.valueOf(e.getMessage()));
    }
  }
}
