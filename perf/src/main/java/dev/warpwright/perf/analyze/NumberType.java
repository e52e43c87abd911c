package dev.warpwright.perf.analyze;

import dev.warpwright.base.UserError;
import dev.warpwright.target.DeviceModel;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Types of operands, with what a device can do with them. */
public enum NumberType {
  F32(4),
  TF32(4),
  F16(2),
  BF16(2),
  FP8(1),
  INT8(1);

  private final int bytes;

  NumberType(int bytes) {
    this.bytes = bytes;
  }

  /** Of an operand's element. */
  public int bytes() {
    return bytes;
  }

  /** Of a result's element: 8-bit operands give 16-bit results. */
  public int resultBytes() {
    return Math.max(2, bytes);
  }

  /** The word that {@link #parse} reads. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Reads {@code bf16} and its like. */
  public static NumberType parse(String text) {
    for (NumberType type : values()) {
      if (type.text().equals(text)) {
        return type;
      }
    }
    List<String> names = Arrays.stream(values()).map(NumberType::text).toList();
    throw new UserError("dtype '" + text + "' is none of " + String.join(", ", names));
  }

  /** Whether the device has an instruction for it. */
  public boolean supportedBy(DeviceModel device) {
    return teraRate(device) > 0;
  }

  /**
   * The device's peak rate on this type, in operations a second.
   *
   * @throws UserError if the device has no instruction for it
   */
  public double peak(DeviceModel device) {
    if (!supportedBy(device)) {
      throw new UserError(
          device.name() + " multiplies no " + text() + "; choose another dtype or gpu");
    }
    return teraRate(device) * 1e12;
  }

  private double teraRate(DeviceModel device) {
    return switch (this) {
      case F32 -> device.fp32Tflops();
      case TF32 -> device.tf32Tflops();
      case F16 -> device.f16Tflops();
      case BF16 -> device.bf16Tflops();
      case FP8 -> device.fp8Tflops();
      case INT8 -> device.int8Tops();
    };
  }
}
