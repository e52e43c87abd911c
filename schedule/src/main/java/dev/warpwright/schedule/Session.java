package dev.warpwright.schedule;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.Highlight;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.schedule.primitive.NormalForm;
import dev.warpwright.schedule.primitive.SampleCategorical;
import dev.warpwright.schedule.primitive.SamplePerfectTile;
import dev.warpwright.schedule.trace.Decision;
import dev.warpwright.schedule.trace.Instruction;
import dev.warpwright.schedule.trace.Trace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Schedule} is besides its primitives: the function as it is now, the trace of what
 * was done to it, handles of its parts, how it is shown, and choices, which change nothing by
 * themselves.
 */
abstract sealed class Session permits LoopSession {
  PrimFunc func;

  private final RandomGenerator random;
  private final List<Instruction> instructions = new ArrayList<>();
  private final Map<Var, LoopRef> loops = new HashMap<>();
  private int values;

  Session(PrimFunc func, long seed) {
    this.func = NormalForm.check(func);
    this.random = new SplittableRandom(seed);
  }

  /** {@return the function as it is now} */
  public PrimFunc func() {
    return func;
  }

  /** {@return what was done so far} */
  public Trace trace() {
    return new Trace(instructions);
  }

  /**
   * {@return the program as it is now, to be read}
   *
   * @param coloured whether with escape sequences for colours
   */
  public String text(boolean coloured) {
    String text = IrPrinter.text(func);
    return coloured ? Highlight.ansi(text) : text;
  }

  /**
   * Prints the program as it is now to standard output, coloured if that is a terminal and {@code
   * NO_COLOR} is not set.
   */
  public void show() {
    System.out.print(text(Highlight.isWanted()));
    System.out.flush();
  }

  // --- handles

  /**
   * {@return the block of this name}
   *
   * @param name of the block
   * @throws ScheduleError if there is none
   */
  public BlockRef block(String name) {
    if (Tree.pathToBlock(func, name) == null) {
      throw new ScheduleError("block", 1, "there is no block " + name, func, null);
    }
    return new BlockRef(name);
  }

  /** {@return all blocks, in program order} */
  public List<BlockRef> blocks() {
    return Tree.blocks(func.body()).stream().map(b -> new BlockRef(b.name())).toList();
  }

  /**
   * {@return the buffer of this name, a parameter or an intermediate}
   *
   * @param name of the buffer
   * @throws ScheduleError if there is none
   */
  public BufferRef buffer(String name) {
    if (Tree.buffer(func, name) == null) {
      throw new ScheduleError("buffer", 1, "there is no buffer " + name, func, null);
    }
    return new BufferRef(name);
  }

  /**
   * {@return the loops around a block, outermost first}
   *
   * @param block of this function
   */
  public List<LoopRef> loops(BlockRef block) {
    List<Stmt> path = Tree.pathToBlock(func, block.name());
    if (path == null) {
      throw new ScheduleError("loops", 1, "there is no block " + block, func, null);
    }
    List<Stmt.For> found = Tree.loops(path);
    boolean known = found.stream().allMatch(loop -> loops.containsKey(loop.var()));
    List<LoopRef> refs = found.stream().map(loop -> ref(loop.var())).toList();
    if (!known) {
      record("loops", List.of(block.name()), Map.of(), ids(refs));
    }
    return refs;
  }

  /**
   * {@return the number of iterations of a loop, where it is a constant and the loop still exists}
   *
   * @param loop that there is or was
   */
  public OptionalLong extent(LoopRef loop) {
    List<Stmt> path = Tree.pathToLoop(func, loop.variable());
    return path != null
            && path.getLast() instanceof Stmt.For found
            && found.extent() instanceof Expr.IntImm n
        ? OptionalLong.of(n.value())
        : OptionalLong.empty();
  }

  LoopRef ref(Var variable) {
    return loops.computeIfAbsent(variable, v -> new LoopRef("l" + loops.size(), v));
  }

  static List<String> ids(List<LoopRef> refs) {
    return refs.stream().map(LoopRef::id).toList();
  }

  private ValueRef value(long value) {
    return new ValueRef("v" + values++, value);
  }

  void record(String op, List<String> inputs, Map<String, ?> attrs, List<String> outputs) {
    SortedMap<String, Object> sorted = new TreeMap<>(attrs);
    instructions.add(new Instruction(op, inputs, sorted, outputs));
  }

  // --- choices

  /**
   * Chooses factors into which a loop can be split without a rest; see {@link SamplePerfectTile}.
   *
   * @param loop of a constant number of iterations
   * @param parts how many factors
   * @param maxInnermost the greatest last factor
   * @return the factors, outermost first
   */
  public List<ValueRef> samplePerfectTile(LoopRef loop, int parts, long maxInnermost) {
    return samplePerfectTile(loop, parts, maxInnermost, null);
  }

  /**
   * Chooses factors into which a loop can be split without a rest, or takes those given; see {@link
   * SamplePerfectTile}.
   *
   * @param loop of a constant number of iterations
   * @param parts how many factors
   * @param maxInnermost the greatest last factor
   * @param decision the choice, or null to make one
   * @return the factors, outermost first
   */
  public List<ValueRef> samplePerfectTile(
      LoopRef loop, int parts, long maxInnermost, @Nullable List<Long> decision) {
    List<Long> factors =
        SamplePerfectTile.apply(func, loop.variable(), parts, maxInnermost, decision, random);
    List<ValueRef> chosen = factors.stream().map(this::value).toList();
    record(
        "samplePerfectTile",
        List.of(loop.id()),
        Map.of(
            "parts",
            (long) parts,
            "maxInnermost",
            maxInnermost,
            Trace.DECISION,
            Decision.write(factors)),
        chosen.stream().map(ValueRef::id).toList());
    return chosen;
  }

  /**
   * Chooses one of several numbers; see {@link SampleCategorical}.
   *
   * @param candidates to choose from
   * @param weights how likely each is, in proportion
   * @return the number chosen
   */
  public ValueRef sampleCategorical(List<Long> candidates, List<Long> weights) {
    return sampleCategorical(candidates, weights, null);
  }

  /**
   * Chooses one of several numbers, or takes the one given; see {@link SampleCategorical}.
   *
   * @param candidates to choose from
   * @param weights how likely each is, in proportion
   * @param decision the index chosen, or null to choose
   * @return the number chosen
   */
  public ValueRef sampleCategorical(
      List<Long> candidates, List<Long> weights, @Nullable Long decision) {
    int index = SampleCategorical.apply(func, candidates, weights, decision, random);
    ValueRef chosen = value(candidates.get(index));
    record(
        "sampleCategorical",
        List.of(),
        Map.of(
            "candidates",
            Decision.write(candidates),
            "weights",
            Decision.write(weights),
            Trace.DECISION,
            Decision.write(List.of((long) index))),
        List.of(chosen.id()));
    return chosen;
  }
}
