package dev.warpwright.base;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Which of the known words a misspelt one was meant to be. */
public final class Spelling {
  private Spelling() {}

  /**
   * {@return the known word that few letters more, fewer, other or swapped make of a given one, or
   * null; the nearest, of equally near ones the first. Letters of either case are the same}
   *
   * @param given a word that is not among the known ones
   * @param known all that there are
   */
  public static @Nullable String nearest(String given, Collection<String> known) {
    return known.stream()
        .filter(word -> isNear(given, word))
        .min(Comparator.comparingInt(word -> distance(lower(given), lower(word))))
        .orElse(null);
  }

  /**
   * {@return "is 'dtype' meant? ", for a message, or nothing if no known word is near}
   *
   * @param given a word that is not among the known ones
   * @param known all that there are
   */
  public static String meant(String given, Collection<String> known) {
    String word = nearest(given, known);
    return word == null ? "" : "is " + Names.quote(word) + " meant? ";
  }

  /**
   * One slip in words of three letters on; two in words of six on, and of four on where neither the
   * length nor the first letter is another; none in shorter ones.
   */
  private static boolean isNear(String given, String known) {
    boolean alike =
        given.length() == known.length()
            && known.length() >= 4
            && lower(given).charAt(0) == lower(known).charAt(0);
    int slips = known.length() < 3 ? 0 : known.length() >= 6 || alike ? 2 : 1;
    return Math.abs(given.length() - known.length()) <= 1
        && distance(lower(given), lower(known)) <= slips;
  }

  private static String lower(String word) {
    return word.toLowerCase(Locale.ROOT);
  }

  /** Letters to insert, drop, change or swap with the next: the optimal string alignment. */
  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    Arrays.setAll(d[0], j -> j);
    for (int i = 1; i <= a.length(); i++) {
      d[i][0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int other = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(d[i - 1][j - 1] + other, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        if (swapped) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
