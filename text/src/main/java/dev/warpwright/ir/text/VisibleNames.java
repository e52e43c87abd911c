package dev.warpwright.ir.text;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Gives variables and buffers names of which no two that are visible together are equal. */
final class VisibleNames {
  private final Map<Object, String> names = new IdentityHashMap<>();
  private final Set<String> visible = new HashSet<>();
  private final Deque<List<String>> scopes = new ArrayDeque<>();

  void enter() {
    scopes.push(new ArrayList<>());
  }

  void leave() {
    visible.removeAll(scopes.pop());
  }

  /** The written name of a new declaration. */
  String declare(Object node, String name) {
    String written = unused(name);
    names.put(node, written);
    if (!scopes.isEmpty()) {
      scopes.peek().add(written);
    }
    return written;
  }

  /** The written name; one that was never declared gets a name for the whole text. */
  String of(Object node, String name) {
    String known = names.get(node);
    if (known == null) {
      known = unused(name);
      names.put(node, known);
    }
    return known;
  }

  private String unused(String name) {
    String written = Names.written(name);
    for (int n = 1; !visible.add(written); n++) {
      written = Names.written(name + "_" + n);
    }
    return written;
  }
}
