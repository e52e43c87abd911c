package dev.warpwright.model.pt2;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.io.Utf8;
import dev.warpwright.model.onnx.OnnxImporter;
import dev.warpwright.model.onnx.Proto;
import dev.warpwright.model.pt2.Program.Meta;
import dev.warpwright.model.weights.ExportedWeights;
import dev.warpwright.model.weights.Weights;
import dev.warpwright.model.zip.ZipArchive;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Turns what {@code torch.export.save} wrote into a {@link Graph}: archive format pt2, version 0;
 * schema version 8 of any minor version. Weights stay where they lie in the bytes.
 */
public final class Pt2Importer {
  /** What messages advise. */
  static final String ADVICE =
      "export to ONNX with torch.onnx.export(model, (x,), \"model.onnx\", dynamo=True)";

  /** What the nodes mean; checked by the ONNX importer. */
  private static final long OPSET = 23;

  private static final long MAX_PROGRAM = 1 << 28;
  private static final String MODELS = "models/";
  private static final String JSON = ".json";

  /** Operators that only check sizes. */
  private static final Set<String> IGNORED =
      Set.of(
          "aten._assert_tensor_metadata.default",
          "aten._assert_scalar.default",
          "aten._assert_async.msg",
          "aten.sym_constrain_range.default",
          "aten.sym_constrain_range_for_size.default");

  private final String file;
  private final Program program;
  private final Weights weights;
  private final Translation translation;

  private Pt2Importer(String file, Program program, Weights weights) {
    this.file = file;
    this.program = program;
    this.weights = weights;
    this.translation = new Translation(file, program);
  }

  /** Whether an archive is one that {@code torch.export.save} wrote, of any version. */
  public static boolean isExported(ZipArchive archive) {
    String root = root(archive);
    return archive.names().contains(root + "archive_format")
        || archive.names().contains(root + "models/model.json")
        || archive.names().contains(root + "serialized_exported_program.json");
  }

  private static String root(ZipArchive archive) {
    Set<String> names = archive.names();
    String first = names.isEmpty() ? "" : names.iterator().next();
    return first.substring(0, first.indexOf('/') + 1);
  }

  /**
   * Imports the model of an archive.
   *
   * @param file the archive's name in messages, printable
   * @param archive one that {@link #isExported}
   * @param size of the archive in bytes
   * @throws UserError if something is missing or corrupt, or not supported
   */
  public static Graph importModel(String file, ZipArchive archive, long size) {
    String root = root(archive);
    if (archive.names().contains(root + "serialized_exported_program.json")) {
      throw new UserError(
          file
              + ": was exported by PyTorch 2.7 or older; export it again with PyTorch 2.8 or newer,"
              + " or "
              + ADVICE);
    }
    expect(file, archive, root + "archive_format", "pt2");
    expect(file, archive, root + "archive_version", "0");
    expect(file, archive, root + "byteorder", "little");
    String model = model(file, archive, root);
    String entry = root + MODELS + model + JSON;
    MemorySegment bytes = archive.entry(entry);
    String text = bytes == null || bytes.byteSize() > MAX_PROGRAM ? null : Utf8.decode(bytes);
    String where = file + ": " + Names.printable(entry);
    if (text == null) {
      throw new UserError(where + " is no UTF-8 text, or longer than " + MAX_PROGRAM + " bytes");
    }
    Program program = ProgramReader.read(file, where, text);
    Weights weights = ExportedWeights.read(file, archive, root, model, size);
    return new Pt2Importer(file, program, weights).run(model, size);
  }

