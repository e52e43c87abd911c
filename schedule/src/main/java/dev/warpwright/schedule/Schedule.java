package dev.warpwright.schedule;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.Combine;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.schedule.primitive.Blockize;
import dev.warpwright.schedule.primitive.CacheRead;
import dev.warpwright.schedule.primitive.CacheWrite;
import dev.warpwright.schedule.primitive.Compact;
import dev.warpwright.schedule.primitive.ComputeAt;
import dev.warpwright.schedule.primitive.ComputeInline;
import dev.warpwright.schedule.primitive.DecomposeReduction;
import dev.warpwright.schedule.primitive.NormalForm;
import dev.warpwright.schedule.primitive.Pad;
import dev.warpwright.schedule.primitive.ReverseComputeAt;
import dev.warpwright.schedule.primitive.ReverseComputeInline;
import dev.warpwright.schedule.primitive.Rfactor;
import dev.warpwright.schedule.primitive.SetLayout;
import dev.warpwright.schedule.primitive.SetScope;
import dev.warpwright.schedule.primitive.SplitK;
import dev.warpwright.schedule.primitive.Squeeze;
import dev.warpwright.schedule.primitive.StorageAlign;
import dev.warpwright.schedule.primitive.Tensorize;
import dev.warpwright.schedule.primitive.TransformLayout;
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
public final class Schedule extends LoopSession {
  /**
   * Starts a session whose choices are those of seed 0.
   *
   * @param func stays as it is
   * @throws ScheduleError if the function is not in the form that the primitives rely on, see
   *     {@link NormalForm}
   */
  public Schedule(PrimFunc func) {
    this(func, 0);
  }

  /**
   * Starts a session.
   *
   * @param func stays as it is
   * @param seed of what is sampled; the same seed makes the same choices
   * @throws ScheduleError if the function is not in the form that the primitives rely on, see
   *     {@link NormalForm}
   */
  public Schedule(PrimFunc func, long seed) {
    super(func, seed);
  }

  /**
   * The two loops of a {@link #split}.
   *
   * @param outer around the other
   * @param inner of as many iterations as was asked for
   */
  public record Halves(LoopRef outer, LoopRef inner) {}

  // --- where blocks are computed

  /**
   * Moves a producer under a loop of its consumers, to compute there what they read in one
   * iteration; see {@link ComputeAt}.
   *
   * @param block the producer
   * @param loop around its consumers
   */
  public void computeAt(BlockRef block, LoopRef loop) {
    func = ComputeAt.apply(func, block.name(), loop.variable());
    record("computeAt", List.of(block.name(), loop.id()), Map.of(), List.of());
  }

  /**
   * Moves a consumer under a loop of its producers, to use there what one iteration computes; see
   * {@link ReverseComputeAt}.
   *
   * @param block the consumer
   * @param loop around its producers
   */
  public void reverseComputeAt(BlockRef block, LoopRef loop) {
    func = ReverseComputeAt.apply(func, block.name(), loop.variable());
    record("reverseComputeAt", List.of(block.name(), loop.id()), Map.of(), List.of());
  }

  /**
   * Puts what an elementwise block computes in the place of the loads of its result; see {@link
   * ComputeInline}.
   *
   * @param block that goes
   */
  public void computeInline(BlockRef block) {
    func = ComputeInline.apply(func, block.name());
    record("computeInline", List.of(block.name()), Map.of(), List.of());
  }

  /**
   * Lets the producer of a buffer compute what its one consumer, an elementwise block, makes of it;
   * see {@link ReverseComputeInline}.
   *
   * @param block the consumer, which goes
   */
  public void reverseComputeInline(BlockRef block) {
    func = ReverseComputeInline.apply(func, block.name());
    record("reverseComputeInline", List.of(block.name()), Map.of(), List.of());
  }

  /**
   * Takes a reduction apart: partial results for each iteration of a loop, then a reduction of
   * those; see {@link Rfactor}.
   *
   * @param block the reduction
   * @param loop over a part of what is reduced
   * @param axis dimension of the partial results that the loop becomes, from 0
   * @return the block of partial results
   */
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

  /**
   * Divides the depth of a GEMM into parts, which different blocks may sum; see {@link SplitK}.
   *
   * @param block the GEMM
   * @param parts that divide the depth
   * @param combine how the parts come together
   * @return the partial results and the loops over parts
   */
  public Parts splitK(BlockRef block, long parts, Combine combine) {
    return splitK(block, parts, combine, parts);
  }

  /**
   * Divides the depth of a GEMM into as many parts as the number that was sampled.
   *
   * @param block the GEMM
   * @param parts that divide the depth
   * @param combine how the parts come together
   * @return the partial results and the loops over parts
   */
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

  /**
   * Takes the initialisation of a reduction out, to before a loop; see {@link DecomposeReduction}.
   *
   * @param block the reduction
   * @param loop before which it is put
   * @return the block that initialises
   */
  public BlockRef decomposeReduction(BlockRef block, LoopRef loop) {
    DecomposeReduction.Result result =
        DecomposeReduction.apply(func, block.name(), loop.variable());
    func = result.func();
    record(
        "decomposeReduction", List.of(block.name(), loop.id()), Map.of(), List.of(result.init()));
    return new BlockRef(result.init());
  }

  // --- buffers

  /**
   * Says where an intermediate lives; see {@link SetScope}.
   *
   * @param buffer the intermediate
   * @param scope of memory
   */
  public void setScope(BufferRef buffer, Scope scope) {
    func = SetScope.apply(func, buffer.name(), scope);
    record("setScope", List.of(buffer.name()), Map.of("scope", scope.text()), List.of());
  }

