package dev.warpwright.model.weights;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.model.io.Utf8;
import dev.warpwright.model.zip.ZipArchive;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the parameters, buffers and constants of an archive that {@code torch.export.save} wrote:
 * JSON says of each in which entry it lies, and how. Archives of PyTorch 2.8 have a state dict
 * instead.
 */
public final class ExportedWeights {
  private static final int MAX_RANK = 16;

  private final String file;
  private final ZipArchive archive;
  private final StorageViews views;
  private final Map<String, StoredTensor> tensors = new LinkedHashMap<>();

  private ExportedWeights(String file, ZipArchive archive, long size) {
    this.file = file;
    this.archive = archive;
    this.views = new StorageViews(file, size);
  }

  /**
   * Reads all tensors of a model.
   *
   * @param file the archive's name in messages, printable
   * @param root the folder that everything in it is in, with a slash
   * @param model the name of the model in the archive
   * @param size of the archive in bytes
   * @throws UserError if something is missing, corrupt, or no plain tensor
   */
  public static Weights read(
      String file, ZipArchive archive, String root, String model, long size) {
    ExportedWeights reader = new ExportedWeights(file, archive, size);
    reader.folder(root + "data/weights/", model, "_weights_config.json");
    reader.folder(root + "data/constants/", model, "_constants_config.json");
    return new Weights(file, false, reader.tensors);
  }

  private void folder(String folder, String model, String config) {
    String old = folder + model + ".pt";
    MemorySegment saved = archive.entry(old);
    if (saved != null) {
      String where = file + ": " + Names.printable(old);
      StateDictReader.read(where, saved).stored().forEach(this::add);
      return;
    }
    String name = folder + model + config;
    MemorySegment bytes = archive.entry(name);
    String text = bytes == null ? null : Utf8.decode(bytes);
    String where = file + ": " + Names.printable(name);
    if (text == null) {
      throw new UserError(where + " is missing, or no UTF-8 text");
    }
    JsonFields tensorsByName = JsonFields.of(where, JsonParser.parse(where, text)).object("config");
    tensorsByName
        .members()
        .forEach(
            (tensor, payload) ->
                add(tensor, tensor(tensor, folder, JsonFields.of(where, payload))));
  }

  private void add(String name, StoredTensor tensor) {
    if (tensors.put(name, tensor) != null) {
      throw error(name, "is there twice");
    }
  }

  private StoredTensor tensor(String name, String folder, JsonFields payload) {
    if (payload.flag("use_pickle") || !payload.has("tensor_meta")) {
      throw error(name, "is no plain tensor, but a pickled object; this is not supported");
    }
    JsonFields meta = payload.object("tensor_meta");
    ElementType type = ElementType.ofScalarType(meta.integer("dtype"));
    if (type == null) {
      throw error(name, "has unsupported element type " + meta.integer("dtype"));
    }
    List<Long> shape = sizes(name, meta, "sizes");
    List<Long> strides = sizes(name, meta, "strides");
    long offset = size(name, "storage_offset", meta.value("storage_offset"));
    if (shape.size() > MAX_RANK || shape.size() != strides.size()) {
      throw error(name, "has shape " + shape + ", but strides " + strides);
    }
    String entry = folder + payload.text("path_name");
    MemorySegment storage = archive.entry(entry);
    if (storage == null) {
      throw error(name, "lies in " + Names.quote(entry) + ", which is missing");
    }
    return views.tensor(name, type, storage, offset, shape, strides);
  }

  private List<Long> sizes(String name, JsonFields meta, String key) {
    return meta.list(key).stream().map(value -> size(name, key, value)).toList();
  }

  /** A size that is known, not an expression. */
  private long size(String name, String key, @Nullable Json value) {
    if (value instanceof Json.Members(Map<String, Json> members)
        && members.get("as_int") instanceof Json.Number(String written)
        && written.matches("[0-9]{1,18}")) {
      return Long.parseLong(written);
    }
    throw error(name, "has " + key + " that are no natural numbers below 10^18");
  }

  private UserError error(String name, String what) {
    return new UserError(file + ": tensor " + Names.quote(name) + " " + what);
  }
}
