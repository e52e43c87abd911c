package dev.warpwright.cli.run;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The size of a picture in pixels.
 *
 * @param width at least 1
 * @param height at least 1
 */
public record ImageSize(int width, int height) {
  private static final Pattern FORM = Pattern.compile("([1-9][0-9]{0,4})x([1-9][0-9]{0,4})");

  long pixels() {
    return (long) width * height;
  }

  @Override
  public String toString() {
    return width + "x" + height;
  }

  static final class Converter implements ITypeConverter<ImageSize> {
    @Override
    public ImageSize convert(String value) {
      Matcher matcher = FORM.matcher(value);
      if (!matcher.matches()) {
        throw new TypeConversionException(
            "'" + value + "' is not WIDTHxHEIGHT in pixels, for example 128x128");
      }
      return new ImageSize(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }
  }
}
