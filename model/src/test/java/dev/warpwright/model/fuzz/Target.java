package dev.warpwright.model.fuzz;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.text.IrFile;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.model.ModelFile;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.npy.NpyFile;
import dev.warpwright.model.onnx.OnnxImporter;
import dev.warpwright.model.pt2.Pt2Builder;
import dev.warpwright.model.pt2.Pt2Importer;
import dev.warpwright.model.weights.SafetensorsReader;
import dev.warpwright.model.weights.StateDictReader;
import dev.warpwright.model.weights.Weights;
import dev.warpwright.model.zip.ZipArchive;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Each reader of bytes that may be hostile. */
enum Target {
  ONNX {
    @Override
    void read(byte[] bytes) {
      use(GraphSimplifier.simplify(OnnxImporter.importModel("f", MemorySegment.ofArray(bytes))));
    }
  },
  SAFETENSORS {
    @Override
    void read(byte[] bytes) {
      use(SafetensorsReader.read("f", MemorySegment.ofArray(bytes)));
    }
  },
  /** The archive of a state dict. */
  PTH {
    @Override
    void read(byte[] bytes) {
      use(StateDictReader.read("f", MemorySegment.ofArray(bytes)));
    }
  },
  /** The pickle of a state dict, in an archive that is all right. */
  PICKLE {
    @Override
    void read(byte[] bytes) {
      byte[] storage = new byte[24];
      PTH.read(Archives.stored("a/data.pkl", bytes, "a/data/0", storage));
    }
  },
  /** An archive of torch.export. */
  PT2 {
    @Override
    void read(byte[] bytes) {
      ZipArchive archive = ZipArchive.read("f", MemorySegment.ofArray(bytes));
      use(GraphSimplifier.simplify(Pt2Importer.importModel("f", archive, bytes.length)));
    }
  },
  /** The program of torch.export, in an archive that is all right. */
  PROGRAM {
    @Override
    void read(byte[] bytes) {
      PT2.read(Scratch.PROGRAM.archive(new String(bytes, StandardCharsets.UTF_8)));
    }
  },
  NPY {
    @Override
    void read(byte[] bytes) {
      NpyFile.read(written(bytes)).toFloats();
    }
  },
  /** The description of a network, on weights that are all right. */
  ARCH {
    @Override
    void read(byte[] bytes) {
      use(ModelFile.load(Scratch.WEIGHTS, new Architecture.Described(written(bytes))));
    }
  },
  /** Programs in text. */
  KERNEL {
    @Override
    void read(byte[] bytes) {
      String text = new String(bytes, StandardCharsets.UTF_8);
      IrFile file = new IrParser(Intrinsics::find).file("f", text);
      file.primFuncs().forEach(Verifier::verify);
      file.kernels().forEach(Verifier::verify);
      file.programs().forEach(Verifier::verify);
    }
  };

  /** Constants larger than this are not read element by element. */
  private static final long LARGE = 1 << 16;

  /** Files in the temporary folder, for readers that take a path. */
  private static final class Scratch {
    static final Path FILE = create(".json", new byte[0]);
    static final Pt2Builder PROGRAM =
        new Pt2Builder()
            .parameter("w", List.of(2, 2), 1, 2, 3, 4)
            .parameter("b", List.of(2), 1, 2)
            .buffer("n", List.of(), 1);
    static final Path WEIGHTS = create(".safetensors", Archives.weights());

    private static Path create(String suffix, byte[] content) {
      try {
        Path file = Files.createTempFile("fuzz", suffix);
        file.toFile().deleteOnExit();
        return Files.write(file, content);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * Reads, and uses what was read.
   *
   * @throws UserError if the bytes are refused; everything else that is thrown is a mistake
   */
  abstract void read(byte[] bytes);

  /** As {@link #read}, but a refusal is fine if it is one clear line; false if refused. */
  final boolean check(byte[] bytes) {
    try {
      read(bytes);
      return true;
    } catch (UserError e) {
      String message = e.getMessage();
      if (message == null || message.isBlank() || message.lines().count() != 1) {
        throw new AssertionError("a refusal is not one line: " + message, e);
      }
      return false;
    }
  }

  /** The name as folders and arguments have it. */
  final String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  private static Path written(byte[] bytes) {
    try {
      return Files.write(Scratch.FILE, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void use(Weights weights) {
    for (String name : weights.names()) {
      if (weights.isUsable(name)) {
        use(weights.tensor(name));
      }
    }
  }

  private static void use(Graph graph) {
    for (Node node : graph.nodes()) {
      node.constants().forEach(Target::use);
    }
  }

  private static void use(ConstantTensor tensor) {
    if (tensor.count() <= LARGE && tensor.dtype().isFloat()) {
      tensor.toFloats();
    }
  }
}
