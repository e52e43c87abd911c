package dev.warpwright.measure.timing;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A kernel that also tells where and when it computes what. It writes a row of {@code records:
 * u64[rows, 4]} for each entry of its table {@code order} and each block of the cluster that takes
 * the entry; without a table, for each block. A row is the block's number, the SM's, and the times
 * of begin and end by {@link Intrinsics#GLOBAL_TIMER}.
 *
 * <p>Before: {@code let tile = order[i]; body}. After, in the role that reads the table last, which
 * is the one that computes:
 *
 * <pre>
 * let tile = order[i]
 * if tid == FIRST { records[i * cluster + rank, 0..2] = block, sm.id(), global.timer() }
 * body
 * if tid == FIRST { records[i * cluster + rank, 3] = global.timer() }
 * </pre>
 *
 * <p>{@code FIRST} is the first thread of the role. Where all threads of the block take part, they
 * meet before the end is noted; a role's end is that of its first thread, when it has handed over
 * its part of the result.
 *
 * @param kernel the kernel with {@code records} as its last parameter
 */
public record TimelineProbe(Kernel kernel, Buffer records) {
  /** Numbers in a row. */
  public static final int FIELDS = 4;

  private static final String ORDER = "order";
  private static final int BEGIN = 2;
  private static final int END = 3;

  /**
   * Adds the records.
   *
   * @param kernel a grid kernel for one shape: its table, or else its grid, has constant extents
   * @throws UserError if it has not, or it cannot be told which thread is the first to read
   */
  public static TimelineProbe of(Kernel kernel) {
    return new Placing(kernel).place();
  }

  private static final class Placing {
    private final Kernel kernel;
    private final Expr block;
    private final long cluster;

    /** What differs between the threads of a block. */
    private final Set<Var> ofThreads = new HashSet<>();

    private final @Nullable Var entry;
    private final Buffer records;

    Placing(Kernel kernel) {
      this.kernel = kernel;
      this.cluster = kernel.attrs().getLong("cluster", 1);
      this.block = block();
      for (ThreadBinding binding : kernel.bindings()) {
        if (!binding.axis().isBlock()) {
          ofThreads.add(binding.var());
        }
      }
      Buffer table = null;
      Var last = null;
      List<Stmt.Let> reads = new ArrayList<>();
      Walk.statements(
          kernel.body(),
          s -> {
            if (s instanceof Stmt.Let let && readsTable(let.value())) {
              reads.add(let);
            }
          });
      if (!reads.isEmpty()) {
        table = ((Expr.Load) reads.getLast().value()).buffer();
        last = reads.getLast().var();
      }
      this.entry = last;
      long rows = table == null ? blocks() : rows(table);
      this.records = Buffer.of("records", DType.U64, Scope.GLOBAL, rows, FIELDS);
    }

    private static boolean readsTable(Expr value) {
      return value instanceof Expr.Load load && load.buffer().name().equals(ORDER);
    }

    private long rows(Buffer table) {
      if (!table.hasConstantShape()) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "kernel %s: the length of its order is not known before the shape is",
                kernel.name()));
      }
      return Math.multiplyExact(table.extent(0), cluster);
    }

    private long blocks() {
      long blocks = 1;
      for (ThreadAxis axis : ThreadAxis.values()) {
        if (axis.isBlock()) {
          if (!(kernel.extent(axis) instanceof Expr.IntImm imm)) {
            throw new UserError(
                String.format(
                    Locale.ROOT,
                    "kernel %s: its grid is not known before the shape is",
                    kernel.name()));
          }
          blocks = Math.multiplyExact(blocks, imm.value());
        }
      }
      return blocks;
    }

    private Expr block() {
      Expr number = Exprs.i32(0);
      for (ThreadAxis axis : List.of(ThreadAxis.BLOCK_Z, ThreadAxis.BLOCK_Y, ThreadAxis.BLOCK_X)) {
        Expr index = kernel.binding(axis).<Expr>map(ThreadBinding::var).orElse(Exprs.i32(0));
        number = Exprs.add(Exprs.mul(number, kernel.extent(axis)), index);
      }
      return number;
    }

    TimelineProbe place() {
      Stmt body =
          entry == null ? around(kernel.body(), block, 0, true) : stmt(kernel.body(), 0, true);
      List<Param> params = new ArrayList<>(kernel.params());
      params.add(records);
      return new TimelineProbe(
          new Kernel(kernel.name(), kernel.kind(), params, kernel.bindings(), body, kernel.attrs()),
          records);
    }

    /**
     * The statement with the notes in it.
     *
     * @param first the least thread that gets here
     * @param together whether all threads of the block do
     */
    private Stmt stmt(Stmt s, long first, boolean together) {
      return switch (s) {
        case Stmt.Seq(List<Stmt> stmts) ->
            new Stmt.Seq(stmts.stream().map(inner -> stmt(inner, first, together)).toList());
        case Stmt.For f -> f.withBody(stmt(f.body(), first, together && !differs(f.extent())));
        case Stmt.While(Expr condition, Stmt body) ->
            new Stmt.While(condition, stmt(body, first, together && !differs(condition)));
        case Stmt.If branch -> branch(branch, first, together);
        case Stmt.Let let -> {
          if (differs(let.value())) {
            ofThreads.add(let.var());
          }
          Stmt body = let.body();
          yield new Stmt.Let(
              let.var(),
              let.value(),
              let.var().equals(entry)
                  ? around(body, row((Expr.Load) let.value()), first, together)
                  : stmt(body, first, together));
        }
        case Stmt.Alloc(Buffer buffer, Stmt body) ->
            new Stmt.Alloc(buffer, stmt(body, first, together));
        case Stmt.Store _,
            Stmt.Evaluate _,
            Stmt.Comment _,
            Stmt.Block _,
            Stmt.TileCopy _,
            Stmt.TileFill _,
            Stmt.TileMma _,
            Stmt.TileMap _,
            Stmt.TileReduce _,
            Stmt.Flow _ ->
            s;
      };
    }

    private Stmt branch(Stmt.If branch, long first, boolean together) {
      Stmt otherwise = branch.otherwise();
      if (!differs(branch.condition())) {
        return new Stmt.If(
            branch.condition(),
            stmt(branch.then(), first, together),
            otherwise == null ? null : stmt(otherwise, first, together));
      }
      boolean within = holdsEntry(branch.then()) || otherwise != null && holdsEntry(otherwise);
      if (!within) {
        return branch;
      }
      if (!(branch.condition() instanceof Expr.Binary(BinaryOp op, Var thread, Expr.IntImm bound))
          || !isThread(thread)) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "kernel %s: which of its threads read the order last, and so compute, is not plain",
                kernel.name()));
      }
      long at = bound.value();
      boolean above = op == BinaryOp.GE || op == BinaryOp.EQ;
      return new Stmt.If(
          branch.condition(),
          stmt(branch.then(), above ? Math.max(first, at) : first, false),
          otherwise == null
              ? null
              : stmt(otherwise, op == BinaryOp.LT ? Math.max(first, at) : first, false));
    }

    private boolean isThread(Var v) {
      return kernel.binding(ThreadAxis.THREAD_X).filter(b -> b.var().equals(v)).isPresent();
    }

    private boolean holdsEntry(Stmt s) {
      boolean[] found = {false};
      Walk.statements(s, inner -> found[0] |= inner instanceof Stmt.Let l && l.var().equals(entry));
      return found[0];
    }

    private boolean differs(Expr e) {
      boolean[] found = {false};
      Walk.expressions(e, inner -> found[0] |= inner instanceof Var v && ofThreads.contains(v));
      return found[0];
    }

    /** Which row an entry of the table and this block have. */
    private Expr row(Expr.Load read) {
      Expr index = read.indices().getFirst();
      return cluster == 1 ? index : Exprs.add(Exprs.mul(index, cluster), Exprs.mod(block, cluster));
    }

    /**
     * Notes around a body; the row is kept, should the body draw the next ticket before it ends.
     */
    private Stmt around(Stmt body, Expr row, long first, boolean together) {
      boolean[] changes = {false};
      Walk.expressions(row, inner -> changes[0] |= inner instanceof Expr.Load);
      if (changes[0]) {
        Var kept = Var.index("record");
        return new Stmt.Let(kept, row, noted(body, kept, first, together));
      }
      return noted(body, row, first, together);
    }

    private Stmt noted(Stmt body, Expr row, long first, boolean together) {
      List<Stmt> stmts = new ArrayList<>();
      stmts.add(
          new Stmt.If(
              elected(first),
              new Stmt.Seq(
                  List.of(
                      note(row, 0, block),
                      note(row, 1, value(Intrinsics.SM_ID)),
                      note(row, BEGIN, value(Intrinsics.GLOBAL_TIMER)))),
              null));
      stmts.add(body);
      if (together) {
        stmts.add(Exprs.evaluate(Intrinsics.SYNC_THREADS));
      }
      stmts.add(new Stmt.If(elected(first), note(row, END, value(Intrinsics.GLOBAL_TIMER)), null));
      return Stmts.seq(stmts);
    }

    private static Expr value(TargetIntrinsic clock) {
      return new Expr.Call(clock, List.of(), Objects.requireNonNull(clock.result()));
    }

    private Stmt note(Expr row, int field, Expr value) {
      return new Stmt.Store(records, List.of(row, Exprs.i32(field)), Exprs.cast(DType.U64, value));
    }

    private Expr elected(long first) {
      Expr condition = Exprs.bool(true);
      for (ThreadBinding binding : kernel.bindings()) {
        if (!binding.axis().isBlock()) {
          boolean x = binding.axis() == ThreadAxis.THREAD_X;
          condition =
              Exprs.and(
                  condition, new Expr.Binary(BinaryOp.EQ, binding.var(), Exprs.i32(x ? first : 0)));
        }
      }
      return condition;
    }
  }
}
