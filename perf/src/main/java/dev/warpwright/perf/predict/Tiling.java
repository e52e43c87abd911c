package dev.warpwright.perf.predict;

import dev.warpwright.base.UserError;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a kernel cuts a product: tiles of {@code m} × {@code n}, of which so many run on a SM at a
 * time.
 *
 * @param m rows of a tile, of a cluster's where blocks of a cluster share operands
 * @param n columns of a tile
 * @param sms that compute one tile together: the size of a cluster
 * @param perSm tiles at a time on one SM
 */
public record Tiling(int m, int n, int sms, int perSm) {
  private static final Pattern TEXT = Pattern.compile("(\\d{1,4})x(\\d{1,4})");

  /** Sizes of tiles that fast kernels have. */
  private static final int[][] SIZES = {
    {64, 64}, {64, 128}, {128, 64}, {64, 256}, {128, 128}, {128, 256}, {256, 128}, {256, 256}
  };

  public Tiling {
    if (m < 1 || n < 1 || sms < 1 || perSm < 1) {
      throw new UserError("tiles of " + m + "x" + n + ": each side must be at least 1");
    }
  }

  /** Tiles of the usual sizes; 256 × 256 takes a cluster of two, so only where there are some. */
  public static List<Tiling> usual(DeviceModel device) {
    List<Tiling> tilings = new ArrayList<>();
    for (int[] size : SIZES) {
      if (size[0] * size[1] <= 1 << 15 || device.target().hasHopper()) {
        tilings.add(of(size[0], size[1]));
      }
    }
    return tilings;
  }

  /**
   * A tile with as many beside it on an SM as registers usually allow: f32 sums of 128 × 256 take
   * all of them; larger tiles take a cluster of two.
   */
  public static Tiling of(int m, int n) {
    long elements = (long) m * n;
    int cluster = elements > 1 << 15 ? 2 : 1;
    return new Tiling(m, n, cluster, (int) Math.clamp((1 << 15) / elements, 1, 4));
  }

  /** Reads {@code 128x256}. */
  public static Tiling parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new UserError("tile '" + text + "' is not of the form 128x256");
    }
    int m = Integer.parseInt(matcher.group(1));
    int n = Integer.parseInt(matcher.group(2));
    if (m < 1 || n < 1) {
      throw new UserError("tile '" + text + "' has no elements; write 128x256");
    }
    return of(m, n);
  }

  /** As {@link #parse} reads it. */
  public String text() {
    return m + "x" + n;
  }

  /** Tiles that run at the same time on a device. */
  public int atOnce(DeviceModel device) {
    return Math.max(1, device.sms() / sms * perSm);
  }

  /** Whether blocks stay and take tile after tile, as clusters do. */
  boolean persistent() {
    return sms > 1;
  }
}
