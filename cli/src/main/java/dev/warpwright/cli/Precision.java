package dev.warpwright.cli;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What {@code --precision} may name: the type in which matrices are multiplied. */
public enum Precision {
  F32,
  /** F32 in memory, multiplied with 10 bits of mantissa. */
  TF32,
  F16,
  BF16;

  /** The name on the command line, for example {@code bf16}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  static final class Converter implements ITypeConverter<Precision> {
    @Override
    public Precision convert(String value) {
      for (Precision precision : values()) {
        if (precision.text().equals(value)) {
          return precision;
        }
      }
      throw new TypeConversionException(
          "'%s' is not one of %s"
              .formatted(
                  value,
                  Arrays.stream(values()).map(Precision::text).collect(Collectors.joining(", "))));
    }
  }
}
