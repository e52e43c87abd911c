package dev.warpwright.perf.order;

/**
 * The cached blocks by their next use, the farthest first; of those used at the same time the one
 * with the lowest number: an eviction costs the logarithm of what is cached.
 */
final class FarthestUse extends PlacedHeap {
  private final int[] next;

  /**
   * @param blocks that there are
   */
  FarthestUse(int blocks) {
    super(blocks);
    next = new int[blocks];
  }

  @Override
  protected boolean before(int a, int b) {
    return next[a] > next[b] || next[a] == next[b] && a < b;
  }

  /** The block whose next use is farthest, which is taken out. */
  int poll() {
    int first = first();
    remove(first);
    return first;
  }

  /** Puts a block in, or moves it, that is used next at this moment. */
  void use(int block, int moment) {
    next[block] = moment;
    put(block);
  }
}
