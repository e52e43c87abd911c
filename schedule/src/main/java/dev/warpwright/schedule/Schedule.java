package dev.warpwright.schedule;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.Combine;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.schedule.primitive.Annotate;
import dev.warpwright.schedule.primitive.Bind;
import dev.warpwright.schedule.primitive.Blockize;
import dev.warpwright.schedule.primitive.CacheRead;
import dev.warpwright.schedule.primitive.CacheWrite;
import dev.warpwright.schedule.primitive.Cluster;
import dev.warpwright.schedule.primitive.Compact;
import dev.warpwright.schedule.primitive.ComputeAt;
import dev.warpwright.schedule.primitive.ComputeInline;
import dev.warpwright.schedule.primitive.DecomposeReduction;
import dev.warpwright.schedule.primitive.Fuse;
import dev.warpwright.schedule.primitive.Merge;
import dev.warpwright.schedule.primitive.MergeGrids;
import dev.warpwright.schedule.primitive.Multicast;
import dev.warpwright.schedule.primitive.NormalForm;
import dev.warpwright.schedule.primitive.Pad;
import dev.warpwright.schedule.primitive.Parallelize;
import dev.warpwright.schedule.primitive.Persistent;
import dev.warpwright.schedule.primitive.Pipeline;
import dev.warpwright.schedule.primitive.Reorder;
import dev.warpwright.schedule.primitive.ReorderBlocks;
import dev.warpwright.schedule.primitive.ReverseComputeAt;
import dev.warpwright.schedule.primitive.ReverseComputeInline;
import dev.warpwright.schedule.primitive.Rfactor;
import dev.warpwright.schedule.primitive.Roles;
import dev.warpwright.schedule.primitive.SetLayout;
import dev.warpwright.schedule.primitive.SetScope;
import dev.warpwright.schedule.primitive.Split;
import dev.warpwright.schedule.primitive.SplitK;
import dev.warpwright.schedule.primitive.Squeeze;
import dev.warpwright.schedule.primitive.StorageAlign;
import dev.warpwright.schedule.primitive.StreamK;
import dev.warpwright.schedule.primitive.Tensorize;
import dev.warpwright.schedule.primitive.TransformLayout;
import dev.warpwright.schedule.primitive.Unroll;
import dev.warpwright.schedule.primitive.Vectorize;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * A session that turns a function, step by step, into another one with the same meaning, and
 * records the steps. Every method that changes something is a primitive: what it does and requires
 * is documented at the class of the same name in {@code dev.warpwright.schedule.primitive}, and a
 * requirement that does not hold is a {@link ScheduleError}, after which the session goes on as if
 * the call had not been made.
 */
public final class Schedule extends Session {
  /**
   * Starts a session whose choices are those of seed 0.
   *
   * @throws ScheduleError if the function is not in the form that the primitives rely on, see
   *     {@link NormalForm}
   */
  public Schedule(PrimFunc func) {
    this(func, 0);
  }

  /**
   * Starts a session.
   *
   * @param seed of what is sampled; the same seed makes the same choices
   * @throws ScheduleError if the function is not in the form that the primitives rely on, see
   *     {@link NormalForm}
   */
  public Schedule(PrimFunc func, long seed) {
    super(func, seed);
  }

  // --- loops

  /** The two loops of a {@link #split}. */
  public record Halves(LoopRef outer, LoopRef inner) {}

  /** See {@link Split}; the inner loop has {@code factor} iterations. */
  public Halves split(LoopRef loop, long factor) {
    return split(loop, factor, factor);
  }

  /** See {@link Split}; the inner loop has as many iterations as the number that was sampled. */
  public Halves split(LoopRef loop, ValueRef factor) {
    return split(loop, factor.value(), factor.id());
  }

  private Halves split(LoopRef loop, long factor, Object recorded) {
    Split.Result result = Split.apply(func, loop.variable(), factor);
    func = result.func();
    Halves halves = new Halves(ref(result.outer()), ref(result.inner()));
    record(
        "split",
        List.of(loop.id()),
        Map.of("factor", recorded),
        List.of(halves.outer().id(), halves.inner().id()));
    return halves;
  }

  /** See {@link Fuse}. */
  public LoopRef fuse(LoopRef outer, LoopRef inner) {
    Fuse.Result result = Fuse.apply(func, outer.variable(), inner.variable());
    func = result.func();
    LoopRef fused = ref(result.fused());
    record("fuse", List.of(outer.id(), inner.id()), Map.of(), List.of(fused.id()));
    return fused;
  }

