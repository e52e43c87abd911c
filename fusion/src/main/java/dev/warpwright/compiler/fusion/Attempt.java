package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledProgram;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What came of applying a rule.
 *
 * @param program null if it turned out not to fit
 * @param why it fits, or what does not
 * @param name of the {@link Alternative} that it is; empty if it is none
 */
record Attempt(@Nullable CompiledProgram program, String why, String name) {
  static Attempt refused(String why) {
    return new Attempt(null, why, "");
  }

  Optional<CompiledProgram> made() {
    return Optional.ofNullable(program);
  }
}
