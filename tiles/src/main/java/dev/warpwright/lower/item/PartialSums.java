package dev.warpwright.lower.item;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.WorkList;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How the parts of a tile come together, where its steps are divided ({@link WorkItems}).
 *
 * <p>Whoever begins a part takes a number. Who has the last one, waits until all others have
 * written their sums to the workspace, adds them to its own in the order of the parts, and goes on
 * with the epilogue. The others have begun by then. All that may hold them up is another warpgroup
 * of their block, or a block of their cluster, that still waits at an earlier tile, for workers
 * take tiles in ascending order; so no order in which blocks start can lead to a deadlock. The
 * order of the sum does not depend on who is last, so neither do its bits.
 *
 * <p>The last one also sets both counters of the tile back to zero, for the next launch: nobody
 * looks at them any more.
 *
 * @param division how many parts there are
 * @param workspace {@code [cells, registers / lanes, threads, lanes]}, a cell for the sums of one
 *     group of one part
 * @param counters {@code u32[2 · cells]}: for a group of a tile's first part, how many have begun
 *     and how many have written
 * @param turn shared {@code u32[groups]}: the number of this part
 * @param sums registers of a thread
 * @param groups of threads in a block, which hold rows of a tile and combine them by themselves
 * @param threads of a group
 * @param chunk registers of other parts that a thread adds up at once, beside its sums
 */
