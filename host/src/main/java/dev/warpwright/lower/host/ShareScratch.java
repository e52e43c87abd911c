package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gives scratch buffers of one shape that are never needed at the same time the same memory, so
 * that the activations of a deep network take the cache of two layers.
 *
 * <p>Guarantees the same results, as what a buffer holds when it is allocated is undefined; stands
 * after {@link MergeAccumulators}, which leaves fewer buffers.
 */
final class ShareScratch extends Rewriter {
  private ShareScratch() {}

  static Stmt apply(Stmt body) {
    return new ShareScratch().stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    ScratchSequence sequence = ScratchSequence.of(s);
    if (sequence == null) {
      return super.stmt(s);
    }
    List<Buffer> order = new ArrayList<>(sequence.buffers());
    order.removeIf(b -> sequence.first(b) < 0 || b.scope() == Scope.LOCAL || b.layout() != null);
    order.sort((a, b) -> Integer.compare(sequence.first(a), sequence.first(b)));
    Map<Buffer, Buffer> shared = new HashMap<>();
    Map<Buffer, Integer> busyUntil = new HashMap<>();
    List<Buffer> memories = new ArrayList<>();
    for (Buffer buffer : order) {
      Buffer memory = null;
      for (Buffer candidate : memories) {
        if (candidate.dtype() == buffer.dtype()
            && candidate.shape().equals(buffer.shape())
            && candidate.alignment() == buffer.alignment()
            && busyUntil.getOrDefault(candidate, Integer.MAX_VALUE) < sequence.first(buffer)) {
          memory = candidate;
          break;
        }
      }
      if (memory == null) {
        memory = buffer;
        memories.add(buffer);
      } else {
        shared.put(buffer, memory);
      }
      busyUntil.put(memory, sequence.last(buffer));
    }
    return sequence.replace(shared, this::stmt);
  }
}
