package dev.warpwright.tune.measure;

import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** How a tuner and its worker processes talk: a request, a reply, over the worker's pipes. */
final class WorkerProtocol {
  /** What a worker writes first, when it is ready for requests. */
  static final int READY = 'W';

  private static final int MAX_TEXT = 64 << 20;

  /** What is asked for. */
  enum Task {
    COMPILE,
    TIME,
    /** Of a kernel that will be timed: to get it ready while others are. Nothing is answered. */
    AHEAD,
    /** Of the given kernel's workload. */
    PREPARE,
    /** Without a kernel. */
    OPEN,
    /** Without a kernel. */
    LOAD
  }

  record Request(Task task, String kernel, Map<String, Long> values) {}

  /** What is answered. */
  sealed interface Reply {
    record Compiled(String sourceHash) implements Reply {}

    record Timed(Outcome.Measured outcome, Phases phases) implements Reply {}

    record Ready() implements Reply {}

    record Failed(Outcome.Failed outcome) implements Reply {}
  }

  private WorkerProtocol() {}

  static void write(DataOutputStream out, Request request) throws IOException {
    out.writeByte(request.task().ordinal());
    text(out, request.kernel());
    out.writeInt(request.values().size());
    for (Map.Entry<String, Long> value : request.values().entrySet()) {
      text(out, value.getKey());
      out.writeLong(value.getValue());
    }
    out.flush();
  }

  /** The next request, or null at the end. */
  static @Nullable Request readRequest(DataInputStream in) throws IOException {
    int task = in.read();
    if (task < 0) {
      return null;
    }
    String kernel = text(in);
    Map<String, Long> values = new TreeMap<>();
    int count = in.readInt();
    for (int i = 0; i < count; i++) {
      values.put(text(in), in.readLong());
    }
    return new Request(Task.values()[task], kernel, values);
  }

  static void write(DataOutputStream out, Reply reply) throws IOException {
    switch (reply) {
      case Reply.Compiled(String hash) -> {
        out.writeByte(0);
        text(out, hash);
      }
      case Reply.Timed(Outcome.Measured m, Phases phases) -> {
        out.writeByte(1);
        out.writeDouble(m.timeUs());
        out.writeDouble(m.spread());
        out.writeDouble(m.relError());
        out.writeInt(m.clockMhz());
        out.writeInt(m.temperature());
        out.writeDouble(phases.data());
        out.writeDouble(phases.verifying());
        out.writeDouble(phases.timing());
      }
      case Reply.Failed(Outcome.Failed f) -> {
        out.writeByte(2);
        text(out, f.reason().text());
        text(out, f.message());
      }
      case Reply.Ready() -> out.writeByte(3);
    }
    out.flush();
  }

  /**
   * The next reply.
   *
   * @throws IOException if the worker ended, or what it wrote is no reply
   */
  static Reply readReply(DataInputStream in) throws IOException {
    int kind = in.readUnsignedByte();
    return switch (kind) {
      case 0 -> new Reply.Compiled(text(in));
      case 1 ->
          new Reply.Timed(
              new Outcome.Measured(
                  in.readDouble(), in.readDouble(), in.readDouble(), in.readInt(), in.readInt()),
              new Phases(in.readDouble(), in.readDouble(), in.readDouble()));
      case 2 -> new Reply.Failed(new Outcome.Failed(FailureReason.parse(text(in)), text(in)));
      case 3 -> new Reply.Ready();
      default -> throw new IOException("no reply begins with " + kind);
    };
  }

  private static void text(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static String text(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > MAX_TEXT) {
      throw new IOException("no text has " + length + " bytes");
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new IOException("the other side ended in the middle of a text");
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
