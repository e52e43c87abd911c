package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.api.FloatMode;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.Symbols;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.sim.interpret.FlowCompiler;
import dev.warpwright.sim.interpret.Manner;
import dev.warpwright.sim.interpret.RoleProcess;
import dev.warpwright.sim.interpret.StmtCompiler;
import dev.warpwright.sim.memory.Shadow;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Executes a PrimFunc, a tile program or a host kernel. The tree is compiled to closures once;
 * {@link #run} may then be called any number of times, by several threads at once.
 *
 * <p>Elements of allocated buffers start as NaN or 0xCD bytes. In {@link FloatMode#DOUBLE} every
 * float buffer is held in f64: an f64 array given for it is used in place and keeps the full
 * precision, an array of the declared type is rounded at the end.
 */
public final class Interpreter {
  private final Context context;
  private final List<Param> params;
  private final Exec body;
  private final Set<Buffer> counters;

  /** Whether accesses of roles to what they share are checked. */
  private final boolean races;

  private Interpreter(Source source, List<Param> params, Stmt body, Options options) {
    this.params = params;
    this.context =
        new Context(
            source, options.precision(), new Symbols(), false, options.trackUninitialised(), false);
    this.counters = FlowCompiler.counters(body);
    boolean[] roles = {false};
    Walk.statements(body, s -> roles[0] |= s instanceof Stmt.Flow.Roles);
    this.races = roles[0] && options.trackUninitialised();
    this.body =
        new StmtCompiler(
                context, new Manner(options.order().turns(), options.seed(), options.late()), body)
            .compile(body);
  }

  /**
   * {@return an interpreter of a computation or tile program}
   *
   * @param func any function that the verifier accepts
   * @param options how it is executed, and what is checked
   */
  public static Interpreter of(PrimFunc func, Options options) {
    return new Interpreter(Source.of(func), func.params(), func.body(), options);
  }

  /**
   * {@return an interpreter of a host kernel}
   *
   * @param kernel for the host
   * @param options how it is executed, and what is checked
   * @throws IllegalArgumentException for a grid kernel, which {@code GridInterpreter} runs
   */
  public static Interpreter of(Kernel kernel, Options options) {
    if (kernel.kind() != Kernel.Kind.HOST) {
      throw new IllegalArgumentException(kernel.name() + " is a grid kernel");
    }
    return new Interpreter(Source.of(kernel), kernel.params(), kernel.body(), options);
  }

  /**
   * Compiles and runs once, bit-exact.
   *
   * @param func any function that the verifier accepts
   * @param arguments for its parameters, whose arrays are read and written
   */
  public static void run(PrimFunc func, Arguments arguments) {
    of(func, Options.EXACT).run(arguments);
  }

  /**
   * Runs on these arguments, whose arrays are read and written.
   *
   * @param arguments for the parameters
   * @throws SimulationError if the execution does what the IR does not define
   * @throws IllegalArgumentException if an argument is missing or does not fit its parameter
   */
  public void run(Arguments arguments) {
    Symbols symbols = context.symbols();
    Frame frame = new Frame(symbols);
    frame.process = new RoleProcess();
    arguments.setScalars(frame, symbols);
    Map<NdArray, NdArray> wide = new IdentityHashMap<>();
    for (Param p : params) {
      if (p instanceof Buffer b && symbols.knows(b)) {
        arguments.check(b, context.precision());
        NdArray array = arguments.get(b);
        NdArray stored =
            context.precision() == FloatMode.DOUBLE
                ? wide.computeIfAbsent(array, NdArray::widened)
                : array;
        int slot = symbols.slot(b);
        frame.memory[slot] = stored.bytes();
        frame.outer[slot] = array.rank() == 0 ? 1 : array.shape()[0];
        if (counters.contains(b)) {
          Arrays.fill(stored.bytes(), (byte) 0);
        } else if (races) {
          int elements = stored.bytes().length / context.stored(b.dtype()).bytes();
          Shadow shadow = context.shadow(b, elements, false, false, FindingSink.THROWING);
          shadow.betweenRoles(elements);
          frame.shadows[slot] = shadow;
        }
      }
    }
    body.run(frame);
    wide.forEach(
        (array, stored) -> {
          if (array != stored) {
            array.narrowFrom(stored);
          }
        });
  }
}
