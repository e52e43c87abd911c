package dev.warpwright.model;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.base.files.FileBytes;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.arch.NetworkAssembler;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.model.onnx.OnnxImporter;
import dev.warpwright.model.pt2.Pt2Importer;
import dev.warpwright.model.weights.SafetensorsReader;
import dev.warpwright.model.weights.StateDictReader;
import dev.warpwright.model.weights.Weights;
import dev.warpwright.model.zip.ZipArchive;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Imports models. The format is recognised by content; the name of the file counts only where the
 * content is of no known format.
 */
public final class ModelFile {
  private static final String HINT =
      "export to ONNX with torch.onnx.export(model, (x,), \"model.onnx\")";

  /** As many bytes as are looked at to tell text from an ONNX file. */
  private static final int TEXT = 64;

  private ModelFile() {}

  /**
   * Imports a model that has its graph with it, and simplifies it.
   *
   * <p>A large file is mapped, not read; the graph's constants refer to it, and it stays mapped as
   * long as one of them is reachable.
   *
   * @throws UserError if the file cannot be read, is no supported model, or is corrupt
   */
  public static Graph load(Path path) {
    return load(path, null);
  }

  /**
   * As {@link #load(Path)}, for weights without a graph too.
   *
   * @param architecture of the weights; null for a file that has its graph with it
   * @throws UserError also if the architecture is missing, not wanted, or does not fit
   */
  public static Graph load(Path path, @Nullable Architecture architecture) {
    return GraphSimplifier.simplify(importGraph(path, architecture));
  }

  /** As {@link #load(Path)}, but node by node as in the file. */
  public static Graph importGraph(Path path) {
    return importGraph(path, null);
  }

  private static Graph importGraph(Path path, @Nullable Architecture architecture) {
    MemorySegment bytes = FileBytes.read(path);
    String file = Names.printable(path.toString());
    ZipArchive archive = isArchive(bytes) ? ZipArchive.read(file, bytes) : null;
    if (archive != null && Pt2Importer.isExported(archive)) {
      refuse(file, "an exported program", architecture);
      return Pt2Importer.importModel(file, archive, bytes.byteSize());
    }
    Weights weights =
        archive == null
            ? weights(path, file, bytes)
            : StateDictReader.read(file, archive, bytes.byteSize());
    if (weights != null) {
      if (architecture == null) {
        throw new UserError(
            file
                + ": has weights and no graph; say what they are with --arch, as in --arch"
                + " mlp:64,128,10:relu or --arch arch.json");
      }
      return NetworkAssembler.assemble(weights, architecture);
    }
    checkFormat(path, bytes);
    refuse(file, "an ONNX file", architecture);
    Path name = path.getFileName();
    return OnnxImporter.importModel(
        name == null ? path.toString() : name.toString(), bytes, path.toAbsolutePath().getParent());
  }

  private static void refuse(String file, String what, @Nullable Architecture architecture) {
    if (architecture != null) {
      throw new UserError(file + ": " + what + " has its architecture in it; leave --arch out");
    }
  }

  private static boolean isArchive(MemorySegment bytes) {
    String start = start(bytes);
    return start.startsWith("PK\u0003\u0004") || start.startsWith("PK\u0005\u0006");
  }

  /** The weights of a file that has no graph and is no archive, or null. */
  private static @Nullable Weights weights(Path path, String file, MemorySegment bytes) {
    String start = start(bytes);
    boolean header = start.length() > 8 && start.charAt(8) == '{' && start.charAt(7) == 0;
    if (header || path.toString().endsWith(".safetensors")) {
      return SafetensorsReader.read(file, bytes);
    }
    if (start.startsWith("\u0080") && start.length() > 1 && start.charAt(1) <= 5) {
      throw new UserError(
          file
              + ": is a pickle, not a PyTorch archive; save the weights with PyTorch 1.6 or newer:"
              + " torch.save(model.state_dict(), \"weights.pth\"), or "
              + HINT);
    }
    if (path.toString().endsWith(".pt2")) {
      throw new UserError(
          file
              + ": is no archive of torch.export, or its beginning is corrupt; save it with"
              + " torch.export.save(torch.export.export(model, (x,)), \"model.pt2\")");
    }
    if (path.toString().endsWith(".pth")) {
      throw new UserError(
          file
              + ": is no PyTorch archive, or its beginning is corrupt; save the weights with"
              + " torch.save(model.state_dict(), \"weights.pth\")");
    }
    return null;
  }

  private static String start(MemorySegment bytes) {
    return new String(
        bytes.asSlice(0, Math.min(16, bytes.byteSize())).toArray(ValueLayout.JAVA_BYTE),
        StandardCharsets.ISO_8859_1);
  }

  /** ONNX has no signature of its own, so what has one of another format is refused by that. */
  private static void checkFormat(Path path, MemorySegment bytes) {
    String file = Names.printable(path.toString());
    String start = start(bytes);
    if (start.startsWith("\u0093NUMPY")) {
      throw new UserError(file + ": is a NumPy array, not a model; pass it with --input");
    }
    if (start.startsWith("version https:")) {
      throw new UserError(
          file + ": is a pointer of Git LFS, not the model; fetch it with 'git lfs pull'");
    }
    if (start.charAt(0) > 0x7F || start.startsWith("<") || isText(bytes)) {
      throw new UserError(
          file
              + ": is no model; known are ONNX (.onnx), exported programs (.pt2) and weights"
              + " (.safetensors, .pth); "
              + HINT);
    }
  }

  /**
   * Whether it begins with characters of ASCII alone; the numbers of an ONNX file's head are none.
   */
  private static boolean isText(MemorySegment bytes) {
    for (long at = 0; at < Math.min(TEXT, bytes.byteSize()); at++) {
      byte c = bytes.get(ValueLayout.JAVA_BYTE, at);
      if (c < ' ' && c != '\n' && c != '\r' && c != '\t') {
        return false;
      }
    }
    return true;
  }
}
