package dev.warpwright.sim.counter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SectoredCacheTest {
  private static final long SEED = Long.getLong("seed", 91);

  @Test
  void sectorsAreFetchedOneByOne() {
    var cache = new SectoredCache(SectoredCache.Geometry.gpu(1 << 16));
    assertThat(cache.read(7, 0b0011)).isEqualTo(0b0011);
    assertThat(cache.read(7, 0b0110)).isEqualTo(0b0100);
    assertThat(cache.read(7, 0b0111)).isZero();
    assertThat(cache.counts().readMisses()).isEqualTo(3);
    assertThat(cache.counts().readHits()).isEqualTo(4);
  }

  @Test
  void dirtySectorsAreWrittenBackOnce() {
    var cache = new SectoredCache(new SectoredCache.Geometry(256, 128, 32, 2));
    assertThat(cache.write(1, 0b1111, 0)).isZero();
    assertThat(cache.write(2, 0b0001, 0b0001)).isOne();
    cache.read(3, 1);
    assertThat(cache.counts().writeBacks()).isEqualTo(4);
    cache.flush();
    cache.flush();
    assertThat(cache.counts().writeBacks()).isEqualTo(5);
  }

  /** Beside a plain list of lines, as long as there is one set. */
  @Test
  void theLeastRecentlyUsedLineGoes() {
    int ways = 8;
    var cache = new SectoredCache(new SectoredCache.Geometry(128L * ways, 128, 32, ways));
    List<Long> recent = new ArrayList<>();
    Map<Long, Integer> sectors = new HashMap<>();
    var random = new SplittableRandom(SEED);
    for (int i = 0; i < 20_000; i++) {
      long line = random.nextInt(12);
      int mask = 1 + random.nextInt(15);
      boolean known = recent.remove(line);
      int missing = mask & ~(known ? sectors.getOrDefault(line, 0) : 0);
      sectors.put(line, (known ? sectors.getOrDefault(line, 0) : 0) | mask);
      recent.add(line);
      if (recent.size() > ways) {
        sectors.remove(recent.removeFirst());
      }
      assertThat(cache.read(line, mask)).as("access %d, seed %d", i, SEED).isEqualTo(missing);
    }
  }

  @Test
  void aSizeThatDoesNotDivideIsRefused() {
    assertThatThrownBy(() -> new SectoredCache.Geometry(1000, 128, 32, 4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1000 bytes");
  }

  /** As measured on an H200, see docs/benchmarks: bench/first-level.kernel, again_256 and 320. */
  @Test
  void ofTheFirstLevelSetsThatFitKeepTheirLines() {
    SectoredCache cache = new SectoredCache(SectoredCache.Geometry.firstLevel(224 << 10));
    assertThat(hitsOfSecondRound(cache, 256 << 10)).isEqualTo(768);
    cache = new SectoredCache(SectoredCache.Geometry.firstLevel(224 << 10));
    assertThat(hitsOfSecondRound(cache, 320 << 10)).isZero();
    cache = new SectoredCache(SectoredCache.Geometry.firstLevel(224 << 10));
    assertThat(hitsOfSecondRound(cache, 224 << 10)).isEqualTo(1792);
  }

  /**
   * As measured on an H200 in 192 kB: of 1408 lines that each round reads once nothing stays; of
   * 704 that it reads in two halves most do, though LRU would keep none of them.
   */
  @Test
  void ofTheFirstLevelLinesThatAreLookedUpTwiceStay() {
    SectoredCache cache = new SectoredCache(SectoredCache.Geometry.firstLevel(192 << 10));
    int once = 0;
    int twice = 0;
    for (int round = 0; round < 3; round++) {
      once = 0;
      twice = 0;
      for (int line = 0; line < 1408; line++) {
        once += cache.read(line, 0b0011) == 0 ? 1 : 0;
      }
      for (int half = 0; half < 2; half++) {
        for (int line = 1408; line < 2112; line++) {
          twice += cache.read(line, 0b0011 << 2 * half) == 0 ? 1 : 0;
        }
      }
    }
    assertThat(once).isZero();
    assertThat(twice).isEqualTo(2 * 704);
  }

  private static int hitsOfSecondRound(SectoredCache cache, int bytes) {
    int hits = 0;
    for (int round = 0; round < 2; round++) {
      hits = 0;
      for (int line = 0; line < bytes / 128; line++) {
        hits += cache.read(line, 1) == 0 ? 1 : 0;
      }
    }
    return hits;
  }
}
