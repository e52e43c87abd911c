package dev.warpwright.cli.command;

import dev.warpwright.base.Names;
import dev.warpwright.base.Spelling;
import dev.warpwright.base.UserError;
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
        unread.keySet().stream()
            .filter(given -> Spelling.nearest(given, List.of(key)) != null)
            .findFirst()
            .orElse(null);
    String meant = like == null ? sharing(key) : "is " + Names.quote(like) + " meant? ";
    return new UserError("no value for " + key + "; " + meant + "give " + give);
  }

  /** Letters that stand together with one that none shares a value with, as in MNJ. */
  private String sharing(String key) {
    return unread.keySet().stream()
        .filter(given -> given.matches("[A-Z]{2,3}") && given.contains(key))
        .findFirst()
        .map(given -> "in '" + given + "' M, N and K can share a value; ")
        .orElse("");
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
      throw new UserError(
          "there is no '"
              + key
              + "'; "
              + Spelling.meant(key, List.of(known.split("[ ,()]+")))
              + "known are "
              + known);
    }
  }
}
