package dev.warpwright.spark;

import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What executors tell the driver. On the wire it is an array of strings: the class loader that
 * reads it may be another one than the application's.
 */
sealed interface FleetMessage {
  /** An executor has started. {@code device} is null where there is none. */
  record Hello(String executor, String spark, String host, FleetHost.@Nullable Device device)
      implements FleetMessage {}

  /** An executor has a task; the answer is which candidates it shall measure. */
  record Begin(String executor, long batch, boolean compileOnly) implements FleetMessage {}

  /** A candidate's outcome. */
  record Result(String executor, long batch, int index, String hash, Outcome outcome)
      implements FleetMessage {}

  /** A candidate compiles; it was not measured. */
  record Compiled(String executor, long batch, int index) implements FleetMessage {}

  /** The executor still works on a task. */
  record Alive(String executor, long batch) implements FleetMessage {}

  /** The executor's anchor kernel fails, or it is not as fast as it was. */
  record Sick(String executor, long batch, String reason) implements FleetMessage {}

  /** The executor has ended a task. */
  record Free(String executor, long batch) implements FleetMessage {}

  /** As it is sent. */
  default String[] words() {
    return switch (this) {
      case Hello(String executor, String spark, String host, FleetHost.Device device) ->
          device == null
              ? words("hello", executor, spark, host)
              : words(
                  "hello",
                  executor,
                  spark,
                  host,
                  device.environment().target(),
                  device.environment().device(),
                  device.environment().driver(),
                  device.environment().toolkit(),
                  device.environment().generator(),
                  device.sms());
      case Begin(String executor, long batch, boolean only) ->
          words("begin", executor, batch, only);
      case Result(String executor, long batch, int index, String hash, Outcome.Measured m) ->
          words(
              "measured",
              executor,
              batch,
              index,
              hash,
              m.timeUs(),
              m.spread(),
              m.relError(),
              m.clockMhz(),
              m.temperature());
      case Result(String executor, long batch, int index, String hash, Outcome.Failed f) ->
          words("failed", executor, batch, index, hash, f.reason().text(), f.message());
      case Compiled(String executor, long batch, int index) ->
          words("compiled", executor, batch, index);
      case Alive(String executor, long batch) -> words("alive", executor, batch);
      case Sick(String executor, long batch, String reason) ->
          words("sick", executor, batch, reason);
      case Free(String executor, long batch) -> words("free", executor, batch);
    };
  }

  private static String[] words(Object... words) {
    return List.of(words).stream().map(String::valueOf).toArray(String[]::new);
  }

  /**
   * Reads {@link #words}.
   *
   * @throws IllegalArgumentException if they are no message
   */
  static FleetMessage of(String[] w) {
    return switch (w[0]) {
      case "hello" ->
          new Hello(
              w[1],
              w[2],
              w[3],
              w.length == 4
                  ? null
                  : new FleetHost.Device(
                      new Environment(w[4], w[5], w[6], w[7], w[8]), Integer.parseInt(w[9])));
      case "begin" -> new Begin(w[1], Long.parseLong(w[2]), Boolean.parseBoolean(w[3]));
      case "measured" ->
          new Result(
              w[1],
              Long.parseLong(w[2]),
              Integer.parseInt(w[3]),
              w[4],
              new Outcome.Measured(
                  Double.parseDouble(w[5]),
                  Double.parseDouble(w[6]),
                  Double.parseDouble(w[7]),
                  Integer.parseInt(w[8]),
                  Integer.parseInt(w[9])));
      case "failed" ->
          new Result(
              w[1],
              Long.parseLong(w[2]),
              Integer.parseInt(w[3]),
              w[4],
              new Outcome.Failed(FailureReason.parse(w[5]), w[6]));
      case "compiled" -> new Compiled(w[1], Long.parseLong(w[2]), Integer.parseInt(w[3]));
      case "alive" -> new Alive(w[1], Long.parseLong(w[2]));
      case "sick" -> new Sick(w[1], Long.parseLong(w[2]), w[3]);
      case "free" -> new Free(w[1], Long.parseLong(w[2]));
      default -> throw new IllegalArgumentException("no message begins with " + w[0]);
    };
  }
}
