package dev.warpwright.sim.counter;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.sim.finding.Source;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Counts the requests of one launch, and passes those to global memory through the caches. */
public final class Counting {
  /** Kinds of requests. */
  public enum Kind {
    SHARED_LOAD("shared load"),
    SHARED_STORE("shared store"),
    MATRIX_LOAD("matrix load"),
    MATRIX_STORE("matrix store"),
    GLOBAL_LOAD("global load"),
    GLOBAL_STORE("global store"),
    ASYNC_LOAD("asynchronous load"),
    /** What an asynchronous load writes. */
    ASYNC_STORE("asynchronous store");

    final String text;

    Kind(String text) {
      this.text = text;
    }

    boolean isShared() {
      return this == SHARED_LOAD
          || this == SHARED_STORE
          || this == MATRIX_LOAD
          || this == MATRIX_STORE
          || this == ASYNC_STORE;
    }
  }

  /** Where a statement accesses a buffer. */
  public record Site(Stmt where, Kind kind, int slot) {}

  private static final int SECTOR = 32;
  private static final int LINE = 128;
  private static final int BANKS = 32;
  private static final int WIDEST = 16;

  private static final class Tally {
    private long count;
    private long units;
    private long least;

    KernelCounters.Requests requests() {
      return new KernelCounters.Requests(count, units, least);
    }
  }

  private record Place(Stmt where, Kind kind) {}

  private final Map<Kind, Tally> kinds = new EnumMap<>(Kind.class);
  private final Map<Stmt, Map<Kind, Tally>> statements = new IdentityHashMap<>();
  private final List<Place> order = new ArrayList<>();
  private final Map<Integer, Long> bases = new HashMap<>();
  private final KernelCounters.Caches caches;
  private final SectoredCache[] l1;
  private final SectoredCache l2;
  private final Map<Integer, Integer> sharedBases;

  /** Lanes that the last copy of a statement wrote one by one. */
  private final Map<Stmt, Integer> alone = new IdentityHashMap<>();

  private long nextBase;
  private long bulkLoads;
  private long bulkStores;
  private long multicasts;
  private long l2Reads;
  private long l2Writes;
  private long multiplyAdds;
  private long matrixMultiplyAdds;

  /**
   * Counts nothing yet.
   *
   * @param sharedBases where each shared buffer begins, in bytes, by slot
   */
  public Counting(KernelCounters.Caches caches, Map<Integer, Integer> sharedBases) {
    this.caches = caches;
    this.sharedBases = sharedBases;
    this.l1 = new SectoredCache[caches.sms()];
    this.l2 = new SectoredCache(SectoredCache.Geometry.gpu(caches.l2Bytes()));
    for (Kind kind : Kind.values()) {
      kinds.put(kind, new Tally());
    }
  }

  /** Where a global buffer lies in the device's memory, in bytes. */
  private long base(int slot, long bytes) {
    Long known = bases.get(slot);
    if (known == null) {
      known = nextBase;
      bases.put(slot, known);
      nextBase += Math.ceilDiv(bytes, 1 << 20) << 20;
    }
    return known;
  }

  public void multiplyAdds(long count) {
    multiplyAdds += count;
  }

  public void matrixMultiplyAdds(long count) {
    matrixMultiplyAdds += count;
  }

  /**
   * A request of a warp.
   *
   * @param addresses of the lanes, in bytes from the beginning of the buffer
   * @param lanes a mask of those that take part
   * @param bytes of each lane
   * @param storage size of the buffer
   */
  void request(Site site, long cluster, long[] addresses, int lanes, int bytes, long storage) {
    if (site.kind.isShared()) {
      for (int at = 0; at < bytes; at += WIDEST) {
        shared(site, addresses, lanes, Math.min(bytes - at, WIDEST), at);
      }
    } else {
      for (int at = 0; at < bytes; at += WIDEST) {
        global(site, cluster, addresses, lanes, Math.min(bytes - at, WIDEST), at, storage);
      }
    }
  }

