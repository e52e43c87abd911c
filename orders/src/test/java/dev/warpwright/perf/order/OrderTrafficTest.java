package dev.warpwright.perf.order;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.LowerBounds;
import org.junit.jupiter.api.Test;

class OrderTrafficTest {
  private static final OrderTraffic.Gemm PRODUCT = new OrderTraffic.Gemm(1024, 512, 256, 2, 4);
  private static final OrderTraffic.Tile TILE = new OrderTraffic.Tile(128, 64, 32);

  @Test
  void aCacheThatHoldsAllFetchesEverythingOnce() {
    OrderTraffic traffic =
        OrderTraffic.of(PRODUCT, TILE, new BlockOrder.Row(), 5, Long.MAX_VALUE / 2);
    assertThat(traffic.dramReadBytes()).isEqualTo((1024 * 256 + 256 * 512) * 2);
    assertThat(traffic.dramWriteBytes()).isEqualTo(1024 * 512 * 4);
    assertThat(traffic.l2ReadBytes()).isEqualTo(2L * 1024 * 512 * 256 / 64 + 2L * 1024 * 512 * 2);
    assertThat(traffic.waves()).isEqualTo(13);
    assertThat(traffic.lastWave()).isEqualTo(4 / 5.0);
  }

  @Test
  void withoutACacheEveryRequestIsFetched() {
    OrderTraffic traffic = OrderTraffic.of(PRODUCT, TILE, new BlockOrder.Row(), 7, 0);
    assertThat(traffic.dramReadBytes()).isEqualTo(traffic.l2ReadBytes());
    assertThat(traffic.hitRate()).isZero();
  }

  /** Waves of r × c tiles read MNK(1/(r·bm) + 1/(c·bn)) where nothing is kept between waves. */
  @Test
  void groupsShareRowsAndColumns() {
    var product = new OrderTraffic.Gemm(4096, 4096, 4096, 2, 2);
    var tile = new OrderTraffic.Tile(128, 128, 64);
    long words = 4096L * 4096 * 4096;
    OrderTraffic square = OrderTraffic.of(product, tile, new BlockOrder.Grouped(8), 64, 1 << 20);
    assertThat((double) square.dramReadBytes() / 2).isEqualTo(words / 1024.0 * 2);
    OrderTraffic rows = OrderTraffic.of(product, tile, new BlockOrder.Row(), 32, 1 << 20);
    assertThat((double) rows.dramReadBytes() / 2).isEqualTo(words / 128.0 + words / 4096.0);
  }

  @Test
  void clustersAskOnceForWhatTheyShare() {
    OrderTraffic pairs =
        OrderTraffic.of(
            PRODUCT, new OrderTraffic.Tile(128, 64, 32, 2, 1), new BlockOrder.Row(), 8, 0);
    OrderTraffic single = OrderTraffic.of(PRODUCT, TILE, new BlockOrder.Row(), 8, 0);
    long b = 1024 / 128 * 512L * 256 * 2;
    assertThat(single.l2ReadBytes() - pairs.l2ReadBytes()).isEqualTo(b / 2);
  }

  @Test
  void noTrafficIsBelowTheBound() {
    long cache = 1 << 20;
    for (String order : new String[] {"row", "column", "serpentine", "grouped:4", "hilbert"}) {
      OrderTraffic traffic =
          OrderTraffic.of(
              new OrderTraffic.Gemm(2048, 2048, 2048, 2, 2),
              new OrderTraffic.Tile(128, 128, 64),
              BlockOrder.parse(order),
              16,
              cache);
      double bound = LowerBounds.gemmWords(2048, 2048, 2048, cache / 2.0);
      assertThat(traffic.dramBytes() / 2.0).as(order).isGreaterThanOrEqualTo(bound);
    }
  }
}
