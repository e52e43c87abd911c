package dev.warpwright.model.json;

import java.util.List;
import java.util.Map;

/** A value of a JSON document. */
public sealed interface JsonValue {

  /** An object; the keys in their order in the text, each once. */
  record JsonObject(Map<String, JsonValue> members) implements JsonValue {}

  /** An array. */
  record JsonArray(List<JsonValue> elements) implements JsonValue {}

  /** A string, unescaped. */
  record JsonString(String text) implements JsonValue {}

  /** A number as it is written, so that 64-bit integers stay exact. */
  record JsonNumber(String text) implements JsonValue {}

  /** True or false. */
  record JsonBoolean(boolean value) implements JsonValue {}

  /** The null of JSON. */
  record JsonNull() implements JsonValue {}

  /** How messages call this kind of value. */
  default String kind() {
    return switch (this) {
      case JsonObject object -> "an object";
      case JsonArray array -> "an array";
      case JsonString string -> "a string";
      case JsonNumber number -> "a number";
      case JsonBoolean bool -> "a boolean";
      case JsonNull none -> "null";
    };
  }
}
