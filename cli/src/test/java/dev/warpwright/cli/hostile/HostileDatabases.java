package dev.warpwright.cli.hostile;

import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Tuning databases with rows and schemas of others, records and tasks as text. */
final class HostileDatabases implements Hostile {
  private static final String RECORD =
      "{\"workload\":\"gemm a=bf16 c=bf16 epilogue=none k=4096 layout=nt m=4096 n=4096 sums=f32\","
          + "\"target\":\"sm_90a\",\"device\":\"NVIDIA H200\",\"driver\":\"13.0\","
          + "\"toolkit\":\"nvrtc 13.0\",\"generator\":\"0.1.0\",\"point\":\"sketch=wgmma"
          + " tileM=128 tileN=256 tileK=64 stages=4 cluster=2x1 order=grouped:8"
          + " division=whole\",\"source\":\"00\",\"outcome\":\"ok\",\"message\":null,"
          + "\"time_us\":180.5,\"spread\":0.01,\"error\":0.001,\"clock_mhz\":1980,"
          + "\"temperature\":45,\"at\":\"2026-11-20T12:00:00Z\"}";

  @Override
  public List<String> prepare(Random random, Path folder) throws IOException {
    Path database = folder.resolve("t.db");
    int kind = random.nextInt(6);
    if (kind < 4) {
      make(random, database);
    }
    String db = "--db=" + database;
    Path lines = folder.resolve("r.jsonl");
    return switch (random.nextInt(9)) {
      case 0 -> List.of("db", "list", db);
      case 1 -> List.of("db", "prune", db, "--keep=" + Odd.number(random));
      case 2 -> List.of("db", "export", folder + "/out.jsonl", db);
      case 3, 4 -> {
        Files.writeString(lines, records(random));
        yield List.of("db", "import", lines.toString(), db);
      }
      case 5 -> {
        Path other = folder.resolve("other.db");
        make(random, other);
        yield List.of("db", "merge", other.toString(), db);
      }
      case 6 -> {
        String tasks = "gemm MNK=4096 dtype=bf16 t=4\n# no\ngemm MN=1024 K=2048\n";
        Files.writeString(lines, TextMutator.mutate(random, tasks, false));
        yield List.of(Odd.of(random, List.of("tune", "perf")), "--file=" + lines, db);
      }
      case 7 -> List.of("db", "list", db, "--json");
      default -> {
        List<String> tune = new ArrayList<>(List.of("gemm", "MNK=4096", "dtype=bf16", "t=1"));
        tune.add(Odd.of(random, List.of("lda=", "batch=", "O=", "search=")) + Odd.word(random));
        tune.set(1, "MNK=" + Odd.number(random));
        tune.add(0, Odd.of(random, List.of("tune", "perf")));
        tune.add(db);
        // In the background it would outlive the test.
        tune.removeIf(arg -> arg.startsWith("O="));
        yield tune;
      }
    };
  }

  private static String records(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(4); i >= 0; i--) {
      Json json = JsonMutator.mutate(random, JsonParser.parse("record", RECORD));
      String line = random.nextInt(3) == 0 ? RECORD : json.write();
      text.append(random.nextInt(5) == 0 ? TextMutator.mutate(random, line, false) : line);
      text.append('\n');
    }
    return text.toString();
  }

  private static void make(Random random, Path file) throws IOException {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      String schema =
          "CREATE TABLE record (id INTEGER PRIMARY KEY, workload TEXT NOT NULL, target TEXT NOT"
              + " NULL, device TEXT NOT NULL, driver TEXT NOT NULL, toolkit TEXT NOT NULL,"
              + " generator TEXT NOT NULL, point TEXT NOT NULL, source TEXT NOT NULL, outcome TEXT"
              + " NOT NULL, message TEXT, time_us REAL, spread REAL, error REAL, clock_mhz"
              + " INTEGER, temperature INTEGER, at TEXT NOT NULL, UNIQUE (workload, target,"
              + " device, driver, toolkit, generator, point, outcome, at))";
      statement.execute(
          random.nextInt(3) == 0 ? TextMutator.mutate(random, schema, false) : schema);
      statement.execute("PRAGMA user_version = " + (random.nextInt(6) == 0 ? 7 : 1));
      for (int i = random.nextInt(4); i >= 0; i--) {
        insert(random, connection.prepareStatement(INSERT));
      }
    } catch (SQLException e) {
      // What SQLite itself refuses is hostile enough as far as it went.
    }
    if (random.nextInt(6) == 0 && Files.exists(file)) {
      byte[] bytes = Files.readAllBytes(file);
      for (int i = 0; i < 8 && bytes.length > 0; i++) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      Files.write(file, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)));
    }
  }

  private static final String INSERT =
      "INSERT OR IGNORE INTO record (workload, target, device, driver, toolkit, generator, point,"
          + " source, outcome, message, time_us, spread, error, clock_mhz, temperature, at) VALUES"
          + " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

  private static void insert(Random random, PreparedStatement statement) throws SQLException {
    Json.Members record = (Json.Members) JsonParser.parse("record", RECORD);
    int column = 1;
    int changed = 1 + random.nextInt(17);
    for (Json value : record.members().values()) {
      switch (value) {
        case Json.Text text ->
            statement.setString(
                column,
                column != changed
                    ? text.value()
                    : random.nextBoolean()
                        ? Odd.word(random)
                        : TextMutator.mutate(random, text.value(), false));
        case Json.Number number -> {
          if (column == changed) {
            statement.setObject(
                column, Odd.of(random, List.of("x", -1.0, 1e308, Long.MAX_VALUE, "")));
          } else {
            statement.setDouble(column, Double.parseDouble(number.written()));
          }
        }
        case Json.Array array -> throw new IllegalStateException();
        case Json.Members object -> throw new IllegalStateException();
        case Json.Bool bool -> throw new IllegalStateException();
        case Json.Null none -> statement.setString(column, null);
      }
      column++;
    }
    statement.execute();
    statement.close();
  }
}
