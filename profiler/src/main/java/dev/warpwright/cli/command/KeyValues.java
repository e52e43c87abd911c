package dev.warpwright.cli.command;

import dev.warpwright.base.UserError;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Arguments of the form {@code KEY=VALUE}; in {@code MN=1024} letters share a value. */
public final class KeyValues {
  private static final Pattern FORM = Pattern.compile("([A-Za-z][\\w-]*)=(\\S+)");
  private static final Pattern SHARED = Pattern.compile("[MNK]{2,3}");
  private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");
  private static final Pattern SIGNED = Pattern.compile("[-+]?[\\d.]+");
  private static final Pattern SECONDS = Pattern.compile("\\d{1,6}(\\.\\d{1,6})?");

  private final Map<String, String> values = new TreeMap<>();
  private final Map<String, String> unread = new TreeMap<>();

  /**
   * Takes arguments apart.
   *
   * @throws UserError if one has another form, or a key comes twice
   */
  public KeyValues(List<String> arguments) {
    for (String argument : arguments) {
      Matcher matcher = FORM.matcher(argument);
      if (!matcher.matches()) {
        throw new UserError(
            "'"
                + argument
                + (argument.endsWith("=") ? "' has no value" : "' is no KEY=VALUE")
                + "; write M=4096 or dtype=bf16");
      }
      String key = matcher.group(1);
      List<String> keys = SHARED.matcher(key).matches() ? List.of(key.split("")) : List.of(key);
      for (String each : keys) {
        if (values.put(each, matcher.group(2)) != null) {
          throw new UserError("two values for " + each);
        }
      }
    }
    unread.putAll(values);
  }

  /** A value, or null if it is not given. */
  public @Nullable String text(String key) {
    unread.remove(key);
    return values.get(key);
  }

  /** A value, or another one if it is not given. */
  public String text(String key, String otherwise) {
    String text = text(key);
    return text == null ? otherwise : text;
  }

  /**
   * A number.
   *
   * @throws UserError if it is missing, or outside its range
   */
  public long number(String key, long least, long most) {
    String text = text(key);
    if (text == null) {
      throw missing(key);
    }
    return number(key, text, least, most);
  }

  /** Says that a value is missing, and which one may be it, misspelt. */
  public UserError missing(String key) {
    return missing(key, key + "=...");
  }

  /** Says that a value is missing, which one may be it, misspelt, and what to give. */
  public UserError missing(String key, String give) {
    String like =
        unread.keySet().stream().filter(given -> isLike(given, key)).findFirst().orElse(null);
    String meant = like == null ? "" : "is '" + like + "' meant? ";
    return new UserError("no value for " + key + "; " + meant + "give " + give);
  }

  /** Whether few letters of one make the other: a letter less, more or another, or two swapped. */
  static boolean isLike(String given, String known) {
    int from = 0;
    int most = Math.min(given.length(), known.length());
    while (from < most && given.charAt(from) == known.charAt(from)) {
      from++;
    }
    int behind = 0;
    while (behind < most - from
        && given.charAt(given.length() - 1 - behind) == known.charAt(known.length() - 1 - behind)) {
      behind++;
    }
    int differing = Math.max(given.length(), known.length()) - from - behind;
    return known.length() > 2
        && (differing <= 1 || (differing == 2 && given.length() == known.length()));
  }

  /** A number, or another one if it is not given. */
  public long number(String key, long least, long most, long otherwise) {
    String text = text(key);
    return text == null ? otherwise : number(key, text, least, most);
  }

  /** A number of seconds, above 0, or another one if it is not given. */
  public double seconds(String key, double otherwise) {
    String text = text(key);
    if (text == null) {
      return otherwise;
    }
    double value = SECONDS.matcher(text).matches() ? Double.parseDouble(text) : 0;
    if (value <= 0) {
      throw new UserError(key + "=" + text + ": it is a number of seconds, as 2.5");
    }
    return value;
  }

  /** A number from 0 on, or another one if it is not given. */
  public double decimal(String key, double otherwise) {
    String text = text(key);
    if (text == null) {
      return otherwise;
    }
    if (!SECONDS.matcher(text).matches()) {
      throw new UserError(key + "=" + text + ": it is a number, as 0.95");
    }
    return Double.parseDouble(text);
  }

  /** Everything that was not asked for yet, as numbers. */
  public Map<String, Long> otherNumbers() {
    Map<String, Long> numbers = new TreeMap<>();
    for (String key : List.copyOf(unread.keySet())) {
      String value = String.valueOf(values.get(key));
      if (!NUMBER.matcher(value).matches()) {
        throw new UserError(
            key
                + "="
                + value
                + (SIGNED.matcher(value).matches()
                    ? ": it is a whole number from 0 on"
                    : ": there is no '" + key + "' with such a value"));
      }
      numbers.put(key, number(key, 0, Long.MAX_VALUE));
    }
    return numbers;
  }

  private static long number(String key, String text, long least, long most) {
    long value = NUMBER.matcher(text).matches() ? Long.parseLong(text) : -1;
    if (value < least || value > most) {
      throw new UserError(
          key + "=" + text + ": it is a whole number from " + least + " to " + most);
    }
    return value;
  }

  /**
   * All values, as numbers.
   *
   * @throws UserError if one is none
   */
  public Map<String, Long> numbers() {
    Map<String, Long> numbers = new TreeMap<>();
    values.keySet().forEach(key -> numbers.put(key, number(key, 0, Long.MAX_VALUE)));
    return numbers;
  }

  /**
   * To be called when all was asked for.
   *
   * @throws UserError if something given was not
   */
  public void finish(String known) {
    if (!unread.isEmpty()) {
      String key = unread.keySet().iterator().next();
      String like =
          Arrays.stream(known.split("[ ,()]+"))
              .filter(each -> isLike(key, each))
              .findFirst()
              .orElse(null);
      throw new UserError(
          "there is no '"
              + key
              + "'; "
              + (like == null ? "" : "is '" + like + "' meant? ")
              + "known are "
              + known);
    }
  }
}
