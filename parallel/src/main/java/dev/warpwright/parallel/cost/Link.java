package dev.warpwright.parallel.cost;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * What joins the GPUs of a computation, and how long NCCL's sums over them take. The figures are
 * data, in {@code links.json}, each with its source.
 *
 * @param about for people
 * @param targets of GPUs that are usually joined so
 * @param lowLatency the protocol for few bytes
 * @param bulk the protocol for many
 * @param source where the figures are from
 * @param measured whether they were measured with this program
 */
public record Link(
    String name,
    String about,
    List<String> targets,
    Protocol lowLatency,
    Protocol bulk,
    String source,
    boolean measured) {
  private static final String FILE = "links.json";

  /** All that are known. */
  public static final List<Link> ALL = read();

  /**
   * A way to send.
   *
   * @param busGBs 10⁹ bytes a second that a GPU sends while it receives as many
   * @param baseUs microseconds before anything is sent
   * @param stepUs of each step around the ring
   */
  public record Protocol(double busGBs, double baseUs, double stepUs) {
    double micros(long bytes, int devices) {
      return baseUs + 2 * (devices - 1) * stepUs + sent(bytes, devices) / (busGBs * 1e3);
    }
  }

  public Link {
    targets = List.copyOf(targets);
  }

  /**
   * The link of this name.
   *
   * @throws UserError if there is none
   */
  public static Link require(String name) {
    return ALL.stream()
        .filter(link -> link.name.equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new UserError(
                    "--link "
                        + name
                        + ": it is one of "
                        + String.join(", ", ALL.stream().map(Link::name).toList())));
  }

  /** What joins GPUs of a kind where nothing else is said. */
  public static Link usual(GpuTarget target) {
    return ALL.stream()
        .filter(link -> link.targets.contains(target.name()))
        .findFirst()
        .orElseGet(() -> require("pcie4"));
  }

  /** Bytes that each device sends for a sum of so many: twice its share to each of the others. */
  public static long sent(long bytes, int devices) {
    return 2 * (devices - 1) * bytes / devices;
  }

  /** Microseconds for a sum of so many bytes over devices, by the faster protocol. */
  public double micros(long bytes, int devices) {
    return Math.min(lowLatency.micros(bytes, devices), bulk.micros(bytes, devices));
  }

  private static List<Link> read() {
    try (InputStream in = Objects.requireNonNull(Link.class.getResourceAsStream(FILE), FILE)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return JsonFields.of(FILE, JsonParser.parse(FILE, text)).list("links", Link::link);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Link link(String where, Json json) {
    JsonFields fields = JsonFields.of(where, json);
    JsonFields few = fields.object("lowLatency");
    JsonFields many = fields.object("bulk");
    return new Link(
        fields.text("name"),
        fields.text("about"),
        fields.list("targets", (at, target) -> ((Json.Text) target).value()),
        new Protocol(few.number("busGBs"), few.number("baseUs"), few.number("stepUs")),
        new Protocol(fields.number("busGBs"), many.number("baseUs"), many.number("stepUs")),
        fields.text("source"),
        fields.flag("measured"));
  }
}