  /** See {@link Merge}; the second loop stays. */
  public void merge(LoopRef first, LoopRef second) {
    func = Merge.apply(func, first.variable(), second.variable());
    record("merge", List.of(first.id(), second.id()), Map.of(), List.of());
  }

  /** See {@link Reorder}. */
  public void reorder(LoopRef... order) {
    reorder(List.of(order));
  }

  /** See {@link Reorder}. */
  public void reorder(List<LoopRef> order) {
    func = Reorder.apply(func, order.stream().map(LoopRef::variable).toList());
    record("reorder", ids(order), Map.of(), List.of());
  }

  /** See {@link Bind}. */
  public void bind(LoopRef loop, ThreadAxis axis) {
    func = Bind.apply(func, loop.variable(), axis);
    record("bind", List.of(loop.id()), Map.of("axis", axis.text()), List.of());
  }

  /** See {@link Parallelize}. */
  public void parallel(LoopRef loop) {
    func = Parallelize.apply(func, loop.variable());
    record("parallel", List.of(loop.id()), Map.of(), List.of());
  }

  /** See {@link Vectorize}. */
  public void vectorize(LoopRef loop) {
    func = Vectorize.apply(func, loop.variable());
    record("vectorize", List.of(loop.id()), Map.of(), List.of());
  }

  /** See {@link Unroll}. */
  public void unroll(LoopRef loop) {
    func = Unroll.apply(func, loop.variable());
    record("unroll", List.of(loop.id()), Map.of(), List.of());
  }

  /** See {@link Pipeline}. */
  public void pipeline(LoopRef loop, int stages) {
    pipeline(loop, stages, (long) stages);
  }

  /** See {@link Pipeline}; as many stages as the number that was sampled. */
  public void pipeline(LoopRef loop, ValueRef stages) {
    pipeline(loop, Math.toIntExact(stages.value()), stages.id());
  }

  private void pipeline(LoopRef loop, int stages, Object recorded) {
    func = Pipeline.apply(func, loop.variable(), stages);
    record("pipeline", List.of(loop.id()), Map.of("stages", recorded), List.of());
  }

  // --- tiles, blocks of threads, roles

  /** See {@link ReorderBlocks}; returns the loop over tiles. */
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

  /** See {@link StreamK}; returns the loops over workers and over the steps of one. */
  public Halves streamK(LoopRef tiles, LoopRef steps, long workers) {
    StreamK.Result result = StreamK.apply(func, tiles.variable(), steps.variable(), workers);
    func = result.func();
    Halves halves = new Halves(ref(result.workers()), ref(result.steps()));
    record(
        "streamK",
        List.of(tiles.id(), steps.id()),
        Map.of("workers", workers),
        List.of(halves.outer().id(), halves.inner().id()));
    return halves;
  }

  /** See {@link MergeGrids}; returns the loop over all work. */
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

  /** See {@link Persistent}. */
  public void persistent(LoopRef loop, long blocks) {
    func = Persistent.apply(func, loop.variable(), blocks);
    record("persistent", List.of(loop.id()), Map.of("blocks", blocks), List.of());
  }

  /** See {@link Roles}; both are numbers of warpgroups. */
  public void roles(int producers, int consumers) {
    func = Roles.apply(func, producers, consumers);
    record(
        "roles",
        List.of(),
        Map.of("producers", (long) producers, "consumers", (long) consumers),
        List.of());
  }

  /** See {@link Cluster}; sizes in blocks. */
  public void cluster(int sizeM, int sizeN) {
    func = Cluster.apply(func, sizeM, sizeN);
    record("cluster", List.of(), Map.of("m", (long) sizeM, "n", (long) sizeN), List.of());
  }

  /** See {@link Multicast}. */
  public void multicast(BlockRef copy) {
    func = Multicast.apply(func, copy.name());
    record("multicast", List.of(copy.name()), Map.of(), List.of());
  }

  // --- attributes

  /** See {@link Annotate}; the value is a {@code Long} or a {@code String}. */
  public void annotate(LoopRef loop, String key, Object value) {
    func = Annotate.loop(func, loop.variable(), key, value);
    record("annotateLoop", List.of(loop.id()), Map.of("key", key, "value", value), List.of());
  }

  /** See {@link Annotate}; the value is a {@code Long} or a {@code String}. */
  public void annotate(BlockRef block, String key, Object value) {
    func = Annotate.block(func, block.name(), key, value);
    record("annotateBlock", List.of(block.name()), Map.of("key", key, "value", value), List.of());
  }

  /** Annotates the function, see {@link Annotate}; the value is a {@code Long} or a string. */
  public void annotate(String key, Object value) {
    func = Annotate.function(func, key, value);
    record("annotate", List.of(), Map.of("key", key, "value", value), List.of());
  }

