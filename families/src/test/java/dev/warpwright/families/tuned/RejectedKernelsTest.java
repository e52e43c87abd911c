package dev.warpwright.families.tuned;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RejectedKernelsTest {
  private static final Outcome.Failed WRONG =
      new Outcome.Failed(FailureReason.WRONG, "row 3 is wrong\nand more");

  @TempDir private Path folder;

  @Test
  void aRejectionIsForOneSourceAndOneJudge() {
    RejectedKernels kernels = new RejectedKernels(folder.resolve("rejected"));
    assertThat(kernels.find("hash", "compiler")).isEmpty();
    kernels.add("hash", "compiler", WRONG, "gemm");
    assertThat(new RejectedKernels(folder.resolve("rejected")).find("hash", "compiler"))
        .contains(new Outcome.Failed(FailureReason.WRONG, "row 3 is wrong"));
    assertThat(kernels.find("hash", "compiler on another device")).isEmpty();
    assertThat(kernels.find("other", "compiler")).isEmpty();
  }

  @Test
  void whatIsNoRejectionIsTriedAgain() throws IOException {
    RejectedKernels kernels = new RejectedKernels(folder);
    kernels.add("hash", "compiler", WRONG, "gemm");
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.write(file, new byte[] {(byte) 0xff, 0, 10});
      }
    }
    assertThat(kernels.find("hash", "compiler")).isEmpty();
    Path file = Files.writeString(folder.resolve("file"), "no folder");
    RejectedKernels nowhere = new RejectedKernels(file);
    nowhere.add("hash", "compiler", WRONG, "gemm");
    assertThat(nowhere.find("hash", "compiler")).isEmpty();
  }
}
