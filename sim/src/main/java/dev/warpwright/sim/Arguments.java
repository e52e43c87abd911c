package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.sim.api.FloatMode;
import dev.warpwright.sim.expr.CallCompiler;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.Symbols;
import dev.warpwright.sim.finding.Source;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Values of parameters: an {@link NdArray} for a buffer, a number for a scalar. A scalar that is
 * the outermost extent of a bound buffer need not be given. Arrays are used in place, not copied.
 *
 * <pre>{@code
 * Arguments arguments = Arguments.inOrder(func.params(), a, b, c);
 * Arguments random = Arguments.random(func.params(), seed, Map.of("M", 17L));
 * }</pre>
 */
public final class Arguments {
  private final List<Param> params;
  private final Map<Buffer, NdArray> arrays = new IdentityHashMap<>();
  private final Map<Var, Number> scalars = new IdentityHashMap<>();

  private Arguments(List<Param> params) {
    this.params = params;
  }

  /**
   * {@return arguments of which nothing is bound yet}
   *
   * @param params of a function, kernel or program
   */
  public static Arguments of(List<? extends Param> params) {
    return new Arguments(List.copyOf(params));
  }

  /**
   * {@return one value bound for each parameter}
   *
   * @param params of a function, kernel or program
   * @param values an {@link NdArray} for a buffer, a {@link Number} for a scalar
   */
  public static Arguments inOrder(List<? extends Param> params, Object... values) {
    if (values.length != params.size()) {
      throw new IllegalArgumentException(
          values.length + " arguments for " + params.size() + " parameters");
    }
    Arguments arguments = of(params);
    for (int i = 0; i < values.length; i++) {
      switch (params.get(i)) {
        case Buffer b -> arguments.bind(b, (NdArray) values[i]);
        case ScalarParam s -> arguments.bind(s.var(), (Number) values[i]);
      }
    }
    return arguments;
  }

  /**
   * {@return new arrays for all buffers, filled with random values (see {@link
   * NdArray#fillRandom}), each from another seed}
   *
   * @param params of a function, kernel or program
   * @param seed equal seeds give equal values
   * @param scalars values of the scalar parameters by name
   */
  public static Arguments random(
      List<? extends Param> params, long seed, Map<String, ? extends Number> scalars) {
    Arguments arguments = of(params);
    for (Param p : params) {
      if (p instanceof ScalarParam s) {
        Number value = scalars.get(s.name());
        if (value == null) {
          throw new IllegalArgumentException("no value for scalar " + s.name());
        }
        arguments.bind(s.var(), value);
      }
    }
    long next = seed;
    for (Param p : params) {
      if (p instanceof Buffer b) {
        arguments.bind(b, NdArray.of(b, arguments.shape(b)).fillRandom(next));
        next += 0x9E37_79B9_7F4A_7C15L;
      }
    }
    return arguments;
  }

  /**
   * {@return what {@link #random(List, long, Map)} gives, without scalars}
   *
   * @param params of a function, kernel or program
   * @param seed equal seeds give equal values
   */
  public static Arguments random(List<? extends Param> params, long seed) {
    return random(params, seed, Map.of());
  }

  /**
   * Binds a buffer.
   *
   * @param buffer a parameter
   * @param array of its type and shape
   * @return this
   */
  public Arguments bind(Buffer buffer, NdArray array) {
    arrays.put(buffer, array);
    return this;
  }

  /**
   * Binds a scalar.
   *
   * @param scalar the variable of a parameter
   * @param value within its range
   * @return this
   */
  public Arguments bind(Var scalar, Number value) {
    scalars.put(scalar, value);
    return this;
  }

  /** {@return the parameters, bound or not} */
  public List<Param> params() {
    return params;
  }

  /**
   * {@return the array of a buffer}
   *
   * @param buffer a parameter
   */
  public NdArray get(Buffer buffer) {
    NdArray array = arrays.get(buffer);
    if (array == null) {
      throw new IllegalArgumentException("no argument for buffer " + buffer.name());
    }
    return array;
  }

