package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.measure.data.TextFile;
import dev.warpwright.perf.analyze.Gpus;
import dev.warpwright.perf.analyze.OwnDevice;
import dev.warpwright.perf.analyze.WorkloadParts;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Asks what a workload costs on devices.
 *
 * @param gpus that have its type
 * @param skipped those asked for that have not
 */
public record AnalyzeRequest(
    WorkloadParts workload,
    List<DeviceModel> gpus,
    List<DeviceModel> skipped,
    @Nullable Path csv,
    @Nullable Path svg) {
  public AnalyzeRequest {
    gpus = List.copyOf(gpus);
    skipped = List.copyOf(skipped);
  }

  private static final int LONGEST_FILE = 1 << 16;

  /** One line for each device that is skipped. */
  public List<String> notes() {
    return skipped.stream()
        .map(gpu -> gpu.name() + " is skipped: it multiplies no " + workload.type().text())
        .toList();
  }

  /**
   * Reads the words of a command line: a kind, or {@code model=NAME}, then values.
   *
   * @throws UserError that says which word is wrong; also if no device has the type
   */
  public static AnalyzeRequest of(List<String> words, @Nullable Path csv, @Nullable Path svg) {
    List<String> rest = new ArrayList<>(words);
    String kind = rest.isEmpty() || rest.getFirst().contains("=") ? null : rest.removeFirst();
    KeyValues values = new KeyValues(rest);
    String own = values.text("gpufile");
    List<DeviceModel> gpus =
        new ArrayList<>(
            own != null && values.text("gpu") == null
                ? List.of()
                : Gpus.list(values.text("gpu", "h200")));
    if (own != null) {
      gpus.add(OwnDevice.read(own, JsonParser.parse(own, text(Path.of(own)))));
    }
    Precision type = Precision.parse(values.text("dtype", "bf16"));
    String model = values.text("model");
    String file = values.text("file");
    if (file != null) {
      if (kind != null || model != null) {
        throw new UserError("give a kind, model= or file=, only one of them");
      }
      Path path = Path.of(file);
      Long rows = values.text("M") == null ? null : values.number("M", 1, 1L << 31);
      values.finish("file, M, gpu, gpufile, dtype");
      return of(
          WorkloadParts.file(file, JsonParser.parse(file, text(path)), type, rows), gpus, csv, svg);
    }
    if ((kind == null) == (model == null)) {
      throw new UserError(
          kind == null
              ? "what to analyze? gemm, ffn, attention, or model="
                  + String.join("|", WorkloadParts.models())
              : "give a kind or model=, not both");
    }
    WorkloadParts workload =
        model == null
            ? WorkloadParts.of(String.valueOf(kind), type, values.otherNumbers())
            : WorkloadParts.model(model, type, values.otherNumbers());
    return of(workload, gpus, csv, svg);
  }

  /**
   * Of a workload; devices that have not its type are skipped.
   *
   * @throws UserError if no device has the type
   */
  public static AnalyzeRequest of(
      WorkloadParts workload, List<DeviceModel> gpus, @Nullable Path csv, @Nullable Path svg) {
    List<DeviceModel> able = gpus.stream().filter(workload.type()::supportedBy).toList();
    if (able.isEmpty()) {
      throw new UserError(
          String.join(", ", gpus.stream().map(DeviceModel::name).toList())
              + " multiplies no "
              + workload.type().text()
              + "; choose another dtype or gpu");
    }
    return new AnalyzeRequest(
        workload, able, gpus.stream().filter(gpu -> !able.contains(gpu)).toList(), csv, svg);
  }

  private static String text(Path file) {
    return TextFile.read(
        file,
        in -> {
          char[] text = new char[LONGEST_FILE + 1];
          int length = 0;
          for (int read = 0; read >= 0 && length < text.length; length += Math.max(0, read)) {
            read = in.read(text, length, text.length - length);
          }
          if (length > LONGEST_FILE) {
            throw new UserError(file + ": too long for a model, at most " + LONGEST_FILE);
          }
          return new String(text, 0, length);
        });
  }
}
