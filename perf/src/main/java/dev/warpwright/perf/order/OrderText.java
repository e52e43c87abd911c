package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Orders as text: {@code t1 = 2 Order 0: [(x, y, gemmId), ...]}. {@code t1} is the number of tiles
 * at a time, x the column and y the row of a tile, gemmId the matmul, 0 or 1.
 *
 * @param atOnce tiles at a time
 */
public record OrderText(int atOnce, List<WorkItem> items) {
  /** A text longer than this is refused. */
  public static final int LONGEST = 4 << 20;

  private static final Pattern HEAD =
      Pattern.compile("\\s*t1\\s*=\\s*(\\d{1,6})\\s*Order\\s+\\d{1,6}\\s*:\\s*\\[\\s*");
  private static final Pattern ITEM =
      Pattern.compile("\\(\\s*(\\d{1,7})\\s*,\\s*(\\d{1,7})\\s*,\\s*([01])\\s*\\)\\s*");
  private static final Pattern END = Pattern.compile("\\]\\s*");

  public OrderText {
    items = List.copyOf(items);
  }

  /**
   * Reads the first order of a text.
   *
   * @throws UserError that says where the text is not of the form
   */
  public static OrderText parse(String text) {
    if (text.length() > LONGEST) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "an order of %d characters is too long, at most %d",
              text.length(),
              LONGEST));
    }
    Matcher matcher = HEAD.matcher(text);
    if (!matcher.lookingAt()) {
      throw new UserError("an order begins like 't1 = 2 Order 0: [(0, 0, 0), (1, 0, 0)]'");
    }
    int atOnce = Integer.parseInt(matcher.group(1));
    List<WorkItem> items = new ArrayList<>();
    int at = matcher.end();
    while (true) {
      matcher.usePattern(ITEM).region(at, text.length());
      if (matcher.lookingAt()) {
        items.add(
            new WorkItem(
                Integer.parseInt(matcher.group(3)),
                Integer.parseInt(matcher.group(2)),
                Integer.parseInt(matcher.group(1))));
        at = matcher.end();
        if (at < text.length() && text.charAt(at) == ',') {
          at++;
          while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
          }
          continue;
        }
      }
      if (matcher.usePattern(END).region(at, text.length()).lookingAt()) {
        return new OrderText(atOnce, items);
      }
      int line = (int) text.substring(0, at).lines().count();
      throw new UserError(
          String.format(
              Locale.ROOT,
              "order, line %d, tile %d: expected (x, y, gemmId) with gemmId 0 or 1, or ]",
              Math.max(1, line),
              items.size()));
    }
  }

  /** What {@link #parse} reads. */
  public String text() {
    // By hand: there may be millions.
    StringBuilder text = new StringBuilder("t1 = ").append(atOnce).append(" Order 0: [");
    String separator = "(";
    for (WorkItem item : items) {
      text.append(separator).append(item.column());
      text.append(", ").append(item.row()).append(", ").append(item.gemm()).append(')');
      separator = ", (";
    }
    return text.append(']').toString();
  }
}
