package dev.warpwright.ir.text;

import dev.warpwright.ir.Buffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The variables and buffers that can be named at a place of the text. */
final class Definitions {
  private record Definition(Object node, int line) {}

  private final Deque<Map<String, Definition>> scopes = new ArrayDeque<>();
  private final Cursor cursor;

  Definitions(Cursor cursor) {
    this.cursor = cursor;
    enter();
  }

  void enter() {
    scopes.push(new HashMap<>());
  }

  void leave() {
    scopes.pop();
  }

  /** Makes a name known up to the end of the scope; hiding another one is an error. */
  <T> T define(Token token, T node) {
    Definition earlier = find(token.text());
    if (earlier != null) {
      throw cursor.error(
          token,
          token.found()
              + " is already defined"
              + (earlier.line() > 0 ? " in line " + earlier.line() : ""));
    }
    scopes.element().put(token.text(), new Definition(node, token.line()));
    return node;
  }

  void predefine(String name, Object node) {
    scopes.element().put(name, new Definition(node, 0));
  }

  private @Nullable Definition find(String name) {
    for (Map<String, Definition> scope : scopes) {
      Definition found = scope.get(name);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** The variable or buffer of this name, or null. */
  @Nullable Object lookup(Token token) {
    Definition found = find(token.text());
    return found == null ? null : found.node();
  }

  Buffer buffer(Token token) {
    if (lookup(token) instanceof Buffer buffer) {
      return buffer;
    }
    throw cursor.error(token, "expected a buffer, found " + token.found());
  }
}
