package dev.warpwright.model.io;

import java.lang.foreign.MemorySegment;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Text in files. */
public final class Utf8 {
  private Utf8() {}

  /** The text of UTF-8 bytes, or null if they are none; nothing is replaced silently. */
  public static @Nullable String decode(MemorySegment bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.asByteBuffer()).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
