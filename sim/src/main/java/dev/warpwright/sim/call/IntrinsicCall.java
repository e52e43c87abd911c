package dev.warpwright.sim.call;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.expr.OperandCode;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.target.intrinsic.Lanes;
import dev.warpwright.target.intrinsic.Meaning;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.Work;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A call of an intrinsic that computes, compiled. */
final class IntrinsicCall {
  /** Receives the result of a lane, as bits. */
  public interface ResultSink {
    void set(Frame f, long bits);
  }

  private final Context context;
  private final Stmt where;
  private final Intrinsic intrinsic;
  private final Meaning meaning;
  private final Work work;

  /** Whether it copies asynchronously, which counts when it starts. */
  private final boolean copies;

  private final Operand[] operands;
  private final Counting.@Nullable Site[] sites;

  /** One argument: either an address or a value. */
  private static final class Operand {
    final Intrinsic.Operand declared;
    final @Nullable MemoryAccess access;
    final @Nullable Buffer buffer;
    final LongExpr value;
    final @Nullable OperandCode code;
    final int slot;

    /** Of the buffer's elements: the logarithm of their bytes. */
    final int shift;

    /** Bytes of which an address must be a multiple; 0 if the buffer itself is not. */
    final int alignment;

    Operand(
        Intrinsic.Operand declared,
        @Nullable MemoryAccess access,
        @Nullable Buffer buffer,
        LongExpr value,
        @Nullable OperandCode code) {
      this.declared = declared;
      this.access = access;
      this.buffer = buffer;
      this.value = value;
      this.code = code;
      slot = access == null ? -1 : access.slot();
      shift = buffer == null ? 0 : Integer.numberOfTrailingZeros(buffer.dtype().bytes());
      alignment =
          buffer == null || buffer.alignment() < alignment(declared) ? 0 : alignment(declared);
    }

    /** An operand of any type is counted in bytes and aligned as a whole. */
    static int alignment(Intrinsic.Operand declared) {
      return declared.dtype() == null ? declared.elements() : 4;
    }
  }

