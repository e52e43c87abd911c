package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Orders as text, one or several in a file: fields such as {@code t1 = 2, outer_width = 2}, the
 * word {@code Order} with a number or without, and in brackets the tiles, {@code (x, y, gemmId)},
 * {@code (x, y, gemmId, part)} or {@code (x, y)} for one matmul. {@code t1} or {@code t} is the
 * number of tiles at a time, {@code parts} that of parts of the second matmul's K, which holds for
 * the order that follows; x the column and y the row of a tile, gemmId the matmul, 0 or 1, part
 * which of the second's K, 0 if it is not said; other fields tell how an order was made and are
 * only read over. A line that begins with {@code #} is a remark.
 *
 * @param atOnce tiles at a time
 * @param parts of the second matmul's K
 * @param line on which the order begins, from 1
 */
public record OrderText(int atOnce, int parts, List<WorkItem> items, int line) {
  /** A text longer than this is refused. */
  public static final int LONGEST = 4 << 20;

  private static final Pattern SPACE = Pattern.compile("(?:\\s|(?<=^|\n)#[^\n]*+)*+");

  /**
   * Between orders, also the lines that a search prints above its order: they begin with digits.
   */
  private static final Pattern BETWEEN =
      Pattern.compile("(?:(?<=^|\n)(?:#|[ \t]*+\\d)[^\n]*+|\\s)*+");

  private static final Pattern FIELD =
      Pattern.compile("([A-Za-z_]\\w{0,39})\\s*=\\s*(\\d{1,9})\\s*,?");
  private static final Pattern HEAD = Pattern.compile("Order(?:\\s+\\d{1,6})?\\s*:\\s*\\[\\s*");
  private static final Pattern ITEM =
      Pattern.compile(
          "\\(\\s*(\\d{1,7})\\s*,\\s*(\\d{1,7})\\s*"
              + "(?:,\\s*([01])\\s*(?:,\\s*(\\d{1,7})\\s*)?)?\\)\\s*(,\\s*)?");

  public OrderText {
    items = List.copyOf(items);
  }

  /** Of whole tiles, on the first line. */
  public OrderText(int atOnce, List<WorkItem> items) {
    this(atOnce, 1, items, 1);
  }

  /**
   * An order of a problem.
   *
   * @param problem that says how many tiles come at a time, and how many parts there are
   */
  public static OrderText of(TileProblem problem, List<WorkItem> items) {
    return new OrderText(problem.atOnce(), problem.parts(), items, 1);
  }

  /**
   * Reads the first order of a text that may hold several.
   *
   * @throws UserError that says on which line the text is not of the form
   */
  public static OrderText parse(String text) {
    return parseAll(text).getFirst();
  }

  /**
   * Reads all orders of a text; there is at least one.
   *
   * @throws UserError that says on which line the text is not of the form
   */
  public static List<OrderText> parseAll(String text) {
    if (text.length() > LONGEST) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "an order of %d characters is too long, at most %d",
              text.length(),
              LONGEST));
    }
    return new Reader(text).all();
  }

  private static final class Reader {
    private final String text;
    private final Matcher matcher;
    private int at;
    private int line = 1;

    /** Up to where {@link #line} has counted. */
    private int counted;

    Reader(String text) {
      this.text = text;
      matcher = SPACE.matcher(text).useTransparentBounds(true).useAnchoringBounds(false);
    }

    List<OrderText> all() {
      List<OrderText> orders = new ArrayList<>();
      int atOnce = 1;
      while (true) {
        next(BETWEEN);
        if (at == text.length() && !orders.isEmpty()) {
          return orders;
        }
        int begins = line();
        int parts = 1;
        while (next(FIELD)) {
          if (matcher.group(1).equals("t") || matcher.group(1).equals("t1")) {
            atOnce = Integer.parseInt(matcher.group(2));
            if (atOnce < 1) {
              throw wrong("tiles at a time are at least 1");
            }
          } else if (matcher.group(1).equals("parts")) {
            parts = Integer.parseInt(matcher.group(2));
            if (parts < 1) {
              throw wrong("parts of the second matmul's K are at least 1");
            }
          }
          next(SPACE);
        }
        if (!next(HEAD)) {
          throw wrong(
              orders.isEmpty()
                  ? "an order begins like 't1 = 2 Order 0: [(0, 0, 0), (1, 0, 0)]'"
                  : "behind an order only another one may follow");
        }
        orders.add(new OrderText(atOnce, parts, items(), begins));
      }
    }

    private List<WorkItem> items() {
      List<WorkItem> items = new ArrayList<>();
      boolean more = true;
      boolean pairs = false;
      while (more && next(ITEM)) {
        String gemm = matcher.group(3);
        if (!items.isEmpty() && pairs != (gemm == null)) {
          throw wrong("tile " + items.size() + ": all are (x, y), or all are (x, y, gemmId)");
        }
        pairs = gemm == null;
        items.add(
            new WorkItem(
                gemm == null ? 0 : Integer.parseInt(gemm),
                Integer.parseInt(matcher.group(2)),
                Integer.parseInt(matcher.group(1)),
                matcher.group(4) == null ? 0 : Integer.parseInt(matcher.group(4))));
        more = matcher.group(5) != null;
      }
      if (at == text.length() || text.charAt(at) != ']') {
        throw wrong(
            "tile "
                + items.size()
                + ": expected (x, y, gemmId) or (x, y, gemmId, part) with gemmId 0 or 1, (x, y), or ]");
      }
      at++;
      return items;
    }

    private boolean next(Pattern pattern) {
      boolean found = matcher.usePattern(pattern).region(at, text.length()).lookingAt();
      if (found) {
        at = matcher.end();
      }
      return found;
    }

    private int line() {
      for (; counted < at; counted++) {
        if (text.charAt(counted) == '\n') {
          line++;
        }
      }
      return line;
    }

    private UserError wrong(String what) {
      return new UserError("line " + line() + ": " + what);
    }
  }

  /** What {@link #parse} reads. */
  public String text() {
    // By hand: there may be millions.
    StringBuilder text = new StringBuilder("t1 = ").append(atOnce);
    if (parts > 1) {
      text.append(", parts = ").append(parts);
    }
    text.append(" Order 0: [");
    String separator = "(";
    for (WorkItem item : items) {
      text.append(separator).append(item.column());
      text.append(", ").append(item.row()).append(", ").append(item.gemm());
      if (parts > 1 && item.gemm() == 1) {
        text.append(", ").append(item.part());
      }
      text.append(')');
      separator = ", (";
    }
    return text.append(']').toString();
  }
}
