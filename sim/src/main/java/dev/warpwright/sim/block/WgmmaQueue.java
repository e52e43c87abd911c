package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Clock;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import java.util.ArrayList;
import java.util.List;

/**
 * The products of one warpgroup in execution. Its four warps issue the same ones; a product is done
 * when all four have issued it and someone waits for its group. The agent's ticks are groups.
 */
public final class WgmmaQueue {
  public static final int WARPS = 4;
  private static final int WARP = 32;

  private final Context context;
  private final BlockRun block;
  private final int agent;
  private final int firstWarp;
  private final List<Group> groups = new ArrayList<>();
  private final int[] committed = new int[WARPS];
  private final int[] waited = new int[WARPS];
  private int done;

  private static final class Group {
    List<Wgmma> products = new ArrayList<>();
    final int[] issued = new int[WARPS];
    int closed;

    /** A product needs all four warps: what they read before it has been read. */
    final Clock reads = new Clock();
  }

  /**
   * A product as issued.
   *
   * @param slot of the buffer with the registers of D
   * @param first byte of them in it
   * @param a where A lies
   * @param b where the rows of B lie
   */
  public record Wgmma(
      WgmmaGemm meaning, int slot, int first, First a, SharedRows b, boolean adds, Stmt where) {

    /** Bytes of the registers of D. */
    int bytes() {
      return meaning.elements() * meaning.accumulators().bytes();
    }

    /** Whether it writes or reads some of these bytes of a buffer of registers. */
    boolean uses(int registers, int from, int count) {
      return overlaps(slot, first, bytes(), registers, from, count)
          || (a instanceof Fragment f
              && overlaps(f.slot, f.first, Fragment.BYTES, registers, from, count));
    }

    private static boolean overlaps(
        int mySlot, int mine, int myCount, int slot, int first, int count) {
      return mySlot == slot && mine < first + count && first < mine + myCount;
    }
  }

  /** Where A of a product lies. */
  public sealed interface First {}

  /** In shared memory. */
  public record Tile(SharedRows rows) implements First {}

  /**
   * In registers of each thread.
   *
   * @param slot of their buffer
   * @param first byte of them in it
   */
  public record Fragment(int slot, int first) implements First {
    static final int BYTES = 4 * WgmmaGemm.A_REGISTERS;
  }

  WgmmaQueue(Context context, BlockRun block, int group) {
    this.context = context;
    this.block = block;
    this.firstWarp = group * WARPS;
    this.agent = block.agents().add(block, "a wgmma of warpgroup " + group);
  }

  /** One warp issues a product; what it reads and writes has been checked for that warp. */
  public void issue(Warp w, Wgmma product) {
    int member = w.index - firstWarp;
    Group group = group(committed[member]);
    int number = group.issued[member]++;
    if (number == group.products.size()) {
      group.products.add(product);
    } else if (!group.products.get(number).equals(product)) {
      throw context.fault(
          Finding.Kind.INTRINSIC,
          product.where(),
          w.lanes[0],
          "",
          "the warps of the warpgroup execute different wgmma: "
              + product
              + " and "
              + group.products.get(number));
    }
    block.outstanding.learn(agent, committed[member] + 1);
  }

  /** The epoch at whose end the warp's next products are done. */
  public long epoch(Warp w) {
    return w.actor.epoch(agent, committed[w.index - firstWarp] + 1);
  }

  private Group group(int number) {
    while (groups.size() <= number) {
      groups.add(new Group());
    }
    return groups.get(number);
  }

  public void commit(Warp w) {
    int member = w.index - firstWarp;
    Group group = group(committed[member]);
    group.closed++;
    if (!group.products.isEmpty()) {
      w.actor.releaseReads(group.reads);
    }
    committed[member]++;
  }

  /** Whether all warps have issued what this one waits for. */
  public boolean isIssued(Warp w, long pending) {
    for (int g = done; g < committed[w.index - firstWarp] - pending; g++) {
      if (groups.get(g).closed < WARPS) {
        return false;
      }
    }
    return true;
  }