  IntrinsicCall(
      ExprCompiler exprs, Intrinsic intrinsic, TargetIntrinsic.Computes computes, List<Expr> args) {
    this.context = exprs.context();
    this.where = exprs.where();
    this.intrinsic = intrinsic;
    this.meaning = computes.meaning();
    this.work = computes.work();
    this.copies = work instanceof Work.AsynchronousCopy;
    if (args.size() != intrinsic.operands().size()) {
      throw new IllegalArgumentException(
          context.source().name()
              + ": "
              + intrinsic.text()
              + " takes "
              + intrinsic.operands().size()
              + " arguments in '"
              + context.source().excerpt(where)
              + "'");
    }
    operands = new Operand[args.size()];
    for (int i = 0; i < operands.length; i++) {
      Intrinsic.Operand declared = intrinsic.operands().get(i);
      OperandCode code = exprs.operand(args.get(i));
      if (args.get(i) instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices)) {
        MemoryAccess access = new MemoryAccess(exprs, buffer, indices);
        operands[i] = new Operand(declared, access, buffer, access.uncheckedOffset(), code);
      } else if (declared.isAddress()) {
        throw new IllegalArgumentException(
            context.source().name()
                + ": "
                + declared.name()
                + " of "
                + intrinsic.text()
                + " must be an address in '"
                + context.source().excerpt(where)
                + "'");
      } else {
        operands[i] = new Operand(declared, null, null, exprs.bits(args.get(i)), code);
      }
    }
    sites = new Counting.Site[operands.length];
    for (int i = 0; i < operands.length; i++) {
      sites[i] = site(operands[i]);
    }
  }

  private Counting.@Nullable Site site(Operand operand) {
    if (operand.buffer == null || !context.counts()) {
      return null;
    }
    boolean reads = operand.declared.access() == Intrinsic.Access.READ;
    boolean matrix = work instanceof Work.MatrixMove;
    Counting.Kind kind =
        switch (operand.buffer.scope()) {
          case SHARED ->
              matrix
                  ? reads ? Counting.Kind.MATRIX_LOAD : Counting.Kind.MATRIX_STORE
                  : reads
                      ? Counting.Kind.SHARED_LOAD
                      : copies ? Counting.Kind.ASYNC_STORE : Counting.Kind.SHARED_STORE;
          case GLOBAL -> reads ? Counting.Kind.ASYNC_LOAD : Counting.Kind.GLOBAL_STORE;
          case LOCAL, SHARED_CLUSTER, FRAGMENT -> null;
        };
    return kind == null ? null : new Counting.Site(where, kind, operand.slot);
  }

  /** The call with its arguments as they are now, for some lanes of a warp or one thread. */
  Prepared prepare(Frame[] frames, int mask, ResultSink results) {
    return new Prepared(frames, mask, results);
  }

  /** One execution of the call. */
  final class Prepared implements Lanes {
    private final Frame[] frames;
    private final int mask;
    private final ResultSink results;

    /** Byte offset of an address, or the value, for each operand and lane. */
    private final long[][] values;

    /** Lanes whose address is outside its buffer, for each operand. */
    private final int[] outside;

    private Prepared(Frame[] frames, int mask, ResultSink results) {
      this.frames = frames;
      this.mask = mask;
      this.results = results;
      values = new long[operands.length][frames.length];
      outside = new int[operands.length];
      for (int i = 0; i < operands.length; i++) {
        Operand operand = operands[i];
        if (operand.code != null) {
          outside[i] = operand.code.compute(frames, mask, values[i]);
          continue;
        }
        for (int lane = 0; lane < frames.length; lane++) {
          if (active(lane)) {
            Frame f = frames[lane];
            long value = operand.value.eval(f);
            if (operand.access != null && operand.buffer != null) {
              value *= operand.buffer.dtype().bytes();
              outside[i] |= operand.access.inBounds(f) ? 0 : 1 << lane;
            }
            values[i][lane] = value;
          }
        }
      }
    }

    void execute() {
      if (!copies) {
        countRequests();
      }
      try {
        meaning.execute(this);
      } catch (IllegalStateException e) {
        throw context.fault(
            Finding.Kind.INTRINSIC, where, frames[0], "", String.valueOf(e.getMessage()));
      }
    }

    /** Counts what the lanes access. */
    private void countRequests() {
      if (!context.counts() || frames[0].requests == null) {
        return;
      }
      if (work instanceof Work.Mma product) {
        frames[0].requests.counting().matrixMultiplyAdds(product.multiplyAdds());
      }
      int lanes = work instanceof Work.MatrixMove move ? move.lanesWithRows() : frames.length;
      for (int i = 0; i < operands.length; i++) {
        Counting.Site site = sites[i];
        if (site == null) {
          continue;
        }
        Operand operand = operands[i];
        DType dtype = operand.declared.dtype() == null ? DType.U8 : operand.declared.dtype();
        int bytes = operand.declared.elements() * dtype.bytes();
        for (int lane = 0; lane < lanes; lane++) {
          Frame f = frames[Math.min(lane, frames.length - 1)];
          // Copies of no bytes write zeros, and read nothing.
          boolean skipped =
              site.kind() == Counting.Kind.ASYNC_LOAD
                  && values[operands.length - 1][Math.min(lane, frames.length - 1)] == 0;
          if (active(lane) && !skipped && f.requests != null) {
            f.requests.access(
                site, f.laneBit, values[i][lane], bytes, f.memory[operand.slot].length);
          }
        }
      }
    }

    /** Marks what the call will write as not there yet. */
    void beginWrites() {
      countRequests();
      for (int i = 0; i < operands.length; i++) {
        Operand operand = operands[i];
        if (operand.buffer == null || operand.declared.access() != Intrinsic.Access.WRITE) {
          continue;
        }
        DType dtype = operand.declared.dtype() == null ? DType.U8 : operand.declared.dtype();
        int bytes = operand.declared.elements() * dtype.bytes();
        for (int lane = 0; lane < frames.length; lane++) {
          if (active(lane)) {
            for (int at = 0; at < bytes; at += 4) {
              beginWrite(operand, frames[lane], check(i, lane, at));
            }
          }
        }
      }
    }

    @Override
    public int count() {
      return frames.length;
    }

    @Override
    public boolean active(int lane) {
      return (mask >>> lane & 1) != 0;
    }

    @Override
    public int load32(int operand, int lane, int byteOffset) {
      int at = check(operand, lane, byteOffset);
      Operand o = operands[operand];
      Frame f = frames[lane];
      read(o, f, at);
      return Bytes.getInt(f.memory[o.slot], at);
    }

    @Override
    public void store32(int operand, int lane, int byteOffset, int bits) {
      int at = check(operand, lane, byteOffset);
      Operand o = operands[operand];
      Frame f = frames[lane];
      write(o, f, at);
      Bytes.putInt(f.memory[o.slot], at, bits);
    }

    @Override
    public void load(int operand, int lane, int[] words) {
      Operand o = operands[operand];
      Frame f = frames[lane];
      if (isFine(operand, lane, 0) && isFine(operand, lane, 4 * words.length - 4)) {
        int at = (int) values[operand][lane];
        Shadow shadow = f.shadows[o.slot];
        if (shadow != null) {
          int first = at >> o.shift;
          shadow.read(f, first, (at + 4 * words.length - 1 >> o.shift) - first + 1, where);
        }
        for (int i = 0; i < words.length; i++) {
          words[i] = Bytes.getInt(f.memory[o.slot], at + 4 * i);
        }
      } else {
        Lanes.super.load(operand, lane, words);
      }
    }

    @Override
    public void store(int operand, int lane, int[] words) {
      Operand o = operands[operand];
      Frame f = frames[lane];
      Shadow shadow = f.shadows[o.slot];
      if (o.shift == 2
          && shadow != null
          && isFine(operand, lane, 0)
          && isFine(operand, lane, 4 * words.length - 4)
          && shadow.writeOwn((int) values[operand][lane] >> 2, words.length)) {
        for (int i = 0; i < words.length; i++) {
          Bytes.putInt(f.memory[o.slot], (int) values[operand][lane] + 4 * i, words[i]);
        }
      } else {
        Lanes.super.store(operand, lane, words);
      }
    }

    @Override
    public long value(int operand, int lane) {
      return values[operand][lane];
    }

    @Override
    public void result(int lane, long bits) {
      results.set(frames[lane], bits);
    }

    /** Byte offset of a 4-byte access, which is in bounds and aligned. */
    private int check(int operand, int lane, int byteOffset) {
      return isFine(operand, lane, byteOffset)
          ? (int) (values[operand][lane] + byteOffset)
          : refuse(operand, lane, byteOffset);
    }

    private boolean isFine(int operand, int lane, int byteOffset) {
      Operand o = operands[operand];
      long start = values[operand][lane];
      long place = start + byteOffset;
      return o.alignment != 0
          && (outside[operand] >>> lane & 1) == 0
          && (start & o.alignment - 1) == 0
          && place >= 0
          && place + 4 <= frames[lane].memory[o.slot].length;
    }

    /** Says what is wrong with an access. */
    private int refuse(int operand, int lane, int byteOffset) {
      Operand o = operands[operand];
      Frame f = frames[lane];
      Buffer buffer = o.buffer;
      MemoryAccess access = o.access;
      if (buffer == null || access == null) {
        throw new IllegalStateException(
            intrinsic.text() + " uses the value " + o.declared.name() + " as an address");
      }
      long base = values[operand][lane];
      long at = base + byteOffset;
      if ((outside[operand] >>> lane & 1) != 0 || at < 0 || at + 4 > f.memory[o.slot].length) {
        throw context.fault(
            Finding.Kind.OUT_OF_BOUNDS,
            where,
            f,
            Source.element(buffer, access.coordinates(f)) + " + " + byteOffset + " bytes",
            "operand " + o.declared.name() + ", the buffer is " + buffer);
      }
      throw context.fault(
          Finding.Kind.MISALIGNED,
          where,
          f,
          Source.element(buffer, access.coordinates(f)),
          "operand "
              + o.declared.name()
              + " needs "
              + Operand.alignment(o.declared)
              + " bytes, buffer has "
              + buffer.alignment()
              + ", byte offset is "
              + base);
    }

    /** Reads the elements in 4 bytes. */
    private void read(Operand o, Frame f, int at) {
      Shadow shadow = f.shadows[o.slot];
      if (shadow != null) {
        for (int e = at >> o.shift; e <= at + 3 >> o.shift; e++) {
          shadow.read(f, e, where);
        }
      }
    }

    /** Writes them, or completes a copy to them: one of 8 bytes with its second half. */
    private void write(Operand o, Frame f, int at) {
      Shadow shadow = f.shadows[o.slot];
      if (shadow != null) {
        for (int e = at >> o.shift; e <= at + 3 >> o.shift; e++) {
          if (!copies) {
            shadow.write(f, e, where);
          } else if (e < at + 4 >> o.shift) {
            shadow.complete(f, e, where);
          }
        }
      }
    }

    /** Begins to copy to elements: to one of 8 bytes with its first half. */
    private void beginWrite(Operand o, Frame f, int at) {
      Shadow shadow = f.shadows[o.slot];
      if (shadow != null && (at & (1 << o.shift) - 1) == 0) {
        for (int e = at >> o.shift; e <= at + 3 >> o.shift; e++) {
          shadow.beginWrite(f, e, where);
        }
      }
    }
  }
}
