package dev.warpwright.cli.devices;

import dev.warpwright.target.DeviceCatalogue;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What {@code --target} may name: where kernels run, or which GPUs they are compiled for. */
public enum TargetName {
  /** The GPU if there is one, else the CPU. */
  AUTO,
  CPU,
  /** The simulator of a GPU. */
  SIM,
  SM_75,
  SM_80,
  SM_86,
  SM_89,
  SM_90A;

  /** The name on the command line, for example {@code sm_90a}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static final class Converter implements ITypeConverter<TargetName> {
    @Override
    public TargetName convert(String value) {
      for (TargetName target : values()) {
        if (target.text().equals(value)) {
          return target;
        }
      }
      throw new TypeConversionException(
          String.format(
              Locale.ROOT,
              "'%s' is not one of %s%s",
              value,
              Arrays.stream(values()).map(TargetName::text).collect(Collectors.joining(", ")),
              hint(value)));
    }

    /** What a device, or a generation without its suffix, is called here. */
    private static String hint(String value) {
      String name = value.toLowerCase(Locale.ROOT);
      if (name.length() < 2) {
        return "";
      }
      for (TargetName target : values()) {
        if (target.text().equals(name + "a")) {
          return "; take " + target.text();
        }
      }
      return DeviceCatalogue.ALL.stream()
          .filter(device -> device.name().toLowerCase(Locale.ROOT).contains(name))
          .findFirst()
          .map(device -> "; " + device.name() + " is " + device.target().name())
          .orElse("");
    }
  }
}