  private void add(Site site, long units, long least) {
    Tally all = kinds.get(site.kind);
    Map<Kind, Tally> ofStatement =
        statements.computeIfAbsent(site.where, key -> new LinkedHashMap<>());
    Tally own = ofStatement.get(site.kind);
    if (own == null) {
      own = new Tally();
      ofStatement.put(site.kind, own);
      order.add(new Place(site.where, site.kind));
    }
    for (Tally tally : List.of(all == null ? new Tally() : all, own)) {
      tally.count++;
      tally.units += units;
      tally.least += least;
    }
  }

  /** Lanes go together as far as their bytes fill the 32 banks of four bytes. */
  private void shared(Site site, long[] addresses, int lanes, int bytes, int from) {
    int together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
    int wavefronts = 0;
    int least = 0;
    boolean copy = site.kind == Kind.ASYNC_STORE && bytes == WIDEST;
    int base = sharedBases.getOrDefault(site.slot, 0);
    int single = 0;
    for (int first = 0; first < 32; first += together) {
      int group = lanes >>> first & (int) ((1L << together) - 1);
      if (together < 32 && first % (2 * together) == 0) {
        int pair = lanes >>> first & (int) ((1L << 2 * together) - 1);
        if (pair != group
            && (repeats(addresses, first, pair, 1) || repeats(addresses, first, pair, 2))) {
          wavefronts += degree(addresses, first, pair, Math.max(bytes, 4) / 4, from);
          least++;
          first += together;
          continue;
        }
      }
      if (group != 0) {
        boolean apart = copy && !inOneLine(addresses, first, group, base);
        single |= apart ? group << first : 0;
        wavefronts +=
            apart
                ? Integer.bitCount(group)
                : degree(addresses, first, group, Math.max(bytes, 4) / 4, from);
        least++;
      }
    }
    if (copy) {
      alone.put(site.where, single);
    }
    add(site, wavefronts, least);
  }