  // --- where blocks are computed

  /** See {@link ComputeAt}. */
  public void computeAt(BlockRef block, LoopRef loop) {
    func = ComputeAt.apply(func, block.name(), loop.variable());
    record("computeAt", List.of(block.name(), loop.id()), Map.of(), List.of());
  }

  /** See {@link ReverseComputeAt}. */
  public void reverseComputeAt(BlockRef block, LoopRef loop) {
    func = ReverseComputeAt.apply(func, block.name(), loop.variable());
    record("reverseComputeAt", List.of(block.name(), loop.id()), Map.of(), List.of());
  }

  /** See {@link ComputeInline}. */
  public void computeInline(BlockRef block) {
    func = ComputeInline.apply(func, block.name());
    record("computeInline", List.of(block.name()), Map.of(), List.of());
  }

  /** See {@link ReverseComputeInline}. */
  public void reverseComputeInline(BlockRef block) {
    func = ReverseComputeInline.apply(func, block.name());
    record("reverseComputeInline", List.of(block.name()), Map.of(), List.of());
  }

  /** See {@link Rfactor}; returns the block of partial results. */
  public BlockRef rfactor(BlockRef block, LoopRef loop, int axis) {
    Rfactor.Result result = Rfactor.apply(func, block.name(), loop.variable(), axis);
    func = result.func();
    record(
        "rfactor",
        List.of(block.name(), loop.id()),
        Map.of("axis", (long) axis),
        List.of(result.partial()));
    return new BlockRef(result.partial());
  }

  /**
   * What {@link #splitK} made.
   *
   * @param partial the block of partial results
   * @param part the loop over parts around it
   * @param turn the loop over parts around the block that adds them
   */
  public record Parts(BlockRef partial, LoopRef part, LoopRef turn) {}

  /** See {@link SplitK}. */
  public Parts splitK(BlockRef block, long parts, Combine combine) {
    return splitK(block, parts, combine, parts);
  }

  /** See {@link SplitK}; as many parts as the number that was sampled. */
  public Parts splitK(BlockRef block, ValueRef parts, Combine combine) {
    return splitK(block, parts.value(), combine, parts.id());
  }

  private Parts splitK(BlockRef block, long parts, Combine combine, Object recorded) {
    SplitK.Result result = SplitK.apply(func, block.name(), parts, combine);
    func = result.func();
    Parts made = new Parts(new BlockRef(result.partial()), ref(result.part()), ref(result.turn()));
    record(
        "splitK",
        List.of(block.name()),
        Map.of("parts", recorded, "combine", combine.text()),
        List.of(result.partial(), made.part().id(), made.turn().id()));
    return made;
  }

  /** See {@link DecomposeReduction}; returns the initialising block. */
  public BlockRef decomposeReduction(BlockRef block, LoopRef loop) {
    DecomposeReduction.Result result =
        DecomposeReduction.apply(func, block.name(), loop.variable());
    func = result.func();
    record(
        "decomposeReduction", List.of(block.name(), loop.id()), Map.of(), List.of(result.init()));
    return new BlockRef(result.init());
  }

  // --- buffers

  /** See {@link SetScope}. */
  public void setScope(BufferRef buffer, Scope scope) {
    func = SetScope.apply(func, buffer.name(), scope);
    record("setScope", List.of(buffer.name()), Map.of("scope", scope.text()), List.of());
  }

  /** See {@link CacheRead}; returns the copying block, which has the name of the copy. */
  public BlockRef cacheRead(BufferRef buffer, Scope scope, BlockRef... readers) {
    return cacheRead(buffer, scope, List.of(readers));
  }

  /** See {@link CacheRead}; returns the copying block, which has the name of the copy. */
  public BlockRef cacheRead(BufferRef buffer, Scope scope, List<BlockRef> readers) {
    List<String> names = readers.stream().map(BlockRef::name).toList();
    CacheRead.Result result = CacheRead.apply(func, buffer.name(), scope, names);
    func = result.func();
    List<String> inputs = new ArrayList<>();
    inputs.add(buffer.name());
    inputs.addAll(names);
    record("cacheRead", inputs, Map.of("scope", scope.text()), List.of(result.copy()));
    return new BlockRef(result.copy());
  }

  /** What {@link #cacheWrite} made: the block that copies, and the buffer that it copies. */
  public record Written(BlockRef copy, BufferRef buffer) {}

  /** See {@link CacheWrite}. */
  public Written cacheWrite(BlockRef block, Scope scope) {
    CacheWrite.Result result = CacheWrite.apply(func, block.name(), scope);
    func = result.func();
    record(
        "cacheWrite",
        List.of(block.name()),
        Map.of("scope", scope.text()),
        List.of(result.copyBlock(), result.buffer()));
    return new Written(new BlockRef(result.copyBlock()), new BufferRef(result.buffer()));
  }

