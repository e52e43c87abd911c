package dev.warpwright.model.weights;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.io.Utf8;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads safetensors: the length of a header in 8 bytes, the header in JSON, then the tensors' bytes
 * without gaps. The tensors stay where they lie in the file.
 */
public final class SafetensorsReader {
  private static final long MAX_HEADER = 100_000_000;
  private static final int MAX_RANK = 16;
  private static final ValueLayout.OfLong LE_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final Set<String> KEYS = Set.of("dtype", "shape", "data_offsets");

  private final String file;
  private final MemorySegment data;
  private final List<Range> ranges = new ArrayList<>();

  private record Range(String name, long begin, long end) {}

  private SafetensorsReader(String file, MemorySegment data) {
    this.file = file;
    this.data = data;
  }

  /**
   * Reads a file.
   *
   * @param file its name in messages, printable
   * @param bytes the whole file; must stay accessible as long as the tensors are used
   * @throws UserError if the bytes are no valid safetensors file
   */
  public static Weights read(String file, MemorySegment bytes) {
    if (bytes.byteSize() < 8) {
      throw new UserError(
          file + ": truncated safetensors: " + bytes.byteSize() + " bytes, not even its length");
    }
    long length = bytes.get(LE_LONG, 0);
    long left = bytes.byteSize() - 8;
    if (length < 0 || length > MAX_HEADER) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: corrupt safetensors: a header of %s bytes; at most %d are accepted",
              file,
              Long.toUnsignedString(length),
              MAX_HEADER));
    }
    if (length > left) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: truncated safetensors: a header of %d bytes announced, %d left",
              file,
              length,
              left));
    }
    String header = Utf8.decode(bytes.asSlice(8, length));
    if (header == null) {
      throw new UserError(file + ": corrupt safetensors: its header is no UTF-8 text");
    }
    return new SafetensorsReader(file, bytes.asSlice(8 + length))
        .tensors(JsonParser.parse(file + ": safetensors header", header));
  }

  private Weights tensors(Json header) {
    if (!(header instanceof Json.Members(Map<String, Json> members))) {
      throw new UserError(file + ": corrupt safetensors: its header is " + header.kind());
    }
    Map<String, StoredTensor> tensors = new LinkedHashMap<>();
    members.forEach(
        (name, value) -> {
          if (name.equals("__metadata__")) {
            checkMetadata(value);
          } else {
            tensors.put(name, tensor(name, value));
          }
        });
    checkRanges();
    return new Weights(file, false, tensors);
  }

  private void checkMetadata(Json value) {
    if (!(value instanceof Json.Members(Map<String, Json> entries))
        || !entries.values().stream().allMatch(Json.Text.class::isInstance)) {
      throw new UserError(file + ": corrupt safetensors: __metadata__ must map text to text");
    }
  }

  private StoredTensor tensor(String name, Json value) {
    if (!(value instanceof Json.Members(Map<String, Json> entry)) || !entry.keySet().equals(KEYS)) {
      throw error(name, "needs dtype, shape and data_offsets, and nothing else");
    }
    if (!(entry.get("dtype") instanceof Json.Text(String typeName))) {
      throw error(name, "has a dtype that is no text");
    }
    ElementType type = ElementType.named(typeName);
    if (type == null) {
      throw error(name, "has unsupported dtype " + Names.quote(typeName));
    }
    List<Long> shape = numbers(name, "shape", entry.get("shape"));
    List<Long> offsets = numbers(name, "data_offsets", entry.get("data_offsets"));
    long count = ConstantTensor.elementCount(shape);
    if (shape.size() > MAX_RANK || count < 0 || count > Long.MAX_VALUE / 8) {
      throw error(name, "has an absurd shape");
    }
    if (offsets.size() != 2) {
      throw error(name, "needs two data_offsets, begin and end");
    }
    long begin = offsets.getFirst();
    long end = offsets.getLast();
    if (begin > end || end > data.byteSize()) {
      throw error(
          name,
          String.format(
              Locale.ROOT,
              "lies at bytes %d to %d of %d: truncated or corrupt",
              begin,
              end,
              data.byteSize()));
    }
    if (end - begin != count * type.bytes()) {
      throw error(
          name,
          String.format(
              Locale.ROOT,
              "has %d bytes, but %s%s needs %d",
              end - begin,
              type,
              shape,
              count * type.bytes()));
    }
    ranges.add(new Range(name, begin, end));
    return new StoredTensor(type, shape, data.asSlice(begin, end - begin));
  }

  private List<Long> numbers(String name, String key, @Nullable Json value) {
    if (!(value instanceof Json.Array(List<Json> elements))) {
      throw error(name, key + " is no array");
    }
    List<Long> numbers = new ArrayList<>();
    for (Json element : elements) {
      numbers.add(number(name, key, element));
    }
    return numbers;
  }

  private long number(String name, String key, Json value) {
    if (value instanceof Json.Number(String text) && text.matches("[0-9]{1,18}")) {
      return Long.parseLong(text);
    }
    throw error(name, key + " has an element that is no whole number below 10^18");
  }

  /** The tensors must cover the data exactly: no byte twice, none unused. */
  private void checkRanges() {
    ranges.sort(Comparator.comparingLong(Range::begin).thenComparingLong(Range::end));
    long at = 0;
    for (Range range : ranges) {
      if (range.begin() < at) {
        throw error(range.name(), "overlaps another tensor");
      }
      if (range.begin() > at) {
        throw error(range.name(), "leaves a gap of " + (range.begin() - at) + " bytes before it");
      }
      at = range.end();
    }
    if (at != data.byteSize()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: corrupt safetensors: %d bytes after the last tensor",
              file,
              data.byteSize() - at));
    }
  }

  private UserError error(String name, String what) {
    return new UserError(file + ": corrupt safetensors: tensor " + Names.quote(name) + " " + what);
  }
}
