package dev.warpwright.explorer;

import dev.warpwright.base.UserError;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Texts as they go over the wire. */
final class Text {
  private Text() {}

  /** A JSON string. */
  static String quote(String text) {
    var out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || c >= 0x7f) {
        out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }

  /**
   * The parameters of a query or of a form.
   *
   * @throws UserError if they are no such text, or one comes twice
   */
  static Map<String, String> parameters(String encoded) {
    Map<String, String> parameters = new LinkedHashMap<>();
    for (String pair : encoded.split("&")) {
      if (pair.isEmpty()) {
        continue;
      }
      int equals = pair.indexOf('=');
      String name = decode(equals < 0 ? pair : pair.substring(0, equals));
      if (parameters.put(name, equals < 0 ? "" : decode(pair.substring(equals + 1))) != null) {
        throw new UserError("a parameter comes twice");
      }
    }
    return parameters;
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new UserError("a parameter is not encoded as it should be");
    }
  }
}
