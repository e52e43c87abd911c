package dev.warpwright.model.weights;

import dev.warpwright.ir.UserError;
import dev.warpwright.model.Names;
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.io.Utf8;
import dev.warpwright.model.weights.PickleValue.Dict;
import dev.warpwright.model.weights.PickleValue.Storage;
import dev.warpwright.model.weights.PickleValue.View;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
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
  private long copyBudget;

  private StateDictReader(String file, ZipArchive archive, String root, long copyBudget) {
    this.file = file;
    this.archive = archive;
    this.root = root;
    this.copyBudget = copyBudget;
  }

  /**
   * Reads a file.
   *
   * @param file its name in messages, printable
   * @param bytes the whole file; must stay accessible as long as the tensors are used
   * @throws UserError if the bytes are no such archive, or it holds more than tensors
   */
  public static Weights read(String file, MemorySegment bytes) {
    ZipArchive archive = ZipArchive.read(file, bytes);
    String root = root(file, archive);
    return new StateDictReader(file, archive, root, bytes.byteSize()).weights();
  }

  /** The folder that everything is in; archives of other kinds are refused by what they are. */
  private static String root(String file, ZipArchive archive) {
    Set<String> names = archive.names();
    String first = names.isEmpty() ? "" : names.iterator().next();
    String root = first.substring(0, first.indexOf('/') + 1);
    if (names.contains(root + "archive_format") || names.contains(root + "models/model.json")) {
      throw new UserError(file + ": torch.export archives (.pt2) are not supported yet; " + EXPORT);
    }
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
    ElementType type = view.storage().type();
    long count = Tensor.elementCount(view.shape());
    long available = view.storage().count() - view.offset();
    if (count < 0 || count > available) {
      throw error(
          name,
          String.format(
              "has shape %s from element %d on, but its storage has %d",
              view.shape(), view.offset(), view.storage().count()));
    }
    MemorySegment data =
        storage(name, view.storage()).asSlice(view.offset() * type.bytes(), count * type.bytes());
    if (count == 0 || isContiguous(view)) {
      return new StoredTensor(type, view.shape(), data);
    }
    if (!isTransposed(view)) {
      throw error(
          name,
          String.format(
              "is a view of shape %s with strides %s, which is not supported; call .contiguous() on"
                  + " it before saving",
              view.shape(), view.strides()));
    }
    return new StoredTensor(type, view.shape(), transpose(name, view, data));
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
              "lies in a storage of %d bytes that should have %d elements of %s",
              bytes.byteSize(), storage.count(), storage.type()));
    }
    return bytes;
  }

  /** Whether the elements lie row by row; the stride of a dimension of size 1 does not matter. */
  private static boolean isContiguous(View view) {
    long expected = 1;
    for (int i = view.shape().size() - 1; i >= 0; i--) {
      if (view.shape().get(i) != 1 && view.strides().get(i) != expected) {
        return false;
      }
      expected *= view.shape().get(i);
    }
    return true;
  }

  private static boolean isTransposed(View view) {
    return view.shape().size() == 2 && view.strides().equals(List.of(1L, view.shape().getFirst()));
  }

  /** The matrix row by row. Copies may not add up to more than the file has bytes. */
  private MemorySegment transpose(String name, View view, MemorySegment data) {
    copyBudget -= data.byteSize();
    if (copyBudget < 0) {
      throw error(name, "is one of too many transposed views of the same bytes");
    }
    long rows = view.shape().getFirst();
    long columns = view.shape().getLast();
    int size = view.storage().type().bytes();
    MemorySegment copy = Arena.ofAuto().allocate(data.byteSize(), 64);
    for (long row = 0; row < rows; row++) {
      for (long column = 0; column < columns; column++) {
        MemorySegment.copy(
            data, (column * rows + row) * size, copy, (row * columns + column) * size, size);
      }
    }
    return copy;
  }

  private UserError error(String name, String what) {
    return new UserError(file + ": tensor " + Names.quote(name) + " " + what);
  }
}
