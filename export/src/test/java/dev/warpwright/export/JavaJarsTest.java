package dev.warpwright.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What exported classes are said to need is what the runtime requires. */
final class JavaJarsTest {
  private static final String OURS = "dev.warpwright.";

  @Test
  void theRuntimeAndWhatItRequires() throws IOException {
    Set<String> required = new TreeSet<>();
    try (Stream<Path> modules = Files.list(Path.of(".."))) {
      Path[] classes =
          modules
              .map(module -> module.resolve("build").resolve("classes"))
              .filter(folder -> Files.exists(folder.resolve("module-info.class")))
              .toArray(Path[]::new);
      add(OURS + "runtime", ModuleFinder.of(classes), required);
    }
    Set<String> said =
        Arrays.stream(CudaExport.JARS.replace("warpwright", "").split(", | and "))
            .map(jar -> OURS + jar.substring(1))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(said).isEqualTo(required).hasSizeGreaterThan(4);
  }

  private static void add(String module, ModuleFinder finder, Set<String> to) {
    if (to.add(module)) {
      ModuleDescriptor descriptor = finder.find(module).orElseThrow().descriptor();
      descriptor.requires().stream()
          .filter(required -> required.name().startsWith(OURS))
          .filter(required -> !required.modifiers().contains(Requires.Modifier.STATIC))
          .forEach(required -> add(required.name(), finder, to));
    }
  }
}
