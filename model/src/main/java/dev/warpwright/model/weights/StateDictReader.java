package dev.warpwright.model.weights;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.model.io.Utf8;
import dev.warpwright.model.weights.PickleValue.Dict;
import dev.warpwright.model.weights.PickleValue.Storage;
import dev.warpwright.model.weights.PickleValue.View;
import dev.warpwright.model.zip.ZipArchive;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Reads what {@code torch.save(model.state_dict(), …)} writes since PyTorch 1.6: a ZIP archive with
 * the pickle {@code data.pkl}, and the tensors' storages as entries of their own. Tensors that lie
 * row by row stay in the file; a transposed matrix is copied once.
 */
public final class StateDictReader {
  private static final String SAVE =
      "save the weights with torch.save(model.state_dict(), \"weights.pth\")";
  private static final String EXPORT =
      "export to ONNX with torch.onnx.export(model, (x,), \"model.onnx\")";

  private final String file;
  private final ZipArchive archive;
  private final String root;
  private final StorageViews views;

  private StateDictReader(String file, ZipArchive archive, String root, StorageViews views) {
    this.file = file;
    this.archive = archive;
    this.root = root;
    this.views = views;
  }

  /**
   * Reads a file.
   *
   * @param file its name in messages, printable
   * @param bytes the whole file; must stay accessible as long as the tensors are used
   * @throws UserError if the bytes are no such archive, or it holds more than tensors
   */
  public static Weights read(String file, MemorySegment bytes) {
    return read(file, ZipArchive.read(file, bytes), bytes.byteSize());
  }

  /**
   * As {@link #read(String, MemorySegment)}, for an archive that is open already.
   *
   * @param size of the archive in bytes
   */
  public static Weights read(String file, ZipArchive archive, long size) {
    String root = root(file, archive);
    StorageViews views = new StorageViews(file, size);
    return new StateDictReader(file, archive, root, views).weights();
  }

  /** The folder that everything is in; archives of other kinds are refused by what they are. */
  private static String root(String file, ZipArchive archive) {
    Set<String> names = archive.names();
    String first = names.isEmpty() ? "" : names.iterator().next();
    String root = first.substring(0, first.indexOf('/') + 1);
    if (names.contains(root + "constants.pkl")
        || names.stream().anyMatch(name -> name.startsWith(root + "code/"))) {
      throw new UserError(file + ": TorchScript is not supported; " + SAVE + ", or " + EXPORT);
    }
    if (root.isEmpty() || !names.contains(root + "data.pkl")) {
      throw new UserError(
          file + ": is a ZIP archive, but no PyTorch file: it has no data.pkl; " + SAVE);
    }
    return root;
  }

  private Weights weights() {
    MemorySegment order = archive.entry(root + "byteorder");
    if (order != null && !"little".equals(Utf8.decode(order))) {
      throw new UserError(file + ": its byte order is not little-endian, which is not supported");
    }
    MemorySegment pickle = archive.entry(root + "data.pkl");
    if (pickle == null) {
      throw new UserError(file + ": it has no data.pkl");
    }
    String advice = SAVE + ", or " + EXPORT;
    if (!(PickleMachine.run(file + ": data.pkl", pickle, advice) instanceof Dict dict)) {
      throw new UserError(file + ": holds no dictionary of tensors; " + SAVE);
    }
    Map<String, StoredTensor> tensors = new LinkedHashMap<>();
    dict.items()
        .forEach(
            (name, value) -> {
              if (!(value instanceof View view)) {
                throw new UserError(
                    file + ": entry " + Names.quote(name) + " is no tensor; " + SAVE);
              }
              tensors.put(name, tensor(name, view));
            });
    return new Weights(file, true, tensors);
  }

  private StoredTensor tensor(String name, View view) {
    return views.tensor(
        name,
        view.storage().type(),
        storage(name, view.storage()),
        view.offset(),
        view.shape(),
        view.strides());
  }

  private MemorySegment storage(String name, Storage storage) {
    MemorySegment bytes = archive.entry(root + "data/" + storage.key());
    if (bytes == null) {
      throw error(name, "lies in storage " + Names.quote(storage.key()) + ", which is missing");
    }
    if (bytes.byteSize() != storage.count() * storage.type().bytes()) {
      throw error(
          name,
          String.format(
              Locale.ROOT,
              "lies in a storage of %d bytes that should have %d elements of %s",
              bytes.byteSize(),
              storage.count(),
              storage.type()));
    }
    return bytes;
  }

  private UserError error(String name, String what) {
    return new UserError(file + ": tensor " + Names.quote(name) + " " + what);
  }
}