public record PartialSums(
    Division division,
    Buffer workspace,
    Buffer counters,
    Buffer turn,
    Buffer ticket,
    Buffer last,
    Buffer sums,
    int groups,
    int threads,
    int chunk,
    Function<Expr, Stmt> barrier) {
  /** The parameter that counts, where nothing else does. */
  public static final String COUNTERS = "counters";

  /** Bytes of an access. */
  private static final int ACCESS = 16;

  /** Registers that are read at once, where a thread has them. */
  private static final int[] CHUNKS = {32, 16, 8};

  /** Registers of 32 bits that a thread needs beside its sums and those of other parts. */
  private static final int OTHER_REGISTERS = 42;

  /**
   * What parts there are.
   *
   * @param slots parts of all tiles that have several, of one block of a cluster
   * @param pairs whether there are tiles of two parts
   * @param more whether there are tiles of more parts
   * @param blocks of a cluster: so far apart are the slots of a tile's parts
   */
  public record Division(long slots, boolean pairs, boolean more, long blocks) {
    /** Whether there are tiles of two parts. */
    public static boolean hasPairs(WorkList list) {
      return list.items().stream().anyMatch(item -> item.parts() == 2);
    }

    /** Whether there are tiles of more parts. */
    public static boolean hasMore(WorkList list) {
      return list.items().stream().anyMatch(item -> item.parts() > 2);
    }
  }

  /**
   * Requires what parts can be added of.
   *
   * @throws LoweringException if the program does not add up one tile from zero
   */
  public static void requireOneSum(PipelinedProgram program, DType dtype) {
    if (program.products().stream().map(mma -> mma.c().buffer()).distinct().count() != 1
        || program.fragments().size() != 1
        || !(program.fill(program.fragments().getFirst()) instanceof Stmt.TileFill fill)
        || !fill.value().equals(Exprs.zero(Type.of(dtype)))
        || dtype.bytes() < 4) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "work is divided, but loop %s does not add up one tile of 4 or 8 bytes an element"
                  + " from zero",
              program.loop().var()));
    }
  }

  /**
   * The combination for a lowering's groups.
   *
   * @param sums registers of a thread that hold the sums of the tile's product
   * @param groups of threads in a block
   * @param registers of 32 bits that a thread has: what is read at once must not make it spill
   * @param counters the name of the parameter that counts the parts
   * @param barrier of a group, given its number
   */
  public static PartialSums of(
      Division division,
      Buffer sums,
      int groups,
      int threads,
      int registers,
      String counters,
      Function<Expr, Stmt> barrier) {
    if (sums.extent(0) % (ACCESS / sums.dtype().bytes()) != 0) {
      throw new LoweringException(
          "work is divided, but a thread's sums " + sums.name() + " are no multiple of 16 bytes");
    }
    long cells = Math.max(1, division.slots() * division.blocks() * groups);
    int lanes = ACCESS / sums.dtype().bytes();
    Buffer workspace =
        Buffer.of(
            "partial", sums.dtype(), Scope.GLOBAL, cells, sums.extent(0) / lanes, threads, lanes);
    return new PartialSums(
        division,
        workspace,
        Buffer.of(counters, DType.U32, Scope.GLOBAL, 2 * cells),
        Buffer.of("turn", DType.U32, Scope.SHARED, groups),
        Buffer.of("ticket", DType.U32, Scope.LOCAL, 1),
        Buffer.of("last", DType.I32, Scope.LOCAL, 1),
        sums,
        groups,
        threads,
        chunk(sums, registers),
        barrier);
  }

  /** The most registers of other parts that fit, 8 where none do. */
  private static int chunk(Buffer sums, int registers) {
    int words = Math.max(1, sums.dtype().bytes() / 4);
    int chunk = CHUNKS[0];
    for (int i = 1;
        i < CHUNKS.length && (sums.extent(0) + chunk) * words + OTHER_REGISTERS > registers;
        i++) {
      chunk = CHUNKS[i];
    }
    return chunk;
  }

  private int lanes() {
    return ACCESS / sums.dtype().bytes();
  }

  /** The kernel's parameters for them. */
  public List<Param> params() {
    return List.of(workspace, counters);
  }

  /** Local memory of a thread. */
  public List<Buffer> registers() {
    return List.of(ticket, last);
  }

  /**
   * The code of a group for one item.
   *
   * @param part which it is
   * @param group its number in the block
   * @param thread the thread in the group
   * @param product what computes the part's sums
   * @param epilogue what follows the sums of a whole tile
   */
  public Stmt around(
      WorkItems.@Nullable Part part, Expr group, Expr thread, Stmt product, Stmt epilogue) {
    if (part == null) {
      throw new IllegalArgumentException("tiles are whole");
    }
    Var cell = Var.index("cell");
    Expr divided = Exprs.lt(Exprs.i32(1), part.count());
    Expr first = Exprs.eq(thread, Exprs.i32(0));
    Stmt begin =
        new Stmt.If(
            Exprs.and(divided, first),
            set(ticket, call(CounterIntrinsics.ATOMIC_ADD, counter(cell, 0), one())),
            null);
    Stmt code =
        Stmts.seq(
            set(ticket, Exprs.constant(Type.U32, 0)),
            begin,
            product,
            set(last, Exprs.i32(1)),
            new Stmt.If(divided, combine(part, cell, group, thread, first), null),
            new Stmt.If(Exprs.eq(at(last), Exprs.i32(1)), epilogue, null));
    return new Stmt.Let(cell, cell(part.slot(), group), code);
  }

  private Stmt combine(WorkItems.Part part, Var cell, Expr group, Expr thread, Expr first) {
    Expr others = Exprs.cast(DType.U32, Exprs.add(part.count(), -1));
    List<Expr> ours = List.of(group);
    Expr written = call(CounterIntrinsics.LOAD_ACQUIRE, counter(cell, 1));
    Stmt leave =
        Stmts.seq(
            each(cellOf(cell, part.number()), thread, true),
            barrier.apply(group),
            new Stmt.If(
                first,
                Exprs.evaluate(CounterIntrinsics.RED_RELEASE, counter(cell, 1), one()),
                null),
            set(last, Exprs.i32(0)));
    Stmt finish =
        Stmts.seq(
            new Stmt.If(
                first,
                Stmts.seq(
                    new Stmt.While(Exprs.lt(written, others), Stmt.Seq.EMPTY),
                    reset(cell, 0),
                    reset(cell, 1)),
                null),
            barrier.apply(group),
            others(part, cell, thread));
    return Stmts.seq(
        new Stmt.If(first, new Stmt.Store(turn, ours, at(ticket)), null),
        barrier.apply(group),
        new Stmt.If(Exprs.lt(new Expr.Load(turn, ours), others), leave, finish));
  }

  /** Adds the other parts; those of a tile of two are read without waiting in between. */
  private Stmt others(WorkItems.Part part, Var cell, Expr thread) {
    if (!division.pairs()) {
      return inOrder(part, cell, thread);
    }
    Stmt one = otherOfTwo(part, cell, thread);
    return division.more()
        ? new Stmt.If(Exprs.eq(part.count(), Exprs.i32(2)), one, inOrder(part, cell, thread))
        : one;
  }

  /** With two numbers the order of a sum does not matter. */
  private Stmt otherOfTwo(WorkItems.Part part, Var cell, Expr thread) {
    Expr other = Exprs.sub(Exprs.i32(1), part.number());
    return each(cellOf(cell, other), thread, false);
  }

  /** Writes all sums of a thread to a cell, or adds the cell's to them. */
  private Stmt each(Expr theCell, Expr thread, boolean write) {
    Var at = Var.index("at");
    Stmt loop =
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            sums.extent(0) / lanes(),
            r ->
                write
                    ? ThreadCode.withTemporary(
                        "packed",
                        sums.dtype(),
                        lanes(),
                        packed ->
                            Stmts.seq(
                                ThreadCode.each(packed, (v, type) -> sum(r, v)),
                                ThreadCode.move(
                                    workspace, place(at, r, thread), packed, zero(), lanes())))
                    : read(at, r, thread, (v, value) -> addTo(sums, register(r, v), value)));
    return new Stmt.Let(at, theCell, loop);
  }

  /**
   * The sum of all parts in their order: those before this one are added up apart. It begins from
   * zero whichever part this is, so that zeros get the same sign.
   */
  private Stmt inOrder(WorkItems.Part part, Var cell, Expr thread) {
    List<Stmt> stmts = new ArrayList<>();
    for (long begin = 0; begin < sums.extent(0); begin += chunk) {
      stmts.add(inOrder(part, cell, thread, begin, Math.min(chunk, sums.extent(0) - begin)));
    }
    return Stmts.seq(stmts);
  }

  /** The same for some registers. */
  private Stmt inOrder(WorkItems.Part part, Var cell, Expr thread, long begin, long width) {
    long from = begin / lanes();
    Buffer earlier = Buffer.of("earlier", sums.dtype(), Scope.LOCAL, width);
    Stmt zero =
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            width,
            r -> new Stmt.Store(earlier, List.of(r), Exprs.zero(Type.of(sums.dtype()))));
    Stmt before =
        parts(
            part,
            cell,
            Exprs.i32(0),
            part.number(),
            width,
            at ->
                r ->
                    read(
                        at,
                        Exprs.add(r, from),
                        thread,
                        (v, value) -> addTo(earlier, register(r, v), value)));
    Stmt own =
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            width,
            r -> {
              Expr index = Exprs.add(r, begin);
              Expr all = Exprs.add(new Expr.Load(earlier, List.of(r)), load(index));
              return new Stmt.Store(sums, List.of(index), all);
            });
    Expr next = Exprs.add(part.number(), 1);
    Stmt after =
        parts(
            part,
            cell,
            next,
            Exprs.sub(part.count(), next),
            width,
            at ->
                r ->
                    read(
                        at,
                        Exprs.add(r, from),
                        thread,
                        (v, value) -> addTo(sums, register(Exprs.add(r, from), v), value)));
    return new Stmt.Alloc(earlier, Stmts.seq(zero, before, own, after));
  }

  /** Goes through some parts, and through the registers of a chunk. */
  private Stmt parts(
      WorkItems.Part part,
      Var cell,
      Expr first,
      Expr count,
      long width,
      Function<Var, Function<Expr, Stmt>> body) {
    Var p = Var.index("p");
    Var at = Var.index("at");
    Stmt loop = Stmts.loop(ForKind.UNROLLED, "r", width / lanes(), r -> body.apply(at).apply(r));
    return Stmt.For.of(
        ForKind.SERIAL, p, count, new Stmt.Let(at, cellOf(cell, Exprs.add(first, p)), loop));
  }

  /** What is done with a value that was read. */
  private interface Use {
    Stmt of(Expr lane, Expr value);
  }

  private Stmt read(Expr at, Expr r, Expr thread, Use use) {
    return ThreadCode.withTemporary(
        "packed",
        sums.dtype(),
        lanes(),
        packed ->
            Stmts.seq(
                ThreadCode.move(packed, zero(), workspace, place(at, r, thread), lanes()),
                Stmts.loop(
                    ForKind.UNROLLED,
                    "v",
                    lanes(),
                    v -> use.of(v, new Expr.Load(packed, List.of(v))))));
  }

  private static Stmt addTo(Buffer to, Expr index, Expr value) {
    return new Stmt.Store(to, List.of(index), Exprs.add(new Expr.Load(to, List.of(index)), value));
  }

  private Expr register(Expr r, Expr v) {
    return Exprs.add(Exprs.mul(r, lanes()), v);
  }

  private Expr sum(Expr r, Expr v) {
    return load(register(r, v));
  }

  private Expr load(Expr register) {
    return new Expr.Load(sums, List.of(register));
  }

  private static List<Expr> place(Expr at, Expr r, Expr thread) {
    return List.of(at, r, thread, Exprs.i32(0));
  }

  private static List<Expr> zero() {
    return List.of(Exprs.i32(0));
  }

  private static Expr one() {
    return Exprs.constant(Type.U32, 1);
  }

  /** The cell of a group in a slot of its block. */
  private Expr cell(Expr slot, Expr group) {
    return Exprs.add(Exprs.mul(slot, groups), group);
  }

  private Expr cellOf(Var cell, Expr number) {
    return Exprs.add(cell, Exprs.mul(number, division.blocks() * groups));
  }

  private Expr counter(Expr cell, int which) {
    return new Expr.AddressOf(counters, List.of(Exprs.add(Exprs.mul(cell, 2), which)));
  }

  private Stmt reset(Expr cell, int which) {
    return new Stmt.Store(
        counters, List.of(Exprs.add(Exprs.mul(cell, 2), which)), Exprs.constant(Type.U32, 0));
  }

  private static Stmt set(Buffer local, Expr value) {
    return new Stmt.Store(local, zero(), value);
  }

  private static Expr at(Buffer local) {
    return new Expr.Load(local, zero());
  }

  private static Expr call(TargetIntrinsic intrinsic, Expr... args) {
    return new Expr.Call(intrinsic, List.of(args), Type.U32);
  }
}
