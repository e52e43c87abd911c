package dev.warpwright.compiler;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program of the tutorial compiles and runs; its commands are run by the command line's test.
 */
class TutorialTest {
  @TempDir Path folder;

  @Test
  void theProgramRuns() throws Exception {
    String program = DocumentExample.of(Path.of("..", "docs", "tutorial.md"));
    DocumentExample.run(folder, "Tutorial", program, "main", (Object) new String[0]);
  }
}