  /**
   * {@return the array of the buffer of this name}
   *
   * @param name of a buffer
   */
  public NdArray get(String name) {
    for (Param p : params) {
      if (p instanceof Buffer b && b.name().equals(name)) {
        return get(b);
      }
    }
    throw new IllegalArgumentException("no buffer " + name + " among " + params);
  }

  /** {@return the same bindings to copies of the arrays} */
  public Arguments copy() {
    Arguments copy = of(params);
    arrays.forEach((buffer, array) -> copy.bind(buffer, array.copy()));
    copy.scalars.putAll(scalars);
    return copy;
  }

  /** Value of a scalar; where it was not given, from the shape of a buffer that it sizes. */
  Number scalar(Var v) {
    Number value = scalars.get(v);
    if (value != null) {
      return value;
    }
    for (Map.Entry<Buffer, NdArray> entry : arrays.entrySet()) {
      List<Expr> shape = entry.getKey().shape();
      if (!shape.isEmpty() && shape.getFirst() == v) {
        return entry.getValue().shape()[0];
      }
    }
    throw new IllegalArgumentException("no argument for scalar " + v);
  }

  /** Shape of a buffer with these scalars. */
  long[] shape(Buffer buffer) {
    long[] shape = new long[buffer.rank()];
    for (int d = 0; d < shape.length; d++) {
      shape[d] = evaluate(buffer.shape().get(d)).longValue();
    }
    return shape;
  }

  /**
   * {@return bytes that a buffer takes with these scalars, what its layout leaves out included}
   *
   * @param buffer a parameter
   */
  public long storageBytes(Buffer buffer) {
    return NdArray.of(buffer, shape(buffer)).bytes().length;
  }

  /**
   * {@return value of an expression of the scalars}
   *
   * @param e of the scalars
   */
  public Number evaluate(Expr e) {
    if (e instanceof Expr.IntImm imm) {
      return imm.value();
    }
    Symbols symbols = new Symbols();
    Context context =
        new Context(Source.named("host expression"), FloatMode.EXACT, symbols, false, false, false);
    ExprCompiler compiler = new ExprCompiler(context, Stmt.Seq.EMPTY, CallCompiler.none("host"));
    if (e.type().dtype().isFloat()) {
      DoubleExpr value = compiler.real(e);
      return value.eval(frame(symbols));
    }
    LongExpr value = compiler.integer(e);
    return value.eval(frame(symbols));
  }

  private Frame frame(Symbols symbols) {
    Frame frame = new Frame(symbols);
    setScalars(frame, symbols);
    return frame;
  }

  /** Sets the scalars of these parameters that the function uses. */
  void setScalars(Frame frame, Symbols symbols) {
    for (Param p : params) {
      if (p instanceof ScalarParam s && symbols.knows(s.var())) {
        Number value = scalar(s.var());
        if (s.var().type().dtype().isFloat()) {
          frame.floats[symbols.slot(s.var())] = value.doubleValue();
        } else {
          frame.ints[symbols.slot(s.var())] = value.longValue();
        }
      }
    }
  }

  /** Checks an array against its buffer: shape, layout and a type that the precision accepts. */
  void check(Buffer buffer, FloatMode precision) {
    NdArray array = get(buffer);
    boolean typeFits =
        array.dtype() == buffer.dtype()
            || (precision == FloatMode.DOUBLE
                && buffer.dtype().isFloat()
                && array.dtype().isFloat());
    @Nullable String problem =
        !typeFits
            ? "has type " + array.dtype()
            : !Arrays.equals(array.shape(), shape(buffer))
                ? "has shape " + Arrays.toString(array.shape())
                : !Objects.equals(array.layout(), buffer.layout())
                    ? "has layout " + array.layout()
                    : null;
    if (problem != null) {
      throw new IllegalArgumentException(
          "argument for "
              + buffer.name()
              + " "
              + problem
              + ", the buffer is "
              + buffer.dtype()
              + Arrays.toString(shape(buffer))
              + " with layout "
              + buffer.layout());
    }
  }
}
