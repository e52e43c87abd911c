package dev.warpwright.cuda;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** What tells one kernel's CUDA C++ from another's: tuning records name the source they are of. */
public final class SourceHash {
  private SourceHash() {}

  /** Digits that tell kernels apart; records that come along have no more. */
  private static final int LEAST_DIGITS = 16;

  /**
   * {@return whether a record's hash is that of a source, whole or its first 16 digits or more}
   *
   * @param recorded what the record says
   * @param hash {@link #of} the source
   */
  public static boolean isOf(String recorded, String hash) {
    return recorded.length() >= LEAST_DIGITS && hash.startsWith(recorded);
  }

  /**
   * {@return SHA-256 of the source in UTF-8, as 64 hexadecimal digits}
   *
   * @param source any text
   */
  public static String of(String source) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(source.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
