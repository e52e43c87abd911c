package dev.warpwright.sim.counter;

import java.util.Arrays;
import java.util.Locale;

/**
 * A set-associative cache of lines that are filled by sectors, as the first and second level of
 * NVIDIA's GPUs: least recently used line of a set goes first; writes allocate and, when they cover
 * their sectors, fetch nothing; dirty sectors are written back when their line goes and by {@link
 * #flush}. A line is named by its number, address divided by the size of a line. Not for several
 * threads at once.
 */
public final class SectoredCache {
  /**
   * Sizes of a cache.
   *
   * @param bytes in all, a multiple of {@code lineBytes · ways}
   * @param lineBytes of a line, at most 32 sectors
   * @param spread whether all bits of a line's number decide its set; otherwise neighbours lie in
   *     neighbouring sets
   * @param secondChance whether a line that was found again, though for other sectors, is passed
   *     over once when it is the least recently used
   */
  public record Geometry(
      long bytes, int lineBytes, int sectorBytes, int ways, boolean spread, boolean secondChance) {
    public Geometry {
      if (bytes < 1
          || lineBytes < sectorBytes
          || lineBytes % sectorBytes != 0
          || lineBytes / sectorBytes > 32
          || ways < 1
          || bytes % ((long) lineBytes * ways) != 0) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "a cache of %d bytes with lines of %d, sectors of %d, %d ways",
                bytes,
                lineBytes,
                sectorBytes,
                ways));
      }
    }

    /** A cache whose lines are spread over its sets. */
    public Geometry(long bytes, int lineBytes, int sectorBytes, int ways) {
      this(bytes, lineBytes, sectorBytes, ways, true, false);
    }

    /** Lines of 128 bytes, sectors of 32, 16 ways: so is the second level of GPUs modelled. */
    public static Geometry gpu(long bytes) {
      return of(bytes, 16, true, false);
    }

    /**
     * The first level of GPUs: 4 ways, a line's number modulo the number of sets, which is no power
     * of two where shared memory takes a part, and a second chance. Of 256 kB that are read again
     * and again, a third is found in 224 kB of an H200, of 320 kB nothing; but lines that each
     * round looks up twice stay, whatever else passes through.
     */
    public static Geometry firstLevel(long bytes) {
      return of(bytes, 4, false, true);
    }

    private static Geometry of(long bytes, int ways, boolean spread, boolean secondChance) {
      long set = 128L * ways;
      return new Geometry(Math.max(set, bytes / set * set), 128, 32, ways, spread, secondChance);
    }

    private int sets() {
      return Math.toIntExact(bytes / ((long) lineBytes * ways));
    }
  }

  /**
   * Sectors since the start.
   *
   * @param readHits sectors that were read and found
   * @param readMisses sectors that were read and fetched from the next level
   * @param writeHits sectors that were written and present
   * @param writeMisses sectors that were written and not present
   * @param fills sectors fetched from the next level
   * @param writeBacks dirty sectors that were written to the next level
   */
  public record Counts(
      long readHits,
      long readMisses,
      long writeHits,
      long writeMisses,
      long fills,
      long writeBacks) {}

  private final Geometry geometry;
  private final int sets;
  private final int ways;
  private final long[] lines;
  private final int[] valid;
  private final int[] dirty;
  private final long[] used;
  private final boolean[] foundAgain;
  private long clock;
  private long readHits;
  private long readMisses;
  private long writeHits;
  private long writeMisses;
  private long fills;
  private long writeBacks;

  public SectoredCache(Geometry geometry) {
    this.geometry = geometry;
    this.sets = geometry.sets();
    this.ways = geometry.ways();
    this.lines = new long[sets * ways];
    Arrays.fill(lines, -1);
    this.valid = new int[sets * ways];
    this.dirty = new int[sets * ways];
    this.used = new long[sets * ways];
    this.foundAgain = new boolean[sets * ways];
  }

  /**
   * Reads sectors of a line.
   *
   * @param sectors a mask, lowest bit for the first sector
   * @return the sectors that were not there, which the next level has to give
   */
  public int read(long line, int sectors) {
    int at = find(line);
    int missing = sectors & ~valid[at];
    valid[at] |= sectors;
    int misses = Integer.bitCount(missing);
    readMisses += misses;
    fills += misses;
    readHits += Integer.bitCount(sectors) - misses;
    return missing;
  }

  /**
   * Writes sectors of a line.
   *
   * @param partial those sectors that are not written in full, which must be fetched first
   * @return the sectors that the next level has to give
   */
  public int write(long line, int sectors, int partial) {
    int at = find(line);
    int present = Integer.bitCount(sectors & valid[at]);
    int missing = partial & sectors & ~valid[at];
    writeHits += present;
    writeMisses += Integer.bitCount(sectors) - present;
    fills += Integer.bitCount(missing);
    valid[at] |= sectors;
    dirty[at] |= sectors;
    return missing;
  }

  /** Forgets sectors of a line without writing them back. */
  public void invalidate(long line) {
    int set = set(line);
    for (int at = set * ways; at < (set + 1) * ways; at++) {
      if (lines[at] == line) {
        lines[at] = -1;
        valid[at] = 0;
        dirty[at] = 0;
      }
    }
  }

  /** Writes all dirty sectors back; what is in the cache stays. */
  public void flush() {
    for (int at = 0; at < dirty.length; at++) {
      writeBacks += Integer.bitCount(dirty[at]);
      dirty[at] = 0;
    }
  }

  public Counts counts() {
    return new Counts(readHits, readMisses, writeHits, writeMisses, fills, writeBacks);
  }

  private int set(long line) {
    if (!geometry.spread()) {
      return (int) Long.remainderUnsigned(line, sets);
    }
    long hash = line * 0x9E37_79B9_7F4A_7C15L;
    return (int) Long.remainderUnsigned(hash ^ (hash >>> 32), sets);
  }

  /** Where the line is, after making room for it. */
  private int find(long line) {
    int first = set(line) * ways;
    for (int at = first; at < first + ways; at++) {
      if (lines[at] == line) {
        used[at] = ++clock;
        foundAgain[at] = geometry.secondChance();
        return at;
      }
    }
    int at = victim(first);
    writeBacks += Integer.bitCount(dirty[at]);
    lines[at] = line;
    valid[at] = 0;
    dirty[at] = 0;
    used[at] = ++clock;
    foundAgain[at] = false;
    return at;
  }

  /** A free place of the set that begins there, or that of the line that goes. */
  private int victim(int first) {
    while (true) {
      int oldest = first;
      for (int at = first; at < first + ways; at++) {
        if (lines[at] == -1) {
          return at;
        }
        if (used[at] < used[oldest]) {
          oldest = at;
        }
      }
      if (!foundAgain[oldest]) {
        return oldest;
      }
      foundAgain[oldest] = false;
      used[oldest] = ++clock;
    }
  }
}
