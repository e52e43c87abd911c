package dev.warpwright.sim.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Rule;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.InstanceOfAssertFactories;

/** Programs with pipes as text, in all the ways in which they may be executed. */
final class Flows {
  /** At issue and as late as allowed, in several turns of the roles. */
  static final List<Options> WAYS = ways();

  private Flows() {}

  private static List<Options> ways() {
    List<Options> ways = new ArrayList<>();
    for (Options once :
        List.of(
            Options.CHECKED,
            Options.CHECKED.withOrder(Options.Order.REVERSE, 0),
            Options.CHECKED.withOrder(Options.Order.SHUFFLED, 1),
            Options.CHECKED.withOrder(Options.Order.SHUFFLED, 2))) {
      ways.add(once);
      ways.add(once.asLateAsAllowed());
    }
    return ways;
  }

  static PrimFunc parse(String text) {
    return new IrParser(name -> Optional.empty()).primFunc("test", text);
  }

  /** The results on random arguments. */
  static Arguments run(PrimFunc f, Options options) {
    Arguments arguments = Arguments.random(f.params(), 7);
    Interpreter.of(f, options).run(arguments);
    return arguments;
  }

  /** Well formed, and every way gives what a plain program gives. */
  static void clean(String text, String plain, String result) {
    PrimFunc f = parse(text);
    assertThat(Verifier.verify(f)).isEmpty();
    byte[] expected = run(parse(plain), Options.EXACT).get(result).bytes();
    for (Options options : WAYS) {
      assertThat(run(f, options).get(result).bytes()).as(options.toString()).isEqualTo(expected);
    }
    assertThat(run(f, Options.EXACT).get(result).bytes()).isEqualTo(expected);
  }

  static void refused(String text, Rule rule, String message) {
    List<Problem> problems = Verifier.verify(parse(text));
    assertThat(problems).extracting(Problem::rule).containsOnly(rule);
    assertThat(problems.getFirst().message()).contains(message);
  }

  /** Found in this way of execution. */
  static void found(String text, Options options, Finding.Kind kind, String message) {
    PrimFunc f = parse(text);
    assertThatThrownBy(() -> run(f, options))
        .hasMessageContaining(message)
        .asInstanceOf(InstanceOfAssertFactories.type(SimulationError.class))
        .extracting(e -> e.findings().getFirst().kind())
        .isEqualTo(kind);
  }
}