  /**
   * Lets blocks read a buffer through a copy; see {@link CacheRead}.
   *
   * @param buffer that is copied
   * @param scope of the copy
   * @param readers blocks that read the copy from now on, at least one
   * @return the block that copies, which has the name of the copy
   */
  public BlockRef cacheRead(BufferRef buffer, Scope scope, BlockRef... readers) {
    return cacheRead(buffer, scope, List.of(readers));
  }

  /**
   * Lets blocks read a buffer through a copy; see {@link CacheRead}.
   *
   * @param buffer that is copied
   * @param scope of the copy
   * @param readers blocks that read the copy from now on, at least one
   * @return the block that copies, which has the name of the copy
   */
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

  /**
   * What {@link #cacheWrite} made.
   *
   * @param copy the block that copies
   * @param buffer of the block's own, which is copied
   */
  public record Written(BlockRef copy, BufferRef buffer) {}

  /**
   * Lets a block write to a buffer of its own, which is copied to the one that it wrote before; see
   * {@link CacheWrite}.
   *
   * @param block that writes
   * @param scope of its buffer
   * @return its buffer and the block that copies
   */
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

  /**
   * Makes an intermediate as small as the box that is accessed where it is allocated; see {@link
   * Compact}.
   *
   * @param buffer the intermediate
   */
  public void compact(BufferRef buffer) {
    func = Compact.apply(func, buffer.name());
    record("compact", List.of(buffer.name()), Map.of(), List.of());
  }

  /**
   * Stores an intermediate with its dimensions in another order; see {@link TransformLayout}.
   *
   * @param buffer the intermediate
   * @param order {@code order[d]} is the old dimension that becomes number d
   */
  public void transformLayout(BufferRef buffer, Integer... order) {
    transformLayout(buffer, List.of(order));
  }

  /**
   * Stores an intermediate with its dimensions in another order; see {@link TransformLayout}.
   *
   * @param buffer the intermediate
   * @param order element d is the old dimension that becomes number d
   */
  public void transformLayout(BufferRef buffer, List<Integer> order) {
    func = TransformLayout.apply(func, buffer.name(), order);
    String text = String.join(",", order.stream().map(String::valueOf).toList());
    record("transformLayout", List.of(buffer.name()), Map.of("order", text), List.of());
  }

  /**
   * Lets a sum of products run over whole tiles: its operands are copies that are zero where there
   * is nothing; see {@link Pad}.
   *
   * @param block the sum
   * @param multiples a number for each iteration variable of the block, of which its extent becomes
   *     a multiple
   */
  public void pad(BlockRef block, Long... multiples) {
    pad(block, List.of(multiples));
  }

  /**
   * Lets a sum of products run over whole tiles: its operands are copies that are zero where there
   * is nothing; see {@link Pad}.
   *
   * @param block the sum
   * @param multiples a number for each iteration variable of the block, of which its extent becomes
   *     a multiple
   */
  public void pad(BlockRef block, List<Long> multiples) {
    pad(block, multiples, Pad.Edge.ZERO);
  }

  /**
   * Pads as {@link #pad(BlockRef, List)}, with {@link Pad.Edge#REPEATED}: only what is summed over
   * is filled with zeros, elsewhere the last element is read again.
   *
   * @param block the sum
   * @param multiples a number for each iteration variable of the block, of which its extent becomes
   *     a multiple
   */
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

  /**
   * Leaves gaps between the rows of an intermediate, so that threads that walk down a column meet
   * different banks; see {@link StorageAlign}.
   *
   * @param buffer the intermediate
   * @param dimension whose stride changes
   * @param factor in elements
   * @param offset what the new stride leaves when divided by {@code factor}
   */
  public void storageAlign(BufferRef buffer, int dimension, long factor, long offset) {
    func = StorageAlign.apply(func, buffer.name(), dimension, factor, offset);
    record(
        "storageAlign",
        List.of(buffer.name()),
        Map.of("dimension", (long) dimension, "factor", factor, "offset", offset),
        List.of());
  }

  /**
   * Says where the elements of an intermediate lie; see {@link SetLayout}.
   *
   * @param buffer the intermediate
   * @param layout from coordinates to elements, of the buffer's shape
   */
  public void setLayout(BufferRef buffer, Layout layout) {
    func = SetLayout.apply(func, buffer.name(), layout);
    record("setLayout", List.of(buffer.name()), Map.of("layout", layout.toString()), List.of());
  }

  // --- tile statements

  /**
   * Makes one block of a loop nest, whose instances are then tiles; the block around which the loop
   * is keeps its name. See {@link Blockize}.
   *
   * @param loop the outermost of a tile
   */
  public void blockize(LoopRef loop) {
    func = Blockize.apply(func, loop.variable());
    record("blockize", List.of(loop.id()), Map.of(), List.of());
  }

  /**
   * Exchanges a block, with the innermost serial loops that are around it alone, by the tile
   * statement that it is; see {@link Tensorize}.
   *
   * @param block of one store
   * @param attrs of the new statement
   */
  public void tensorize(BlockRef block, Attrs attrs) {
    tensorize(block, null, attrs);
  }

  /**
   * Exchanges a block, with the loops around it inside a given loop, by the tile statement that it
   * is; see {@link Tensorize}.
   *
   * @param block of one store
   * @param inside loops inside this one are taken; null for the innermost serial ones
   * @param attrs of the new statement
   */
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
