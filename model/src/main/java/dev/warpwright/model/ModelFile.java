package dev.warpwright.model;

import dev.warpwright.ir.UserError;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.model.io.FileBytes;
import dev.warpwright.model.onnx.OnnxImporter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Imports models; the format is recognised by content, not by the name of the file. */
public final class ModelFile {
  private static final String HINT =
      "export to ONNX with torch.onnx.export(model, (x,), \"model.onnx\")";

  private ModelFile() {}

  /**
   * Imports a model and simplifies its graph.
   *
   * <p>A large file is mapped, not read; the graph's constants refer to it, and it stays mapped as
   * long as one of them is reachable.
   *
   * @throws UserError if the file cannot be read, is no supported model, or is corrupt
   */
  public static Graph load(Path path) {
    return GraphSimplifier.simplify(importGraph(path));
  }

  /** As {@link #load}, but node by node as in the file. */
  public static Graph importGraph(Path path) {
    MemorySegment bytes = FileBytes.read(path);
    checkFormat(path, bytes);
    Path name = path.getFileName();
    return OnnxImporter.importModel(name == null ? path.toString() : name.toString(), bytes);
  }

  /** ONNX has no signature of its own, so what has one of another format is refused by that. */
  private static void checkFormat(Path path, MemorySegment bytes) {
    String file = Names.printable(path.toString());
    String start =
        new String(
            bytes.asSlice(0, Math.min(16, bytes.byteSize())).toArray(ValueLayout.JAVA_BYTE),
            StandardCharsets.ISO_8859_1);
    if (start.startsWith("PK\u0003\u0004")) {
      throw new UserError(
          file + ": PyTorch archives (.pt2, .pt, .pth) are not supported yet; " + HINT);
    }
    if (start.startsWith("\u0080") && start.length() > 1 && start.charAt(1) <= 5) {
      throw new UserError(file + ": pickled PyTorch files are not supported; " + HINT);
    }
    if (start.length() > 8 && start.charAt(8) == '{' && start.charAt(7) == 0) {
      throw new UserError(file + ": .safetensors is not supported yet; " + HINT);
    }
    if (start.startsWith("\u0093NUMPY")) {
      throw new UserError(file + ": is a NumPy array, not a model; pass it with --input");
    }
    if (start.charAt(0) > 0x7F || start.startsWith("{") || start.startsWith("<")) {
      throw new UserError(file + ": is no ONNX model; " + HINT);
    }
  }
}