  private static void expect(String file, ZipArchive archive, String entry, String expected) {
    MemorySegment bytes = archive.entry(entry);
    if (bytes == null) {
      return; // torch.export.load takes a missing one for the only value there is, too
    }
    String text = Utf8.decode(bytes);
    if (text == null || !text.strip().equals(expected)) {
      String name = entry.substring(entry.indexOf('/') + 1);
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: its %s is %s; supported: '%s'",
              file,
              name,
              text == null ? "no text" : Names.quote(text.strip()),
              expected));
    }
  }

  private static String model(String file, ZipArchive archive, String root) {
    List<String> models =
        archive.names().stream()
            .filter(name -> name.startsWith(root + MODELS) && name.endsWith(JSON))
            .map(
                name ->
                    name.substring(root.length() + MODELS.length(), name.length() - JSON.length()))
            .toList();
    if (models.size() == 1) {
      return models.getFirst();
    }
    if (models.isEmpty()) {
      throw new UserError(
          file
              + ": has no exported program in it, only compiled code perhaps; save it with"
              + " torch.export.save");
    }
    throw new UserError(
        file + ": has " + models.size() + " models; save one of them with torch.export.save");
  }

  private Graph run(String name, long size) {
    List<Proto.ValueInfo> inputs = new ArrayList<>();
    for (Program.Input input : program.inputs()) {
      if (input.constant() == null) {
        inputs.add(declared(input.name()));
        continue;
      }
      ConstantTensor tensor = weights.constant(input.constant(), input.name());
      if (tensor == null) {
        throw new UserError(
            file
                + ": tensor "
                + Names.quote(input.constant())
                + ", which the program needs, is not in the archive");
      }
      translation.constant(tensor);
    }
    program.nodes().forEach(this::translate);
    List<Proto.ValueInfo> outputs = new ArrayList<>();
    Set<String> listed = new HashSet<>();
    for (String output : program.outputs()) {
      Proto.ValueInfo declared = declared(translation.read(output));
      outputs.add(listed.add(output) ? declared : again(declared));
    }
    Proto.Graph graph =
        new Proto.Graph(name, translation.nodes(), translation.initializers(), inputs, outputs);
    return OnnxImporter.importModel(file, new Proto.Model(Map.of("", OPSET), graph), size);
  }

  /** A copy of what the model returns a second time, since outputs have different names. */
  private Proto.ValueInfo again(Proto.ValueInfo output) {
    String name = translation.fresh(output.name());
    String label = "output " + Names.quote(output.name());
    translation.add(
        new Proto.Node(
            name,
            label,
            "",
            "Identity",
            "aten.alias",
            List.of(output.name()),
            List.of(name),
            Map.of()));
    return new Proto.ValueInfo(name, output.elementType(), output.shape());
  }

  /** An input or output as the file declares it. */
  private Proto.ValueInfo declared(String name) {
    Meta meta = program.tensors().get(name);
    if (meta == null) {
      throw new UserError(file + ": nothing is said of " + Names.quote(name));
    }
    DType dtype = meta.dtype();
    return new Proto.ValueInfo(name, dtype == null ? 0 : AtenCall.onnxType(dtype), meta.shape());
  }

  private void translate(Program.Node node) {
    if (node.symbolic() || IGNORED.contains(node.target())) {
      return; // sizes are known from what is said of each tensor
    }
    AtenOperator operator = AtenOperators.named(node.target());
    AtenCall call = new AtenCall(translation, node);
    if (operator == null) {
      throw new UserError(
          file
              + ": "
              + node.label()
              + " has unsupported operator "
              + Names.quote(node.target())
              + "; supported: "
              + String.join(", ", AtenOperators.names()));
    }
    node.arguments()
        .forEach(
            (name, value) -> {
              if (!operator.arguments().contains(name) && !(value instanceof Argument.None)) {
                throw call.error("argument " + Names.quote(name) + " is not supported");
              }
            });
    if (AtenOperators.isInPlace(node.target())) {
      checkInPlace(call);
    }
    operator.rule().translate(call);
  }

  /** Overwriting is like computing something new, as long as nobody else sees what was there. */
  private void checkInPlace(AtenCall call) {
    String target = call.has("self") ? call.tensor("self") : call.tensor("input");
    String producer = translation.producer(target);
    boolean fresh = producer != null && AtenOperators.isFresh(producer);
    if (!fresh || translation.uses(target) != 1) {
      throw call.error(
          "overwrites "
              + Names.quote(target)
              + ", which something else may see; use the operator that does not (inplace=False)");
    }
  }
}
