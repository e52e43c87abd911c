package dev.warpwright.cli.hostile;

import dev.warpwright.base.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Changes JSON documents so that they stay JSON. */
final class JsonMutator {
  private final Random random;

  /** How many values are still passed before one is changed. */
  private int left;

  private JsonMutator(Random random, int left) {
    this.random = random;
    this.left = left;
  }

  /** A document with one to three values changed. */
  static Json mutate(Random random, Json json) {
    Json result = json;
    for (int i = random.nextInt(3); i >= 0; i--) {
      result = new JsonMutator(random, random.nextInt(values(result))).visit(result);
    }
    return result;
  }

  private static int values(Json json) {
    return switch (json) {
      case Json.Array array -> 1 + array.items().stream().mapToInt(JsonMutator::values).sum();
      case Json.Members object ->
          1 + object.members().values().stream().mapToInt(JsonMutator::values).sum();
      case Json.Text text -> 1;
      case Json.Number number -> 1;
      case Json.Bool bool -> 1;
      case Json.Null none -> 1;
    };
  }

  private Json visit(Json json) {
    if (left-- == 0) {
      return changed(json);
    }
    return switch (json) {
      case Json.Array array -> new Json.Array(array.items().stream().map(this::visit).toList());
      case Json.Members object -> {
        Map<String, Json> members = new LinkedHashMap<>();
        object.members().forEach((name, value) -> members.put(name, visit(value)));
        yield new Json.Members(members);
      }
      case Json.Text text -> text;
      case Json.Number number -> number;
      case Json.Bool bool -> bool;
      case Json.Null none -> none;
    };
  }

  private Json changed(Json json) {
    if (random.nextInt(4) == 0) {
      return any();
    }
    return switch (json) {
      case Json.Array array -> items(array);
      case Json.Members object -> members(object);
      case Json.Number number -> Json.of(Odd.number(random));
      case Json.Text text ->
          Json.of(
              random.nextBoolean()
                  ? Odd.word(random)
                  : TextMutator.mutate(random, text.value(), false));
      case Json.Bool bool -> Json.of(!bool.value());
      case Json.Null none -> any();
    };
  }

  private Json items(Json.Array array) {
    List<Json> items = new ArrayList<>(array.items());
    if (items.isEmpty() || random.nextInt(3) == 0) {
      items.add(any());
    } else if (random.nextBoolean()) {
      items.remove(random.nextInt(items.size()));
    } else {
      items.add(random.nextInt(items.size()), Odd.of(random, array.items()));
    }
    return new Json.Array(items);
  }

  private Json members(Json.Members object) {
    List<Map.Entry<String, Json>> entries = new ArrayList<>(object.members().entrySet());
    Map<String, Json> members = new LinkedHashMap<>(object.members());
    if (entries.isEmpty() || random.nextInt(4) == 0) {
      members.put(Odd.word(random), any());
      return new Json.Members(members);
    }
    Map.Entry<String, Json> entry = Odd.of(random, entries);
    Map.Entry<String, Json> other = Odd.of(random, entries);
    switch (random.nextInt(3)) {
      case 0 -> members.remove(entry.getKey());
      case 1 -> members.put(entry.getKey(), other.getValue());
      default -> {
        members.remove(entry.getKey());
        members.put(entry.getKey() + Odd.word(random), entry.getValue());
      }
    }
    return new Json.Members(members);
  }

  private Json any() {
    return switch (random.nextInt(7)) {
      case 0 -> new Json.Null();
      case 1 -> Json.of(random.nextBoolean());
      case 2 -> Json.of(Odd.word(random));
      case 3 -> new Json.Number(Odd.of(random, List.of("1e400", "-0.0", "0.1", "1e-400")));
      case 4 -> new Json.Array(List.of(Json.of(Odd.number(random))));
      case 5 -> Json.object();
      default -> Json.of(Odd.number(random));
    };
  }
}
