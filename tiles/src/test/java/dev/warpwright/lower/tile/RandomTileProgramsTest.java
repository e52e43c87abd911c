package dev.warpwright.lower.tile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.ir.visit.FlowSites;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Random tile programs mean the same before and behind each pass, however they are executed. */
class RandomTileProgramsTest {
  private static final int PROGRAMS = Integer.getInteger("programs", 24);
  private final Map<String, Integer> seen = new TreeMap<>();

  private static PrimFunc parse(String text) {
    return new IrParser(name -> Optional.empty()).primFunc("random", text);
  }

  private static byte[] result(PrimFunc f, Options options) {
    Arguments arguments = Arguments.random(f.params(), 11);
    Interpreter.of(f, options).run(arguments);
    return arguments.get("y").bytes();
  }

  private static List<Options> ways(long seed) {
    List<Options> ways = new ArrayList<>();
    for (Options.Order order : Options.Order.values()) {
      ways.add(Options.CHECKED.withOrder(order, seed));
      ways.add(Options.CHECKED.withOrder(order, seed).asLateAsAllowed());
    }
    return ways;
  }

  private void check(String what, PrimFunc f, byte[] expected, long seed) {
    String text = IrPrinter.text(f);
    assertThat(Verifier.verify(f)).as("%s of seed %d:%n%s", what, seed, text).isEmpty();
    PrimFunc again = parse(text);
    assertThat(StructuralEquality.equal(f, again)).as(text).isTrue();
    for (Options options : ways(seed)) {
      byte[] got;
      try {
        got = result(f, options);
      } catch (RuntimeException e) {
        throw new AssertionError(
            what + " of seed " + seed + ", " + options + ": " + e.getMessage() + "\n" + text, e);
      }
      assertThat(got).as("%s of seed %d, %s:%n%s", what, seed, options, text).isEqualTo(expected);
    }
  }

  private void count(String what, boolean happened) {
    seen.merge(what, happened ? 1 : 0, Integer::sum);
  }

  private void observe(PrimFunc planned) {
    FlowSites sites = FlowSites.of(planned.body());
    Walk.statements(
        planned.body(),
        s -> {
          if (s instanceof Stmt.Flow.PipeScope(Pipe pipe, Stmt body)) {
            boolean kept = pipe.name().startsWith("kept");
            long produces =
                sites.of(pipe).stream().filter(x -> x.kind() == FlowSites.Kind.PRODUCE).count();
            count("kept", kept);
            count("ring of one loop", !kept && produces == 1);
            count("ring of several loops", !kept && produces > 1);
          }
        });
  }

  private void shareRows(PrimFunc planned, byte[] expected, long seed) {
    Attrs attrs = planned.attrs().with("consumers", 2).with("share", "rows");
    try {
      PrimFunc assigned = AssignRoles.apply(planned.withAttrs(attrs));
      count("shared rows", true);
      check("AssignRoles for shared rows", assigned, expected, seed);
    } catch (PassRefusal e) {
      count("refused: " + e.getMessage(), true);
    }
  }

  @Test
  void sameBeforeAndBehind() {
    for (long seed = 0; seed < PROGRAMS; seed++) {
      PrimFunc before = parse(RandomTilePrograms.of(seed));
      byte[] expected = result(before, Options.EXACT);
      assertThat(Verifier.verify(before)).as(IrPrinter.text(before)).isEmpty();
      PrimFunc planned = PlanPipes.apply(before);
      assertThat(TileFacts.loops(planned.body(), ForKind.PIPELINED)).isEmpty();
      check("PlanPipes", planned, expected, seed);
      observe(planned);
      for (int consumers = 1; consumers <= 3; consumers++) {
        Attrs attrs = planned.attrs().with("consumers", consumers);
        PrimFunc assigned;
        try {
          assigned = AssignRoles.apply(planned.withAttrs(attrs));
        } catch (PassRefusal e) {
          count("refused: " + e.getMessage(), true);
          continue;
        }
        count("consumers " + consumers, true);
        check("AssignRoles for " + consumers, assigned, expected, seed);
      }
      shareRows(planned, expected, seed);
    }
    // The generator makes what the passes are about, and little of it is refused.
    for (String what : List.of("kept", "ring of one loop", "ring of several loops")) {
      assertThat(seen.get(what)).as("%s in %s", what, seen).isGreaterThan(PROGRAMS / 10);
    }
    assertThat(seen.get("consumers 1")).as("%s", seen).isGreaterThan(PROGRAMS * 3 / 4);
    assertThat(seen.get("consumers 3")).as("%s", seen).isGreaterThan(PROGRAMS / 2);
    assertThat(seen.get("shared rows")).as("%s", seen).isGreaterThan(PROGRAMS / 2);
  }
}
