package dev.warpwright.perf.analyze;

import dev.warpwright.base.UserError;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Finds devices of the catalogue by what people call them. */
public final class Gpus {
  private Gpus() {}

  /** The shortest word that finds a device, for example {@code h200}. */
  public static String shortName(DeviceModel device) {
    return Arrays.stream(device.name().toLowerCase(Locale.ROOT).split(" "))
        .filter(word -> find(word) == device)
        .findFirst()
        .orElse(key(device.name()));
  }

  /** The devices of a list with commas, as {@code a100,4090,h200}. */
  public static List<DeviceModel> list(String names) {
    return Arrays.stream(names.split(",", -1)).map(Gpus::find).distinct().toList();
  }

  /**
   * The device whose name is this or, that failing, contains it; of several the shortest name.
   *
   * @throws UserError if there is none
   */
  public static DeviceModel find(String name) {
    String wanted = key(name);
    return DeviceCatalogue.ALL.stream()
        .filter(device -> !wanted.isEmpty() && key(device.name()).contains(wanted))
        .min(
            Comparator.comparing((DeviceModel device) -> !words(device).contains(wanted))
                .thenComparing(device -> device.name().length()))
        .orElseThrow(
            () ->
                new UserError(
                    "gpu '"
                        + name
                        + "' is not in the catalogue: "
                        + String.join(
                            ", ", DeviceCatalogue.ALL.stream().map(DeviceModel::name).toList())));
  }

  private static List<String> words(DeviceModel device) {
    return List.of(device.name().toLowerCase(Locale.ROOT).split(" "));
  }

  private static String key(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }
}
