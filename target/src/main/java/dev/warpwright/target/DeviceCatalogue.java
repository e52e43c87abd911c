package dev.warpwright.target;

import dev.warpwright.base.UserError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Devices for which analyses have figures, from the table {@code devices.csv} beside this class.
 * They come from NVIDIA's white papers and data sheets, and follow from SMs × clock × operations
 * per clock.
 */
public final class DeviceCatalogue {
  private static final String FILE = "devices.csv";
  private static final int COLUMNS = 15;

  /** In the order of the table: by target, oldest first. */
  public static final List<DeviceModel> ALL = read();

  private DeviceCatalogue() {}

  /**
   * {@return SMs of the largest device of a target; 1 if none is known}
   *
   * @param target of the GPUs
   */
  public static int sms(GpuTarget target) {
    return largest(target).map(DeviceModel::sms).orElse(1);
  }

  /**
   * {@return the device of a target that has the most SMs, of equals the fastest memory}
   *
   * @param target of the GPUs
   */
  public static Optional<DeviceModel> largest(GpuTarget target) {
    return ALL.stream()
        .filter(model -> model.target() == target)
        .max(Comparator.comparing(DeviceModel::sms).thenComparing(DeviceModel::dramGBs));
  }

  /**
   * {@return the device with this name, the catalogue's or the driver's}
   *
   * @param name in any case; of the driver's name a part is enough that the catalogue knows
   */
  public static Optional<DeviceModel> find(String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    return ALL.stream()
        .filter(
            device ->
                device.name().toLowerCase(Locale.ROOT).equals(wanted)
                    || wanted.matches(".*\\b\\Q" + device.driverName() + "\\E\\b.*"))
        .findFirst();
  }

  /**
   * {@return the device with this name, or whose name begins so, if kernels are generated for it}
   *
   * @param option the option that names it, for messages
   * @param name in any case
   * @throws UserError if there is none
   */
  public static DeviceModel withCode(String option, String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    DeviceModel device =
        find(name)
            .or(
                () ->
                    ALL.stream()
                        .filter(each -> each.name().toLowerCase(Locale.ROOT).startsWith(wanted))
                        .findFirst())
            .orElseThrow(
                () ->
                    new UserError(
                        option
                            + " "
                            + name
                            + ": known are "
                            + ALL.stream()
                                .filter(DeviceModel::hasCode)
                                .map(DeviceModel::name)
                                .collect(Collectors.joining(", "))));
    if (!device.hasCode()) {
      throw new UserError(
          option
              + " "
              + name
              + ": no kernels are generated for "
              + device.target().name()
              + "; 'warpwright analyze' predicts for it");
    }
    return device;
  }

  private static List<DeviceModel> read() {
    try (InputStream in =
        Objects.requireNonNull(DeviceCatalogue.class.getResourceAsStream(FILE), FILE)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .skip(1)
          .map(DeviceCatalogue::device)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The device of a row. */
  static DeviceModel device(String line) {
    String[] cells = line.split(",", COLUMNS);
    if (cells.length != COLUMNS) {
      throw new IllegalStateException(FILE + " has a row of " + cells.length + " cells: " + line);
    }
    String[] row = Arrays.stream(cells).map(String::strip).toArray(String[]::new);
    GpuTarget target =
        GpuTarget.KNOWN.stream()
            .filter(known -> known.name().equals(row[2]))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(FILE + ": no target " + row[2]));
    return new DeviceModel(
        row[0],
        row[1],
        target,
        Integer.parseInt(row[3]),
        Integer.parseInt(row[4]),
        Double.parseDouble(row[5]),
        Double.parseDouble(row[6]),
        Double.parseDouble(row[7]),
        Double.parseDouble(row[8]),
        Double.parseDouble(row[9]),
        Double.parseDouble(row[10]),
        Integer.parseInt(row[11]),
        Integer.parseInt(row[12]),
        Double.parseDouble(row[13]),
        row[14]);
  }
}
