package dev.warpwright.ir;

import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A bounded queue of stages. Each stage holds a version of the pipe's buffers: tiles, scalars (of
 * rank 0), or nothing, and then it is a token. {@link Stmt.Flow.Produce} fills the next empty
 * stage, {@link Stmt.Flow.Consume} reads the oldest full one. Two pipes are the same only if they
 * are the same object.
 *
 * <p>The options say how far apart things happen that the queue leaves free. None of them changes a
 * result; together they need {@link #neededStages()} stages.
 */
public final class Pipe {
  /** Which of the instances of the consuming role read a stage. */
  public enum Consumers {
    /** Each stage is read by one instance; the others {@link Stmt.Flow.Skip} it. */
    EACH_ITS_OWN,
    /** Each stage is read by all instances. */
    BROADCAST
  }

  /**
   * Options.
   *
   * @param lead without roles, a stage is produced so many stages before it is consumed
   * @param hold a stage is released so many consumes after its own, because what reads it is under
   *     way for that long
   * @param lag a stage is committed so many produces after its own, because what fills it is under
   *     way for that long
   * @param initial stages that are full at first, of tokens only
   * @param consumers what several instances of the consuming role do
   */
  public record Options(int lead, int hold, int lag, int initial, Consumers consumers) {
    public static final Options NONE = new Options(0, 0, 0, 0, Consumers.EACH_ITS_OWN);

    /** Checks that no number is negative. */
    public Options {
      if (lead < 0 || hold < 0 || lag < 0 || initial < 0) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "lead %d, hold %d, lag %d, initial %d: none may be negative",
                lead,
                hold,
                lag,
                initial));
      }
      Objects.requireNonNull(consumers);
    }

    /**
     * {@return the same with another lead}
     *
     * @param newLead stages, 0 or more
     */
    public Options withLead(int newLead) {
      return new Options(newLead, hold, lag, initial, consumers);
    }

    /**
     * {@return the same with stages held longer or shorter}
     *
     * @param newHold consumes, 0 or more
     */
    public Options withHold(int newHold) {
      return new Options(lead, newHold, lag, initial, consumers);
    }

    /**
     * {@return the same with stages committed later or earlier}
     *
     * @param newLag produces, 0 or more
     */
    public Options withLag(int newLag) {
      return new Options(lead, hold, newLag, initial, consumers);
    }

    /**
     * {@return the same for other consumers}
     *
     * @param newConsumers what several instances do
     */
    public Options withConsumers(Consumers newConsumers) {
      return new Options(lead, hold, lag, initial, newConsumers);
    }
  }

  private final String name;
  private final int stages;
  private final Scope scope;
  private final List<Buffer> buffers;
  private final Options options;

  /**
   * Makes a pipe.
   *
   * @param name an identifier
   * @param stages how many, at least 1
   * @param scope of memory
   * @param buffers of one stage, all of the pipe's scope; empty for tokens
   * @param options when stages are filled and released
   */
  public Pipe(String name, int stages, Scope scope, List<Buffer> buffers, Options options) {
    if (stages < 1) {
      throw new IllegalArgumentException("pipe " + name + " has " + stages + " stages");
    }
    for (Buffer buffer : buffers) {
      if (buffer.scope() != scope) {
        throw new IllegalArgumentException(
            "pipe " + name + " of scope " + scope + " holds " + buffer);
      }
    }
    this.name = name;
    this.stages = stages;
    this.scope = scope;
    this.buffers = List.copyOf(buffers);
    this.options = options;
  }

  /** {@return its name, an identifier} */
  public String name() {
    return name;
  }

  /** {@return how many stages it has} */
  public int stages() {
    return stages;
  }

  /** {@return the memory that its stages lie in} */
  public Scope scope() {
    return scope;
  }

  /** {@return what one stage holds} */
  public List<Buffer> buffers() {
    return buffers;
  }

  /** {@return when stages are filled and released} */
  public Options options() {
    return options;
  }

  /** {@return whether every instance of the consuming role reads every stage} */
  public boolean isBroadcast() {
    return options.consumers() == Consumers.BROADCAST;
  }

  /**
   * {@return the fewest stages with which it can go on: a stage that is being filled beside those
   * that are not committed yet or lie ahead, and those that are not released yet}
   */
  public int neededStages() {
    return options.hold() + Math.max(options.lag(), options.lead()) + 1;
  }

  /**
   * {@return a new pipe like this one of other buffers}
   *
   * @param newBuffers of one stage
   */
  public Pipe withBuffers(List<Buffer> newBuffers) {
    return new Pipe(name, stages, scope, newBuffers, options);
  }

  /**
   * {@return a new pipe like this one with other options}
   *
   * @param newOptions when stages are filled and released
   */
  public Pipe withOptions(Options newOptions) {
    return new Pipe(name, stages, scope, buffers, newOptions);
  }

  @Override
  public String toString() {
    return name + "[" + stages + "] " + scope;
  }
}
