package dev.warpwright.ir.order;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Who computes which steps of which tile, in which order: the table of a kernel whose work is
 * divided ({@link WorkDivision}). It is data, like the order of whole tiles.
 *
 * <p>Worker {@code w} of {@code W} takes the items {@code w, w + W, w + 2W, …}; an item without
 * steps is nothing to do. Parts of a tile have slots of their own in a workspace, one after the
 * other.
 *
 * @param items row by row, a row having one item for each worker
 * @param workers number of workers
 * @param slots slots of the workspace
 */
public record WorkList(List<Item> items, int workers, int slots) {
  /** Numbers that stand for an item in {@link #table}. */
  public static final int FIELDS = 4;

  /** Tiles along a dimension, steps of an item and slots are less. */
  public static final int LIMIT = 1 << 15;

  private static final Item NOTHING = new Item(new BlockOrder.Tile(0, 0), 0, 0, 0, 0, 0, 1);

  /**
   * Some steps of a tile.
   *
   * @param tile row and column in the grid of tiles
   * @param first the first step
   * @param steps how many
   * @param before steps of this worker's earlier items
   * @param slot of the tile's first part
   * @param part number of this part, in the order of steps
   * @param parts of the tile; 1 if the item is all of it
   */
  public record Item(
      BlockOrder.Tile tile, int first, int steps, int before, int slot, int part, int parts) {
    private Item after(int earlier) {
      return new Item(tile, first, steps, earlier, slot, part, parts);
    }
  }

  /** Copies the list. */
  public WorkList {
    items = List.copyOf(items);
  }

  /**
   * {@return the list for a grid of tiles}
   *
   * @param division of the steps of tiles
   * @param order of the tiles
   * @param rows of tiles
   * @param columns of tiles
   * @param steps of each tile, at least 1
   * @param workers that run at the same time
   * @throws UserError if there are more tiles, steps or slots than the table can name
   */
  public static WorkList of(
      WorkDivision division, BlockOrder order, int rows, int columns, int steps, int workers) {
    if (steps < 1 || workers < 1) {
      throw new IllegalArgumentException(steps + " steps, " + workers + " workers");
    }
    if (rows >= LIMIT || columns >= LIMIT || steps >= LIMIT) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%d x %d tiles of %d steps: divided work has less than %d of each",
              rows,
              columns,
              steps,
              LIMIT));
    }
    List<BlockOrder.Tile> tiles = order.tiles(rows, columns);
    Builder builder = new Builder(steps, workers);
    switch (division) {
      case WorkDivision.Whole() -> builder.whole(tiles);
      case WorkDivision.Parts(int parts) -> builder.parts(tiles, Math.min(parts, steps));
      case WorkDivision.Stream(int waves) -> {
        int full = tiles.size() / workers;
        int divided =
            tiles.size() % workers == 0
                ? 0
                : tiles.size() % workers + Math.min(waves, full) * workers;
        builder.stream(tiles.subList(0, divided));
        builder.whole(tiles.subList(divided, tiles.size()));
      }
    }
    return builder.list();
  }

  /**
   * {@return four numbers for each item: {@code m << 16 | n}; {@code first << 16 | steps}; the
   * steps before; {@code slot << 16 | part << 8 | parts}}
   */
  public List<Integer> table() {
    List<Integer> table = new ArrayList<>();
    for (Item item : items) {
      table.add(item.tile().m() << 16 | item.tile().n());
      table.add(item.first() << 16 | item.steps());
      table.add(item.before());
      table.add(item.slot() << 16 | item.part() << 8 | item.parts());
    }
    return table;
  }

  private static final class Builder {
    private final int steps;
    private final List<List<Item>> byWorker = new ArrayList<>();
    private int slots;
    private int next;

    Builder(int steps, int workers) {
      this.steps = steps;
      for (int w = 0; w < workers; w++) {
        byWorker.add(new ArrayList<>());
      }
    }

    void whole(List<BlockOrder.Tile> tiles) {
      for (BlockOrder.Tile tile : tiles) {
        byWorker.get(next++ % byWorker.size()).add(new Item(tile, 0, steps, 0, 0, 0, 1));
      }
    }

    /** Parts of a tile go to neighbouring workers, which compute them at the same time. */
    void parts(List<BlockOrder.Tile> tiles, int parts) {
      for (BlockOrder.Tile tile : tiles) {
        for (int part = 0; part < parts; part++) {
          int first = (int) ((long) steps * part / parts);
          int end = (int) ((long) steps * (part + 1) / parts);
          byWorker
              .get(next++ % byWorker.size())
              .add(new Item(tile, first, end - first, 0, slots, part, parts));
        }
        slots += parts > 1 ? parts : 0;
      }
    }

    void stream(List<BlockOrder.Tile> tiles) {
      long all = (long) tiles.size() * steps;
      int workers = byWorker.size();
      int first = 0;
      for (int t = 0; t < tiles.size(); t++) {
        long begin = (long) t * steps;
        long end = begin + steps;
        List<Integer> sharers = new ArrayList<>();
        for (int w = first; w < workers && share(all, w, workers) < end; w++) {
          if (share(all, w + 1, workers) > Math.max(begin, share(all, w, workers))) {
            sharers.add(w);
          }
        }
        for (int part = 0; part < sharers.size(); part++) {
          int w = sharers.get(part);
          int from = (int) (Math.max(begin, share(all, w, workers)) - begin);
          int to = (int) (Math.min(end, share(all, w + 1, workers)) - begin);
          byWorker
              .get(w)
              .add(new Item(tiles.get(t), from, to - from, 0, slots, part, sharers.size()));
        }
        if (sharers.size() > WorkDivision.MAX_PARTS) {
          throw new UserError(
              sharers.size() + " workers share a tile; at most " + WorkDivision.MAX_PARTS);
        }
        slots += sharers.size() > 1 ? sharers.size() : 0;
        first = sharers.getLast();
      }
    }

    /** Where a worker's share begins. */
    private static long share(long all, int worker, int workers) {
      return all * worker / workers;
    }

    WorkList list() {
      int rounds = byWorker.stream().mapToInt(List::size).max().orElseThrow();
      if (slots >= LIMIT) {
        throw new UserError(slots + " parts of tiles; divided work has less than " + LIMIT);
      }
      List<List<Item>> sorted = new ArrayList<>(byWorker);
      // Who has more to do starts earlier; the sort keeps neighbours together.
      sorted.sort(Comparator.comparingInt((List<Item> items) -> -items.size()));
      List<Item> items = new ArrayList<>();
      for (int round = 0; round < rounds; round++) {
        for (List<Item> worker : sorted) {
          items.add(round < worker.size() ? numbered(worker, round) : NOTHING);
        }
      }
      return new WorkList(items, byWorker.size(), slots);
    }

    private static Item numbered(List<Item> worker, int round) {
      int before = worker.subList(0, round).stream().mapToInt(Item::steps).sum();
      return worker.get(round).after(before);
    }
  }
}
