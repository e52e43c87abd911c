package dev.warpwright.perf.analyze;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.target.DeviceModel;
import java.util.List;

/**
 * A device of one's own: like one of the catalogue, but for what is said of it. Predictions for it
 * are extrapolated.
 */
public final class OwnDevice {
  private static final List<String> NAMES =
      List.of(
          "name", "like", "SMs", "MHz", "f32", "tf32", "f16", "bf16", "fp8", "int8", "GB", "GBs",
          "L2MiB");

  private static final double MOST = 1e6;

  private OwnDevice() {}

  /**
   * Reads {@code {"name": "mine", "like": "a100", "SMs": 96, "GBs": 1600, "L2MiB": 32}}; rates are
   * in 10¹² operations a second, a multiply-add counting as two.
   *
   * @param where what messages begin with
   * @throws UserError that says which member is wrong
   */
  public static DeviceModel read(String where, Json json) {
    JsonFields fields = JsonFields.of(where, json);
    for (String name : fields.members().keySet()) {
      if (!NAMES.contains(name)) {
        throw new UserError(where + ": no device has '" + name + "'; " + String.join(", ", NAMES));
      }
    }
    DeviceModel like = Gpus.find(fields.text("like"));
    return new DeviceModel(
        fields.text("name"),
        like.driverName(),
        like.target(),
        (int) number(fields, "SMs", 1, like.sms()),
        (int) number(fields, "MHz", 1, like.boostMhz()),
        number(fields, "f32", 0, like.fp32Tflops()),
        number(fields, "tf32", 0, like.tf32Tflops()),
        number(fields, "f16", 0, like.f16Tflops()),
        number(fields, "bf16", 0, like.bf16Tflops()),
        number(fields, "fp8", 0, like.fp8Tflops()),
        number(fields, "int8", 0, like.int8Tops()),
        (int) number(fields, "GB", 1, like.dramGB()),
        (int) number(fields, "GBs", 1, like.dramGBs()),
        number(fields, "L2MiB", 0.1, like.l2MiB()),
        where);
  }

  private static double number(JsonFields fields, String name, double least, double otherwise) {
    if (!fields.has(name)) {
      return otherwise;
    }
    double value = fields.number(name);
    if (!(value >= least && value <= MOST)) {
      throw new UserError(fields.where() + ": " + name + " is out of range");
    }
    return value;
  }
}
