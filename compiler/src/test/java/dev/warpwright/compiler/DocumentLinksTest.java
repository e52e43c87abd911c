package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a document of the repository links is there. */
final class DocumentLinksTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s#]+)(?:#[^)]*)?\\)");
  private static final List<String> PLACES = List.of("docs", "models", "kernels", "bench");

  @Test
  void everyRelativeLinkLeadsSomewhere() throws IOException {
    List<Path> documents = new ArrayList<>();
    try (Stream<Path> files = Files.list(ROOT)) {
      files.filter(file -> file.toString().endsWith(".md")).forEach(documents::add);
    }
    for (String place : PLACES) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(place))) {
        files.filter(file -> file.toString().endsWith(".md")).forEach(documents::add);
      }
    }
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path document : documents) {
      Matcher link = LINK.matcher(Files.readString(document));
      while (link.find()) {
        String to = link.group(1);
        if (to.contains("://") || to.startsWith("mailto:")) {
          continue;
        }
        links++;
        String file = URLDecoder.decode(to, StandardCharsets.UTF_8);
        if (!Files.exists(Objects.requireNonNull(document.getParent()).resolve(file))) {
          broken.add(ROOT.relativize(document) + ": " + to);
        }
      }
    }
    assertThat(links).isGreaterThan(100);
    assertThat(broken).isEmpty();
  }
}
