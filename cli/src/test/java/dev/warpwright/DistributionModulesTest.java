package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The Java that {@code bin/dist} links is made of the modules that {@code bin/java-modules} lists
 * and of those which they require: of what the distribution's jars require, optional or not, for
 * they are on a class path there.
 */
final class DistributionModulesTest {
  /** What of this class path is in the distribution, too. */
  private static final Pattern SHIPPED =
      Pattern.compile(
          ".*/(build/classes|(warpwright|picocli|slf4j-nop|slf4j-api|sqlite-jdbc)-[^/]*(?<!-tests)\\.jar)");

  /** SQLite's driver requires it and uses no class of it. */
  private static final Set<String> UNUSED = Set.of("java.sql.rowset");

  @Test
  void theDistributionsJavaHasWhatItsJarsRequire() throws IOException {
    Path[] shipped =
        Pattern.compile(File.pathSeparator)
            .splitAsStream(System.getProperty("java.class.path"))
            .filter(entry -> SHIPPED.matcher(entry).matches())
            .map(Path::of)
            .toArray(Path[]::new);
    Set<String> modules = new TreeSet<>();
    Set<String> required = new TreeSet<>();
    for (ModuleReference module : ModuleFinder.of(shipped).findAll()) {
      modules.add(module.descriptor().name());
      module.descriptor().requires().stream()
          .map(Requires::name)
          .filter(name -> ModuleFinder.ofSystem().find(name).isPresent())
          .forEach(required::add);
    }
    assertThat(modules)
        .hasSizeGreaterThan(25)
        .contains("dev.warpwright.cli", "org.xerial.sqlitejdbc", "info.picocli", "org.slf4j.nop");
    required.removeAll(UNUSED);
    required.remove("java.base");
    assertThat(Files.readAllLines(Path.of("..", "bin", "java-modules")))
        .contains("java.sql")
        .containsExactlyElementsOf(required);
  }
}
