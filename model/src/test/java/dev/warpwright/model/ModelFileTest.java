package dev.warpwright.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is no ONNX file is recognised by its content. */
class ModelFileTest {
  @TempDir Path folder;

  @Test
  void saysWhatAFileIsInstead() throws IOException {
    assertRefused("PK\u0003\u0004abcdefgh", "truncated or corrupt ZIP archive");
    assertRefused("\u0080\u0002}q\u0000.", "is a pickle, not a PyTorch archive");
    assertRefused("@\u0000\u0000\u0000\u0000\u0000\u0000\u0000{\"a\":", "truncated safetensors");
    assertRefused("\u0093NUMPY\u0001\u0000", "is a NumPy array, not a model");
    assertRefused("{\"a\": 1}", "is no model; known are ONNX (.onnx), exported programs");
    assertRefused("# Title\n\nA text, and more of it.\n", "is no model; known are ONNX (.onnx)");
    assertRefused("version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS");
    assertRefused("", "the file is empty");
    assertRefused("\u0000\u0000\u0000\u0000", "corrupt ONNX at byte 1");
    assertRefused("\u0008", "truncated ONNX");
  }

  @Test
  void saysThatThereIsNoFile() {
    Path missing = folder.resolve("no\nne.onnx");
    assertThatThrownBy(() -> ModelFile.load(missing))
        .isInstanceOf(UserError.class)
        .hasMessageEndingWith("/no\\nne.onnx: no such file");
  }

  /** A file of more than 8 MiB is mapped. */
  @Test
  void loadsLargeFiles() throws IOException {
    byte[] small = Files.readAllBytes(Repository.model("digits-relu-128-64").resolve("model.onnx"));
    byte[] documentation = new byte[9 << 20];
    Path file = folder.resolve("large.onnx");
    try (var out = Files.newOutputStream(file)) {
      out.write(small);
      // a field that is skipped: 6 (documentation), its length as a varint
      out.write(6 << 3 | 2);
      int length = documentation.length;
      while (length > 0x7F) {
        out.write(length & 0x7F | 0x80);
        length >>>= 7;
      }
      out.write(length);
      out.write(documentation);
    }
    assertThat(ModelFile.load(file).nodes()).hasSize(5);
  }

  private void assertRefused(String content, String message) throws IOException {
    Path file = folder.resolve("model.onnx");
    Files.write(file, content.getBytes(StandardCharsets.ISO_8859_1));
    assertThatThrownBy(() -> ModelFile.load(file))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("model.onnx: ")
        .hasMessageContaining(message)
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }
}
