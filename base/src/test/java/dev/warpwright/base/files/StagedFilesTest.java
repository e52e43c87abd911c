package dev.warpwright.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StagedFilesTest {
  @TempDir Path folder;

  @Test
  void aFailureMidwayLeavesNoneNew() throws IOException {
    Path first = Files.writeString(folder.resolve("first"), "old");
    Map<Path, StagedFiles.Content> files = new LinkedHashMap<>();
    files.put(first, out -> out.write("new".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    files.put(
        folder.resolve("second"),
        out -> {
          out.write(new byte[100_000]);
          throw new IOException("No space left on device");
        });
    assertThatThrownBy(() -> StagedFiles.writeAll(files)).hasMessage("No space left on device");
    assertThat(first).hasContent("old");
    try (Stream<Path> all = Files.list(folder)) {
      assertThat(all).containsExactly(first);
    }
  }
}
