package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.base.UserError;
import dev.warpwright.model.arch.Architecture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A file of weights that somebody cuts off after it was loaded, which large files are by being
 * mapped. In a process of its own: where Java did not catch the fault, it would end the test run.
 */
final class TruncatedModelTest {
  private static final int WIDTH = 1600;

  @TempDir Path folder;

  @Test
  void isOneUserError() throws Exception {
    Path file = weights();
    Path said = folder.resolve("said");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--add-modules=jdk.incubator.vector",
                "-cp",
                System.getProperty("java.class.path"),
                Child.class.getName(),
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(Files.readString(said).lines().filter(l -> !l.contains("incubator")))
        .containsExactly(
            "UserError: a file of the model was cut off or its disk failed while it was read; load"
                + " it again");
  }

  /** One layer of zeros, large enough to be mapped. */
  private Path weights() throws Exception {
    long bytes = 4L * WIDTH * WIDTH;
    String header =
        "{\"0.weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[0,%d]},"
            + "\"0.bias\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[%d,%d]}}";
    byte[] text =
        String.format(Locale.ROOT, header, WIDTH, WIDTH, bytes, WIDTH, bytes, bytes + 4 * WIDTH)
            .getBytes(StandardCharsets.US_ASCII);
    ByteBuffer head = ByteBuffer.allocate(8 + text.length).order(ByteOrder.LITTLE_ENDIAN);
    head.putLong(text.length).put(text).flip();
    Path file = folder.resolve("w.safetensors");
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      out.write(head);
      out.write(ByteBuffer.allocate(1), 8 + text.length + bytes + 4 * WIDTH - 1);
    }
    return file;
  }

  /** Loads the file, cuts it off and runs the model. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) throws Exception {
      Path file = Path.of(args[0]);
      Model model =
          Warpwright.load(file, new Architecture.Mlp(List.of(WIDTH, WIDTH), List.of("relu")));
      try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
        open.truncate(4096);
      }
      try (CpuDevice device = new CpuDevice();
          CompiledModel compiled = model.compile(device)) {
        compiled.run(new float[WIDTH]);
        System.out.println("no error");
      } catch (UserError e) {
        System.out.println("UserError: " + e.getMessage());
      }
    }
  }
}
