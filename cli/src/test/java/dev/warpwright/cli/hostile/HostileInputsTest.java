package dev.warpwright.cli.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A few hostile inputs of each kind; {@code bench/hostile.sh} makes up as many as there is time.
 */
final class HostileInputsTest {
  private static final int INPUTS = 15;
  private static final int CHILDREN = 3;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(HostileKind.class)
  void keepTheContract(HostileKind kind) throws Exception {
    Contract contract = new Contract(folder, Path.of("").toAbsolutePath());
    // Each of the last kind starts a Java of its own.
    int inputs = kind == HostileKind.SURROUNDINGS ? CHILDREN : INPUTS;
    for (long seed = 1; seed <= inputs; seed++) {
      HostileRun.empty(folder);
      List<String> args = kind.hostile.prepare(new Random(HostileRun.mixed(seed)), folder);
      assertThat(kind.hostile.broken(contract, args, folder))
          .as("%s, seed %d: %s", kind, seed, args)
          .isNull();
    }
  }
}
