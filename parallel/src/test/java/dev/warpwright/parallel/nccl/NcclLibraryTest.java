package dev.warpwright.parallel.nccl;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.target.host.HostEnvironment;
import dev.warpwright.target.host.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NcclLibraryTest {
  @TempDir static Path folder;
  private static Path file;

  @BeforeAll
  static void compile() throws Exception {
    file = FakeNccl.compile(folder);
  }

  private static NativeLibraries libraries(String variable, String value) {
    return new NativeLibraries(
        new HostEnvironment(Map.of(variable, value), folder.resolve("nothing")));
  }

  @Test
  void itIsFoundByNameOrInAPlaceOfLibraries() {
    assertThat(NcclLibrary.load(file.toString(), libraries("A", "")).version()).isEqualTo("2.27.3");
    assertThat(NcclLibrary.load(null, libraries("LD_LIBRARY_PATH", folder.toString())).version())
        .isEqualTo("2.27.3");
  }

  @Test
  void withoutItOneLineSaysSo() {
    assertThatThrownBy(() -> NcclLibrary.load(null, libraries("A", "")))
        .isInstanceOf(DeviceError.class)
        .hasMessageStartingWith("NCCL is not installed: no libnccl.so.2 in ")
        .hasMessageEndingWith("name it by WARPWRIGHT_NCCL");
    assertThatThrownBy(() -> NcclLibrary.load("/no/such.so", libraries("A", "")))
        .isInstanceOf(DeviceError.class)
        .hasMessage("WARPWRIGHT_NCCL=/no/such.so: there is no such file");
    assertThatThrownBy(
            () -> NcclLibrary.load(folder.resolve("nccl.c").toString(), libraries("A", "")))
        .isInstanceOf(DeviceError.class)
        .hasMessageStartingWith("NCCL cannot be loaded from ");
  }

  @Test
  void aGroupAddsTheBuffersOfAllDevices() {
    NcclLibrary library = NcclLibrary.load(file.toString(), libraries("A", ""));
    long[] communicators = library.communicators(new int[] {0, 1, 2});
    assertThat(communicators).hasSize(3).doesNotContain(0).doesNotHaveDuplicates();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment[] buffers = new MemorySegment[3];
      library.startGroup();
      for (int i = 0; i < 3; i++) {
        buffers[i] = arena.allocateFrom(JAVA_FLOAT, 1 + i, 10 * i, 5);
        library.allReduce(buffers[i].address(), 2, 7, communicators[i], 1);
      }
      library.endGroup();
      for (MemorySegment buffer : buffers) {
        assertThat(buffer.toArray(JAVA_FLOAT)).containsExactly(6, 30, 5);
      }
    }
    for (long communicator : communicators) {
      library.destroy(communicator);
    }
  }

  @Test
  void whatItRefusesIsTold() {
    NcclLibrary library = NcclLibrary.load(file.toString(), libraries("A", ""));
    assertThatThrownBy(() -> library.communicators(new int[] {1, 1}))
        .isInstanceOf(DeviceError.class)
        .hasMessage("ncclCommInitAll failed: invalid argument (4)");
    long[] one = library.communicators(new int[] {0});
    assertThatThrownBy(() -> library.allReduce(16, 2, 7, one[0], 1))
        .isInstanceOf(DeviceError.class)
        .hasMessage("ncclAllReduce failed: invalid argument (4)");
    library.destroy(one[0]);
  }
}
