package dev.warpwright.model.onnx;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.base.files.FileBytes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The files beside a model that hold its weights. A file is named by the model, which may be
 * hostile: only a relative path is followed, it may not go up, and where it ends must lie in the
 * model's folder even after symbolic links. Each file is opened once; a large one is mapped.
 */
final class ExternalData {
  private final String file;
  private final @Nullable Path folder;
  private final Map<String, MemorySegment> opened = new HashMap<>();

  /**
   * The files beside a model.
   *
   * @param file the model's name in messages
   * @param folder the model's; null if it comes from no file
   */
  ExternalData(String file, @Nullable Path folder) {
    this.file = file;
    this.folder = folder;
  }

  /**
   * A part of a file.
   *
   * @param tensor what messages call the tensor
   * @param fields {@code location}, and perhaps {@code offset} and {@code length} in bytes; without
   *     a length it is all to the end of the file
   * @throws UserError if the fields are malformed, or the file or the part is not there
   */
  MemorySegment part(String tensor, Map<String, String> fields) {
    String location = fields.getOrDefault("location", "");
    MemorySegment whole = opened.get(location);
    if (whole == null) {
      whole = open(tensor, location);
      opened.put(location, whole);
    }
    long offset = number(tensor, "offset", fields.getOrDefault("offset", "0"));
    long left = whole.byteSize() - offset;
    String length = fields.get("length");
    long bytes = length == null ? left : number(tensor, "length", length);
    if (left < 0 || bytes > left) {
      throw error(
          tensor,
          String.format(
              Locale.ROOT,
              "lies at bytes %d to %d of %s, which has %d: truncated or corrupt",
              offset,
              offset + bytes,
              Names.quote(location),
              whole.byteSize()));
    }
    return whole.asSlice(offset, bytes);
  }

  /** The bytes of all files that were opened. */
  long size() {
    return opened.values().stream().mapToLong(MemorySegment::byteSize).sum();
  }

  private MemorySegment open(String tensor, String location) {
    String what = "is stored outside the file, in " + Names.quote(location);
    if (folder == null) {
      throw error(tensor, what + ", which is not there; export with external_data=False");
    }
    if (location.isEmpty() || location.indexOf('\0') >= 0 || location.indexOf('\\') >= 0) {
      throw error(tensor, what + ", which is no relative path");
    }
    try {
      Path relative = Path.of(location);
      boolean up = Arrays.asList(location.split("/", -1)).contains("..");
      if (relative.isAbsolute() || up || location.startsWith("/")) {
        throw error(tensor, what + ", which leaves the model's folder; nothing was read");
      }
      Path path = folder.resolve(relative);
      if (!path.toRealPath().startsWith(folder.toRealPath())) {
        throw error(
            tensor, what + ", a link that leaves the model's folder; put the file itself there");
      }
      return FileBytes.read(path);
    } catch (InvalidPathException e) {
      throw error(tensor, what + ", which is no path");
    } catch (IOException e) {
      throw error(
          tensor,
          what
              + ", which is not beside the model; copy it there, or export with"
              + " external_data=False");
    }
  }

  private long number(String tensor, String key, String text) {
    if (!text.matches("[0-9]{1,18}")) {
      throw error(tensor, "has an external " + key + " that is no natural number below 10^18");
    }
    return Long.parseLong(text);
  }

  private UserError error(String tensor, String what) {
    return new UserError(Names.printable(file) + ": " + tensor + " " + what);
  }
}
