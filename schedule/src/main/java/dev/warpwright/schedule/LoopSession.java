package dev.warpwright.schedule;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.schedule.primitive.Annotate;
import dev.warpwright.schedule.primitive.Bind;
import dev.warpwright.schedule.primitive.Cluster;
import dev.warpwright.schedule.primitive.Fuse;
import dev.warpwright.schedule.primitive.Merge;
import dev.warpwright.schedule.primitive.MergeGrids;
import dev.warpwright.schedule.primitive.Multicast;
import dev.warpwright.schedule.primitive.Parallelize;
import dev.warpwright.schedule.primitive.Persistent;
import dev.warpwright.schedule.primitive.Pipeline;
import dev.warpwright.schedule.primitive.Reorder;
import dev.warpwright.schedule.primitive.ReorderBlocks;
import dev.warpwright.schedule.primitive.Roles;
import dev.warpwright.schedule.primitive.Split;
import dev.warpwright.schedule.primitive.StreamK;
import dev.warpwright.schedule.primitive.Unroll;
import dev.warpwright.schedule.primitive.Vectorize;
import java.util.List;
import java.util.Map;

/**
 * What a {@link Schedule} does to loops: splits, order, threads, tiles of a grid, roles, and
 * remarks. What it does to blocks, buffers and tiles is in {@link Schedule} itself.
 */
abstract sealed class LoopSession extends Session permits Schedule {
  LoopSession(PrimFunc func, long seed) {
    super(func, seed);
  }

  // --- loops

  /**
   * Makes two loops of one; see {@link Split}.
   *
   * @param loop that is split
   * @param factor iterations of the inner loop, at least 1
   * @return both loops
   */
  public Schedule.Halves split(LoopRef loop, long factor) {
    return split(loop, factor, factor);
  }

  /**
   * Makes two loops of one; the inner loop has as many iterations as the number that was sampled.
   *
   * @param loop that is split
   * @param factor iterations of the inner loop
   * @return both loops
   */
  public Schedule.Halves split(LoopRef loop, ValueRef factor) {
    return split(loop, factor.value(), factor.id());
  }

  private Schedule.Halves split(LoopRef loop, long factor, Object recorded) {
    Split.Result result = Split.apply(func, loop.variable(), factor);
    func = result.func();
    Schedule.Halves halves = new Schedule.Halves(ref(result.outer()), ref(result.inner()));
    record(
        "split",
        List.of(loop.id()),
        Map.of("factor", recorded),
        List.of(halves.outer().id(), halves.inner().id()));
    return halves;
  }

  /**
   * Makes one loop of two; see {@link Fuse}.
   *
   * @param outer directly around the other
   * @param inner directly inside the other
   * @return the loop over all iterations
   */
  public LoopRef fuse(LoopRef outer, LoopRef inner) {
    Fuse.Result result = Fuse.apply(func, outer.variable(), inner.variable());
    func = result.func();
    LoopRef fused = ref(result.fused());
    record("fuse", List.of(outer.id(), inner.id()), Map.of(), List.of(fused.id()));
    return fused;
  }

  /**
   * Carries out two loops that have nothing to do with each other as one, where the second one is;
   * see {@link Merge}.
   *
   * @param first that goes
   * @param second of as many iterations, which stays
   */
  public void merge(LoopRef first, LoopRef second) {
    func = Merge.apply(func, first.variable(), second.variable());
    record("merge", List.of(first.id(), second.id()), Map.of(), List.of());
  }

  /**
   * Exchanges loops of a nest; see {@link Reorder}.
   *
   * @param order the places that these loops hold are given to them in this order
   */
  public void reorder(LoopRef... order) {
    reorder(List.of(order));
  }

  /**
   * Exchanges loops of a nest; see {@link Reorder}.
   *
   * @param order the places that these loops hold are given to them in this order
   */
  public void reorder(List<LoopRef> order) {
    func = Reorder.apply(func, order.stream().map(LoopRef::variable).toList());
    record("reorder", ids(order), Map.of(), List.of());
  }

  /**
   * Makes a loop variable an index of the launch: iterations run on different blocks or threads;
   * see {@link Bind}.
   *
   * @param loop whose iterations do not depend on each other
   * @param axis of the launch
   */
  public void bind(LoopRef loop, ThreadAxis axis) {
    func = Bind.apply(func, loop.variable(), axis);
    record("bind", List.of(loop.id()), Map.of("axis", axis.text()), List.of());
  }

  /**
   * Lets iterations of a loop run on several cores of the host; see {@link Parallelize}.
   *
   * @param loop whose iterations do not depend on each other
   */
  public void parallel(LoopRef loop) {
    func = Parallelize.apply(func, loop.variable());
    record("parallel", List.of(loop.id()), Map.of(), List.of());
  }

  /**
   * Carries the iterations of an innermost loop out as lanes of vectors; see {@link Vectorize}.
   *
   * @param loop of a constant number of iterations
   */
  public void vectorize(LoopRef loop) {
    func = Vectorize.apply(func, loop.variable());
    record("vectorize", List.of(loop.id()), Map.of(), List.of());
  }

  /**
   * Writes the iterations of a loop out, one after the other; see {@link Unroll}.
   *
   * @param loop of a constant number of iterations
   */
  public void unroll(LoopRef loop) {
    func = Unroll.apply(func, loop.variable());
    record("unroll", List.of(loop.id()), Map.of(), List.of());
  }

  /**
   * Lets the copies of later iterations start early; see {@link Pipeline}.
   *
   * @param loop serial, with copies into shared memory
   * @param stages iterations under way at once
   */
  public void pipeline(LoopRef loop, int stages) {
    pipeline(loop, stages, (long) stages);
  }

