package dev.warpwright.workload;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Where the keys and values of an attention's entries lie: how many each entry has and, of a paged
 * cache, in which pages.
 *
 * @param attention whose entries they are
 * @param lengths keys of each entry
 * @param table row-major {@code [batch, pagesEach]}; empty of a contiguous cache
 */
public record AttentionCache(Attention attention, int[] lengths, int[] table) {
  /** What the table says behind an entry's keys: no page that there is. */
  public static final int NO_PAGE = -7;

  /** Checks that lengths and table are of this attention. */
  public AttentionCache {
    if (lengths.length != attention.batch()
        || Arrays.stream(lengths).anyMatch(n -> n < 0 || n > attention.keys())) {
      throw new IllegalArgumentException(
          Arrays.toString(lengths)
              + " are no "
              + attention.batch()
              + " lengths from 0 to "
              + attention.keys());
    }
    int pages = attention.isPaged() ? attention.batch() * attention.pagesEach() : 0;
    if (table.length != pages) {
      throw new IllegalArgumentException(
          "a table of " + table.length + " pages, " + pages + " are needed");
    }
  }

  /**
   * {@return entries of these lengths, their pages anywhere}
   *
   * @param attention whose entries they are
   * @param lengths keys of each entry, 0 to the attention's
   * @param seed of where pages lie; unused of a contiguous cache
   */
  public static AttentionCache of(Attention attention, int[] lengths, long seed) {
    if (!attention.isPaged()) {
      return new AttentionCache(attention, lengths, new int[0]);
    }
    SplittableRandom random = new SplittableRandom(seed);
    int each = attention.pagesEach();
    int[] table = new int[attention.batch() * each];
    Arrays.setAll(table, i -> i);
    for (int i = table.length - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int swap = table[i];
      table[i] = table[j];
      table[j] = swap;
    }
    for (int i = 0; i < table.length; i++) {
      if (i % each * attention.page() >= lengths[i / each]) {
        table[i] = NO_PAGE;
      }
    }
    return new AttentionCache(attention, lengths, table);
  }

  /**
   * {@return entries that all have all keys}
   *
   * @param attention whose entries they are
   * @param seed of pages
   */
  public static AttentionCache full(Attention attention, long seed) {
    int[] lengths = new int[attention.batch()];
    Arrays.fill(lengths, attention.keys());
    return of(attention, lengths, seed);
  }

  /**
   * {@return ragged entries: the first one is full, the others have any length that holds the
   * tokens}
   *
   * @param attention whose entries they are
   * @param seed of lengths and pages
   */
  public static AttentionCache random(Attention attention, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int least = Math.min(attention.tokens(), attention.keys());
    int[] lengths = new int[attention.batch()];
    Arrays.setAll(
        lengths, i -> i == 0 ? attention.keys() : random.nextInt(least, attention.keys() + 1));
    return of(attention, lengths, seed);
  }

  /**
   * {@return in which row of K and V, of all slabs, a key is}
   *
   * @param head of all entries' K/V heads
   * @param key of the head's entry
   */
  public int row(int head, int key) {
    if (!attention.isPaged()) {
      return head * attention.keys() + key;
    }
    int entry = head / attention.kvHeads();
    int page = table[entry * attention.pagesEach() + key / attention.page()];
    int slab = page * attention.kvHeads() + head % attention.kvHeads();
    return slab * attention.page() + key % attention.page();
  }

  /**
   * {@return of each row of K and V, of all slabs, whether it is a key's; the others may hold
   * anything}
   */
  public boolean[] used() {
    boolean[] used = new boolean[attention.slabs() * attention.slabKeys()];
    for (int head = 0; head < attention.heads(); head++) {
      for (int key = 0; key < lengths[head / attention.kvHeads()]; key++) {
        used[row(head, key)] = true;
      }
    }
    return used;
  }
}
