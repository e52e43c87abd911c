package dev.warpwright.cli.command;

import dev.warpwright.model.function.Precision;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What {@code --precision} may name. */
public final class PrecisionConverter implements ITypeConverter<Precision> {
  @Override
  public Precision convert(String value) {
    for (Precision precision : Precision.values()) {
      if (precision.text().equals(value)) {
        return precision;
      }
    }
    throw new TypeConversionException(
        String.format(
            Locale.ROOT,
            "'%s' is not one of %s",
            value,
            Arrays.stream(Precision.values())
                .map(Precision::text)
                .collect(Collectors.joining(", "))));
  }
}