  /**
   * Lets the copies of later iterations start early, in as many stages as the number that was
   * sampled.
   *
   * @param loop serial, with copies into shared memory
   * @param stages iterations under way at once
   */
  public void pipeline(LoopRef loop, ValueRef stages) {
    pipeline(loop, Math.toIntExact(stages.value()), stages.id());
  }

  private void pipeline(LoopRef loop, int stages, Object recorded) {
    func = Pipeline.apply(func, loop.variable(), stages);
    record("pipeline", List.of(loop.id()), Map.of("stages", recorded), List.of());
  }

  // --- tiles, blocks of threads, roles

  /**
   * Makes one loop over tiles of two, and says in which order the tiles are computed; see {@link
   * ReorderBlocks}.
   *
   * @param rows loop over rows of tiles
   * @param columns loop over columns of tiles, directly inside
   * @param order of the tiles
   * @return the loop over tiles
   */
  public LoopRef blockOrder(
      LoopRef rows, LoopRef columns, dev.warpwright.ir.order.BlockOrder order) {
    Fuse.Result result = ReorderBlocks.apply(func, rows.variable(), columns.variable(), order);
    func = result.func();
    LoopRef fused = ref(result.fused());
    record(
        "blockOrder",
        List.of(rows.id(), columns.id()),
        Map.of("order", order.text()),
        List.of(fused.id()));
    return fused;
  }

  /**
   * Divides all steps of all tiles evenly among workers; see {@link StreamK}.
   *
   * @param tiles loop over tiles
   * @param steps loop over the steps along K of a tile
   * @param workers blocks, all of which run at once
   * @return the loops over workers and over the steps of one
   */
  public Schedule.Halves streamK(LoopRef tiles, LoopRef steps, long workers) {
    StreamK.Result result = StreamK.apply(func, tiles.variable(), steps.variable(), workers);
    func = result.func();
    Schedule.Halves halves = new Schedule.Halves(ref(result.workers()), ref(result.steps()));
    record(
        "streamK",
        List.of(tiles.id(), steps.id()),
        Map.of("workers", workers),
        List.of(halves.outer().id(), halves.inner().id()));
    return halves;
  }

  /**
   * Makes one loop over work of two loops over tiles, so that one grid does both; see {@link
   * MergeGrids}.
   *
   * @param first loop over tiles
   * @param second loop over tiles that read what the first ones write
   * @param order in which work is taken
   * @param wait whose end a tile of the second loop waits for
   * @return the loop over all work
   */
  public LoopRef mergeGrids(LoopRef first, LoopRef second, WorkOrder order, WaitPolicy wait) {
    MergeGrids.Result result =
        MergeGrids.apply(func, first.variable(), second.variable(), order, wait);
    func = result.func();
    LoopRef work = ref(result.work());
    record(
        "mergeGrids",
        List.of(first.id(), second.id()),
        Map.of("order", order.text(), "wait", wait.text()),
        List.of(work.id()));
    return work;
  }

  /**
   * Lets a fixed number of blocks share the iterations of a loop over tiles; see {@link
   * Persistent}.
   *
   * @param loop over tiles
   * @param blocks all of which run at once
   */
  public void persistent(LoopRef loop, long blocks) {
    func = Persistent.apply(func, loop.variable(), blocks);
    record("persistent", List.of(loop.id()), Map.of("blocks", blocks), List.of());
  }

  /**
   * Divides the warpgroups of a block: some only start copies, the others compute; see {@link
   * Roles}.
   *
   * @param producers warpgroups that start copies
   * @param consumers warpgroups that compute
   */
  public void roles(int producers, int consumers) {
    func = Roles.apply(func, producers, consumers);
    record(
        "roles",
        List.of(),
        Map.of("producers", (long) producers, "consumers", (long) consumers),
        List.of());
  }

  /**
   * Lets blocks run in clusters, whose blocks may share what they load; see {@link Cluster}.
   *
   * @param sizeM blocks of a cluster along rows of tiles
   * @param sizeN blocks of a cluster along columns of tiles
   */
  public void cluster(int sizeM, int sizeN) {
    func = Cluster.apply(func, sizeM, sizeN);
    record("cluster", List.of(), Map.of("m", (long) sizeM, "n", (long) sizeN), List.of());
  }

  /**
   * Lets the blocks of a cluster that copy the same tile load it together; see {@link Multicast}.
   *
   * @param copy the block that copies
   */
  public void multicast(BlockRef copy) {
    func = Multicast.apply(func, copy.name());
    record("multicast", List.of(copy.name()), Map.of(), List.of());
  }

  // --- attributes

  /**
   * Adds an attribute to a loop, or replaces the one of that name; see {@link Annotate}.
   *
   * @param loop that gets it
   * @param key the attribute's name
   * @param value a {@code Long} or a {@code String}
   */
  public void annotate(LoopRef loop, String key, Object value) {
    func = Annotate.loop(func, loop.variable(), key, value);
    record("annotateLoop", List.of(loop.id()), Map.of("key", key, "value", value), List.of());
  }

  /**
   * Adds an attribute to a block, or replaces the one of that name; see {@link Annotate}.
   *
   * @param block that gets it
   * @param key the attribute's name
   * @param value a {@code Long} or a {@code String}
   */
  public void annotate(BlockRef block, String key, Object value) {
    func = Annotate.block(func, block.name(), key, value);
    record("annotateBlock", List.of(block.name()), Map.of("key", key, "value", value), List.of());
  }

  /**
   * Adds an attribute to the function, or replaces the one of that name; see {@link Annotate}.
   *
   * @param key the attribute's name
   * @param value a {@code Long} or a {@code String}
   */
  public void annotate(String key, Object value) {
    func = Annotate.function(func, key, value);
    record("annotate", List.of(), Map.of("key", key, "value", value), List.of());
  }
}
