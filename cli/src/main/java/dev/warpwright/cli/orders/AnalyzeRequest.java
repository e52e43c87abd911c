package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.perf.analyze.Gpus;
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
    List<DeviceModel> gpus = Gpus.list(values.text("gpu", "h200"));
    Precision type = Precision.parse(values.text("dtype", "bf16"));
    String model = values.text("model");
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
    List<DeviceModel> able = gpus.stream().filter(type::supportedBy).toList();
    if (able.isEmpty()) {
      throw new UserError(
          String.join(", ", gpus.stream().map(DeviceModel::name).toList())
              + " multiplies no "
              + type.text()
              + "; choose another dtype or gpu");
    }
    return new AnalyzeRequest(
        workload, able, gpus.stream().filter(gpu -> !able.contains(gpu)).toList(), csv, svg);
  }
}
