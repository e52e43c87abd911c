package dev.warpwright.cli.command;

import dev.warpwright.workload.Precision;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What {@code --precision} may name. */
public final class PrecisionConverter implements ITypeConverter<Precision> {
  @Override
  public Precision convert(String value) {
    for (Precision precision : Precision.ASKED_OF_NETWORKS) {
      if (precision.text().equals(value)) {
        return precision;
      }
    }
    throw new TypeConversionException(
        String.format(
            Locale.ROOT,
            "'%s' is not one of %s",
            value,
            Precision.ASKED_OF_NETWORKS.stream()
                .map(Precision::text)
                .collect(Collectors.joining(", "))));
  }
}
