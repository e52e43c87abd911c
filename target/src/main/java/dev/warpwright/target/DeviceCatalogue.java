package dev.warpwright.target;

import static dev.warpwright.target.GpuTarget.SM_75;
import static dev.warpwright.target.GpuTarget.SM_80;
import static dev.warpwright.target.GpuTarget.SM_86;
import static dev.warpwright.target.GpuTarget.SM_89;
import static dev.warpwright.target.GpuTarget.SM_90A;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Devices for which analyses have figures. They come from NVIDIA's white papers and data sheets,
 * and follow from multiprocessors × clock × operations per clock. Rates “with sparsity” are twice
 * as high and are never used.
 */
public final class DeviceCatalogue {
  private static final String AMPERE_SHEET = "GA102 white paper and data sheet";

  // Name, driver's name, target, SMs, MHz, fp32, tf32, f16, bf16, fp8, int8, GB, GB/s, L2, source.
  public static final List<DeviceModel> ALL =
      List.of(
          new DeviceModel(
              "T4",
              "tesla t4",
              SM_75,
              40,
              1590,
              8.1,
              0,
              65,
              0,
              0,
              130,
              16,
              320,
              4,
              "T4 data sheet"),
          new DeviceModel(
              "A100 SXM 80 GB",
              "a100-sxm4-80gb",
              SM_80,
              108,
              1410,
              19.5,
              156,
              312,
              312,
              0,
              624,
              80,
              2039,
              40,
              "A100 data sheet"),
          new DeviceModel(
              "A100 SXM 40 GB",
              "a100-sxm4-40gb",
              SM_80,
              108,
              1410,
              19.5,
              156,
              312,
              312,
              0,
              624,
              40,
              1555,
              40,
              "A100 data sheet"),
          new DeviceModel(
              "A40",
              "nvidia a40",
              SM_86,
              84,
              1740,
              37.4,
              74.8,
              149.7,
              149.7,
              0,
              299,
              48,
              696,
              6,
              AMPERE_SHEET),
          new DeviceModel(
              "RTX 3050 Laptop",
              "rtx 3050",
              SM_86,
              16,
              1740,
              7.1,
              7.1,
              14.3,
              14.3,
              0,
              57,
              4,
              192,
              2,
              "GA107 at its highest clock; board power lowers it"),
          new DeviceModel(
              "RTX 3090",
              "rtx 3090",
              SM_86,
              82,
              1695,
              35.6,
              35.6,
              71,
              71,
              0,
              285,
              24,
              936,
              6,
              AMPERE_SHEET),
          new DeviceModel(
              "RTX 4090",
              "rtx 4090",
              SM_89,
              128,
              2520,
              82.6,
              82.6,
              165,
              165,
              330,
              661,
              24,
              1008,
              72,
              "Ada white paper"),
          new DeviceModel(
              "L40S",
              "l40s",
              SM_89,
              142,
              2520,
              91.6,
              183,
              362,
              362,
              733,
              733,
              48,
              864,
              96,
              "L40S data sheet"),
          new DeviceModel(
              "L4",
              "nvidia l4",
              SM_89,
              58,
              2040,
              30.3,
              60,
              121,
              121,
              242,
              242,
              24,
              300,
              48,
              "L4 data sheet"),
          new DeviceModel(
              "H100 PCIe",
              "h100 pcie",
              SM_90A,
              114,
              1755,
              51,
              378,
              756,
              756,
              1513,
              1513,
              80,
              2039,
              50,
              "H100 white paper"),
          new DeviceModel(
              "H100 SXM",
              "h100",
              SM_90A,
              132,
              1980,
              67,
              495,
              989,
              989,
              1979,
              1979,
              80,
              3350,
              50,
              "H100 data sheet"),
          new DeviceModel(
              "H200 SXM",
              "h200",
              SM_90A,
              132,
              1980,
              67,
              495,
              989,
              989,
              1979,
              1979,
              141,
              4800,
              60,
              "H200 data sheet; L2 as the driver reports it"));

  private DeviceCatalogue() {}

  /** The device with this name, the catalogue's or the driver's. */
  public static Optional<DeviceModel> find(String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    return ALL.stream()
        .filter(
            device ->
                device.name().toLowerCase(Locale.ROOT).equals(wanted)
                    || wanted.matches(".*\\b\\Q" + device.driverName() + "\\E\\b.*"))
        .findFirst();
  }
}