  /** See {@link Compact}. */
  public void compact(BufferRef buffer) {
    func = Compact.apply(func, buffer.name());
    record("compact", List.of(buffer.name()), Map.of(), List.of());
  }

  /** See {@link TransformLayout}; {@code order[d]} is the old dimension that becomes number d. */
  public void transformLayout(BufferRef buffer, Integer... order) {
    transformLayout(buffer, List.of(order));
  }

  /** See {@link TransformLayout}. */
  public void transformLayout(BufferRef buffer, List<Integer> order) {
    func = TransformLayout.apply(func, buffer.name(), order);
    String text = String.join(",", order.stream().map(String::valueOf).toList());
    record("transformLayout", List.of(buffer.name()), Map.of("order", text), List.of());
  }

  /** See {@link Pad}; a number for each iteration variable of the block. */
  public void pad(BlockRef block, Long... multiples) {
    pad(block, List.of(multiples));
  }

  /** See {@link Pad}. */
  public void pad(BlockRef block, List<Long> multiples) {
    pad(block, multiples, Pad.Edge.ZERO);
  }

  /** See {@link Pad}, with {@link Pad.Edge#REPEATED}. */
  public void padRepeating(BlockRef block, List<Long> multiples) {
    pad(block, multiples, Pad.Edge.REPEATED);
  }

  private void pad(BlockRef block, List<Long> multiples, Pad.Edge edge) {
    func = Pad.apply(func, block.name(), multiples, edge);
    String text = String.join(",", multiples.stream().map(String::valueOf).toList());
    String op = edge == Pad.Edge.ZERO ? "pad" : "padRepeating";
    record(op, List.of(block.name()), Map.of("multiples", text), List.of());
  }

  /** {@link #compact} for every intermediate without a layout of its own, in program order. */
  public void compactAll() {
    for (Buffer buffer : Tree.intermediates(func)) {
      if (buffer.layout() == null) {
        compact(new BufferRef(buffer.name()));
      }
    }
  }

  /** See {@link Squeeze}. */
  public void squeeze() {
    func = Squeeze.apply(func);
    record("squeeze", List.of(), Map.of(), List.of());
  }

  /** See {@link StorageAlign}; factor and offset in elements. */
  public void storageAlign(BufferRef buffer, int dimension, long factor, long offset) {
    func = StorageAlign.apply(func, buffer.name(), dimension, factor, offset);
    record(
        "storageAlign",
        List.of(buffer.name()),
        Map.of("dimension", (long) dimension, "factor", factor, "offset", offset),
        List.of());
  }

  /** See {@link SetLayout}. */
  public void setLayout(BufferRef buffer, Layout layout) {
    func = SetLayout.apply(func, buffer.name(), layout);
    record("setLayout", List.of(buffer.name()), Map.of("layout", layout.toString()), List.of());
  }

  // --- tile statements

  /** See {@link Blockize}; the block around which the loop is keeps its name. */
  public void blockize(LoopRef loop) {
    func = Blockize.apply(func, loop.variable());
    record("blockize", List.of(loop.id()), Map.of(), List.of());
  }

  /** See {@link Tensorize}; takes the innermost serial loops that are around the block alone. */
  public void tensorize(BlockRef block, Attrs attrs) {
    tensorize(block, null, attrs);
  }

  /** See {@link Tensorize}; takes the loops inside the given one. */
  public void tensorize(BlockRef block, @Nullable LoopRef inside, Attrs attrs) {
    Var variable = inside == null ? null : inside.variable();
    func = Tensorize.apply(func, block.name(), variable, attrs);
    List<String> inputs =
        inside == null ? List.of(block.name()) : List.of(block.name(), inside.id());
    record("tensorize", inputs, attrs.values(), List.of());
  }

  /**
   * Tensorizes several blocks as {@link #tensorize(BlockRef, Attrs)} does one after the other, and
   * records them so; of a deep network that takes as long as the network is, not as its square.
   *
   * @param attrs of the new statements, in the order to apply them
   */
  public void tensorizeAll(SequencedMap<BlockRef, Attrs> attrs) {
    SequencedMap<String, Attrs> byName = new LinkedHashMap<>();
    attrs.forEach((block, own) -> byName.put(block.name(), own));
    func = Tensorize.applyAll(func, byName);
    attrs.forEach(
        (block, own) -> record("tensorize", List.of(block.name()), own.values(), List.of()));
  }
}
