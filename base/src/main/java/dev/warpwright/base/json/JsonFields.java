package dev.warpwright.base.json;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * The members of an object, asked for by name and kind. What is missing or of another kind is a
 * {@link UserError} that begins with where the object is.
 *
 * @param where what messages begin with, printable
 */
public record JsonFields(String where, Map<String, Json> members) {
  public JsonFields {
    members = Map.copyOf(members);
  }

  /**
   * The members of a value.
   *
   * @throws UserError if it is no object
   */
  public static JsonFields of(String where, Json value) {
    if (value instanceof Json.Members(Map<String, Json> members)) {
      return new JsonFields(where, members);
    }
    throw new UserError(where + " is " + value.kind() + ", not an object");
  }

  /** Whether there is such a member, and it is not null. */
  public boolean has(String name) {
    return members.containsKey(name) && !(members.get(name) instanceof Json.Null);
  }

  /** A member of any kind. */
  public Json value(String name) {
    Json value = members.get(name);
    if (value == null) {
      throw new UserError(where + ": " + name + " is missing");
    }
    return value;
  }

  public String text(String name) {
    if (value(name) instanceof Json.Text(String text)) {
      return text;
    }
    throw wrongKind(name, "a string");
  }

  public boolean flag(String name) {
    if (value(name) instanceof Json.Bool(boolean value)) {
      return value;
    }
    throw wrongKind(name, "true or false");
  }

  /** A whole number of 64 bits. */
  public long integer(String name) {
    return integer(name, value(name));
  }

  /** An element of a member, as a whole number of 64 bits. */
  public long integer(String name, Json element) {
    if (element instanceof Json.Number(String written)) {
      try {
        return Long.parseLong(written);
      } catch (NumberFormatException e) {
        throw new UserError(where + ": " + name + " is " + written + ", no 64-bit integer", e);
      }
    }
    throw wrongKind(name, "an integer");
  }

  /** A number in double precision; one that is too large for it is infinite. */
  public double number(String name) {
    if (value(name) instanceof Json.Number(String written)) {
      return Double.parseDouble(written);
    }
    throw wrongKind(name, "a number");
  }

  public JsonFields object(String name) {
    return of(where + ": " + name, value(name));
  }

  /** The elements of an array. */
  public List<Json> list(String name) {
    if (value(name) instanceof Json.Array(List<Json> items)) {
      return items;
    }
    throw wrongKind(name, "an array");
  }

  /** What {@code read} makes of each element of an array; the first argument is where it is. */
  public <T> List<T> list(String name, BiFunction<String, Json, T> read) {
    List<T> results = new ArrayList<>();
    for (Json item : list(name)) {
      results.add(read.apply(where + ": " + name + "[" + results.size() + "]", item));
    }
    return results;
  }

  /**
   * The name of the only member, for an object that stands for one of several things.
   *
   * @throws UserError if there are more, or none
   */
  public String only() {
    Set<String> names = members.keySet();
    if (names.size() != 1) {
      throw new UserError(where + " has " + names.size() + " members instead of one");
    }
    return names.iterator().next();
  }

  private UserError wrongKind(String name, String wanted) {
    return new UserError(where + ": " + name + " is " + value(name).kind() + ", not " + wanted);
  }
}