  /**
   * Whether each lane has the address of the one whose number differs by this bit. Then two groups
   * of lanes go together, as measured on an H200.
   */
  private static boolean repeats(long[] addresses, int first, int group, int bit) {
    for (int m = group; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      int other = lane ^ bit;
      if ((group >>> other & 1) != 0 && addresses[first + lane] != addresses[first + other]) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether lanes write to one line of 128 bytes. Copies past the first level are written lane by
   * lane if they do not, as measured on an H200.
   */
  private static boolean inOneLine(long[] addresses, int first, int group, int base) {
    long line = (base + addresses[first + Integer.numberOfTrailingZeros(group)]) / LINE;
    for (int m = group; m != 0; m &= m - 1) {
      if ((base + addresses[first + Integer.numberOfTrailingZeros(m)]) / LINE != line) {
        return false;
      }
    }
    return true;
  }

  /** The most different words that a bank has to give. */
  private static int degree(long[] addresses, int first, int group, int words, int from) {
    long[] seen = new long[32 * words];
    int[] perBank = new int[BANKS];
    int count = 0;
    int worst = 1;
    for (int m = group; m != 0; m &= m - 1) {
      long word = (addresses[first + Integer.numberOfTrailingZeros(m)] + from) >> 2;
      for (int w = 0; w < words; w++) {
        boolean known = false;
        for (int i = 0; i < count && !known; i++) {
          known = seen[i] == word + w;
        }
        if (!known) {
          seen[count++] = word + w;
          worst = Math.max(worst, ++perBank[(int) ((word + w) % BANKS)]);
        }
      }
    }
    return worst;
  }

  private void global(
      Site site, long cluster, long[] addresses, int lanes, int bytes, int from, long storage) {
    long base = base(site.slot, storage);
    Map<Long, Integer> lines = new LinkedHashMap<>();
    int single =
        site.kind == Kind.ASYNC_LOAD && bytes == WIDEST ? alone.getOrDefault(site.where, 0) : 0;
    int sectors = 0;
    for (int m = lanes; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      long first = base + addresses[lane] + from;
      for (long sector = first / SECTOR; sector <= (first + bytes - 1) / SECTOR; sector++) {
        if ((single >>> lane & 1) != 0) {
          // What is written lane by lane is read so, as measured on an H200.
          sectors++;
          read(1 << (int) (sector % 4), sector / 4);
        } else {
          lines.merge(sector / 4, 1 << (int) (sector % 4), (a, b) -> a | b);
        }
      }
    }
    for (Map.Entry<Long, Integer> line : lines.entrySet()) {
      sectors += Integer.bitCount(line.getValue());
      switch (site.kind) {
        case GLOBAL_LOAD -> read(l1(cluster).read(line.getKey(), line.getValue()), line.getKey());
        case ASYNC_LOAD ->
            // cp.async.cg of 16 bytes passes the first level by, cp.async.ca does not.
            read(
                bytes == WIDEST
                    ? line.getValue()
                    : l1(cluster).read(line.getKey(), line.getValue()),
                line.getKey());
        default -> {
          l1(cluster).invalidate(line.getKey());
          write(line.getKey(), line.getValue());
        }
      }
    }
    add(site, sectors, Math.ceilDiv((long) Integer.bitCount(lanes) * bytes, SECTOR));
  }

  private SectoredCache l1(long cluster) {
    int sm = (int) (cluster % l1.length);
    SectoredCache cache = l1[sm];
    if (cache == null) {
      cache = new SectoredCache(SectoredCache.Geometry.firstLevel(caches.l1Bytes()));
      l1[sm] = cache;
    }
    return cache;
  }

  private void read(int sectors, long line) {
    if (sectors != 0) {
      l2Reads += Integer.bitCount(sectors);
      l2.read(line, sectors);
    }
  }

  /** The second level knows which bytes of a sector were written, and fetches nothing. */
  private void write(long line, int sectors) {
    l2Writes += Integer.bitCount(sectors);
    l2.write(line, sectors, 0);
  }

  /** A row of a tile that a TMA copy reads or writes. */
  public void bulk(int slot, long storage, long offset, long bytes, boolean reads, int receivers) {
    long first = base(slot, storage) + offset;
    for (long line = first / LINE; line <= (first + bytes - 1) / LINE; line++) {
      int sectors = 0;
      for (int s = 0; s < 4; s++) {
        long begin = line * LINE + s * SECTOR;
        sectors |= begin + SECTOR > first && begin < first + bytes ? 1 << s : 0;
      }
      if (reads) {
        bulkLoads += Integer.bitCount(sectors);
        multicasts += (receivers - 1L) * Integer.bitCount(sectors);
        read(sectors, line);
      } else {
        bulkStores += Integer.bitCount(sectors);
        write(line, sectors);
      }
    }
  }

  public KernelCounters result(Source source) {
    List<KernelCounters.OfStatement> all = new ArrayList<>();
    for (Place place : order) {
      Map<Kind, Tally> of = statements.get(place.where);
      Tally tally = of == null ? null : of.get(place.kind);
      if (tally != null) {
        all.add(
            new KernelCounters.OfStatement(
                source.line(place.where),
                source.excerpt(place.where),
                place.kind.text,
                tally.requests()));
      }
    }
    SectoredCache.Counts counts = l2.counts();
    return new KernelCounters(
        of(Kind.SHARED_LOAD),
        of(Kind.SHARED_STORE),
        of(Kind.MATRIX_LOAD),
        of(Kind.MATRIX_STORE),
        of(Kind.GLOBAL_LOAD),
        of(Kind.GLOBAL_STORE),
        of(Kind.ASYNC_LOAD),
        of(Kind.ASYNC_STORE),
        bulkLoads,
        bulkStores,
        multicasts,
        l2Reads,
        l2Writes,
        counts.fills() * SECTOR,
        counts.writeBacks() * SECTOR,
        multiplyAdds,
        matrixMultiplyAdds,
        all);
  }

  private KernelCounters.Requests of(Kind kind) {
    Tally tally = kinds.get(kind);
    return tally == null ? new KernelCounters.Requests(0, 0, 0) : tally.requests();
  }
}