  /** Does all but so many of the groups; afterwards the warp has its registers. */
  public void await(Warp w, long pending) {
    int member = w.index - firstWarp;
    int target = (int) Math.max(committed[member] - pending, waited[member]);
    for (; done < target; done++) {
      Group group = groups.get(done);
      for (Wgmma product : group.products) {
        execute(product);
      }
    }
    for (int g = waited[member]; g < target; g++) {
      w.actor.clock.join(groups.get(g).reads);
      for (Wgmma p : groups.get(g).products) {
        for (Frame f : w.lanes) {
          arrived(f, member, target, p.slot, p.first, p.bytes(), p.meaning.accumulators().bytes());
          if (p.a instanceof Fragment(int slot, int first)) {
            arrived(f, member, target, slot, first, Fragment.BYTES, 4);
          }
        }
      }
    }
    waited[member] = target;
    w.actor.clock.learn(agent, target);
  }

  /** A thread has registers again that a product wrote or read, unless a later one does. */
  private void arrived(
      Frame f, int member, int target, int slot, int first, int bytes, int elementBytes) {
    Shadow shadow = f.shadows[slot];
    if (shadow != null && !pendingLater(member, target, slot, first, bytes)) {
      shadow.arrived(first / elementBytes, bytes / elementBytes);
    }
  }

  /** Whether a later product of the warp writes or reads the same registers. */
  private boolean pendingLater(int member, int from, int slot, int first, int bytes) {
    for (int g = from; g < groups.size() && g <= committed[member]; g++) {
      List<Wgmma> later = groups.get(g).products;
      for (int i = 0; i < groups.get(g).issued[member]; i++) {
        if (later.get(i).uses(slot, first, bytes)) {
          return true;
        }
      }
    }
    return false;
  }

  private void execute(Wgmma p) {
    int elements = p.meaning.elements();
    int bytes = p.meaning.accumulators().bytes();
    int[] d = new int[WgmmaGemm.THREADS * elements];
    for (int thread = 0; p.adds && thread < WgmmaGemm.THREADS; thread++) {
      byte[] registers = registers(thread, p.slot);
      for (int i = 0; i < elements; i++) {
        int at = p.first + bytes * i;
        d[thread * elements + i] =
            bytes == 2 ? Bytes.getShort(registers, at) : Bytes.getInt(registers, at);
      }
    }
    int depth = p.meaning.depth();
    p.meaning.accumulate(
        d,
        first(p),
        p.meaning.mnMajorB()
            ? p.b.bitsByColumn(block, depth, p.meaning.columns())
            : p.b.bits(block, p.meaning.columns(), depth));
    for (int thread = 0; thread < WgmmaGemm.THREADS; thread++) {
      byte[] registers = registers(thread, p.slot);
      for (int i = 0; i < elements; i++) {
        int at = p.first + bytes * i;
        if (bytes == 2) {
          Bytes.putShort(registers, at, (short) d[thread * elements + i]);
        } else {
          Bytes.putInt(registers, at, d[thread * elements + i]);
        }
      }
    }
  }

  /** The bits of A, row by row. */
  private int[] first(Wgmma p) {
    int depth = p.meaning.depth();
    return switch (p.a) {
      case Tile(SharedRows rows) ->
          p.meaning.mnMajorA()
              ? rows.bitsByColumn(block, depth, WgmmaGemm.ROWS)
              : rows.bits(block, p.meaning.rows(), depth);
      case Fragment(int slot, int first) -> {
        int[] fragments = new int[WgmmaGemm.THREADS * WgmmaGemm.A_REGISTERS];
        for (int i = 0; i < fragments.length; i++) {
          int thread = i / WgmmaGemm.A_REGISTERS;
          int at = first + 4 * (i % WgmmaGemm.A_REGISTERS);
          fragments[i] = Bytes.getInt(registers(thread, slot), at);
        }
        yield p.meaning.matrixOfA(fragments);
      }
    };
  }

  private byte[] registers(int thread, int slot) {
    return block.warps()[firstWarp + thread / WARP].lanes[thread % WARP].memory[slot];
  }
}
