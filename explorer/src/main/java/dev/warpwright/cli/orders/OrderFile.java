package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.measure.data.TextFile;
import dev.warpwright.perf.order.OrderText;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Files of orders as text, as a command is given them. */
final class OrderFile {
  private OrderFile() {}

  /**
   * All orders of a file.
   *
   * @throws UserError that names the file, and the line that is wrong
   */
  static List<OrderText> all(Path file) {
    try {
      return OrderText.parseAll(TextFile.read(file, OrderFile::text));
    } catch (UserError e) {
      String message = String.valueOf(e.getMessage());
      throw message.startsWith(file.toString()) ? e : new UserError(file + ": " + message);
    }
  }

  /**
   * One order of a file.
   *
   * @param line on which it begins; null for the first one
   * @throws UserError if none begins there
   */
  static OrderText one(Path file, @Nullable Integer line) {
    List<OrderText> orders = all(file);
    if (line == null) {
      return orders.getFirst();
    }
    int wanted = line;
    return orders.stream()
        .filter(order -> order.line() == wanted)
        .findFirst()
        .orElseThrow(
            () ->
                new UserError(
                    file
                        + ": no order begins on line="
                        + wanted
                        + "; they begin on lines "
                        + orders.stream()
                            .map(order -> Integer.toString(order.line()))
                            .collect(Collectors.joining(", "))));
  }

  /** No more than an order may have, and one character. */
  private static String text(Reader in) throws IOException {
    char[] buffer = new char[1 << 16];
    StringBuilder text = new StringBuilder();
    for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
      text.append(buffer, 0, read);
      if (text.length() > OrderText.LONGEST) {
        break;
      }
    }
    return text.toString();
  }
}
