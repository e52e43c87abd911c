package dev.warpwright.verify;

import dev.warpwright.workload.Attention;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Leading;
import java.util.List;

/**
 * Other shapes of a workload, which differ from it in tails, stages and divisibility by tiles, but
 * not in what vectors and TMA copies need: powers of two up to 16 that divide an extent divide it
 * there, too, so that the same schedule makes much the same kernel.
 */
public final class SampleShapes {
  private static final long ALIGNED = 16;

  /** Of fewer rows there are more or fewer, not many more: schedules for them take no others. */
  private static final long FEW = 32;

  private SampleShapes() {}

  /**
   * Whole tiles as far as alignment allows; less than one tile and step; more of each. For what
   * refuses some of those: other tails and less than one step; other tails and twice the sums.
   */
  public static List<GemmWorkload> of(GemmWorkload w) {
    return List.of(
        shaped(w, whole(w.m()), whole(w.n()), whole(w.k())),
        shaped(w, less(w.m(), 3), less(w.n(), 5), less(w.k(), 5)),
        shaped(w, more(w.m()), more(w.n()), more(w.k())),
        shaped(w, tail(w.m()), tail(w.n()), less(w.k(), 5)),
        shaped(w, more(w.m()), tail(w.n()), 2 * w.k()),
        shaped(w, tail(w.m()), more(w.n()), 3 * w.k()));
  }

  /** The same for two products. */
  public static List<FfnWorkload> of(FfnWorkload w) {
    return List.of(
        new FfnWorkload(whole(w.m()), whole(w.k()), whole(w.hidden()), whole(w.n()), w.operands()),
        new FfnWorkload(
            less(w.m(), 3), less(w.k(), 5), less(w.hidden(), 7), less(w.n(), 5), w.operands()),
        new FfnWorkload(more(w.m()), more(w.k()), more(w.hidden()), more(w.n()), w.operands()),
        new FfnWorkload(tail(w.m()), less(w.k(), 5), tail(w.hidden()), more(w.n()), w.operands()));
  }

  /** The same of attention: one key, whole tiles, and more of everything. */
  public static List<Attention> of(Attention a) {
    return List.of(
        sized(a, a.batch(), a.tokens(), 1),
        sized(a, a.batch(), a.tokens(), 64),
        sized(a, a.batch() + 1, a.tokens() + 2, a.keys() + 35));
  }

  private static Attention sized(Attention a, int batch, int tokens, int keys) {
    return new Attention(
        batch,
        a.queryHeads(),
        a.kvHeads(),
        a.headSize(),
        tokens,
        keys,
        a.causal(),
        a.scale(),
        a.type(),
        a.page());
  }

  private static long unit(long extent) {
    return Math.min(ALIGNED, Long.lowestOneBit(extent));
  }

  private static long whole(long extent) {
    return extent == 0 || extent <= FEW || unit(extent) < 8
        ? extent
        : Math.ceilDiv(extent, 128) * 128;
  }

  private static long less(long extent, long units) {
    return Math.min(extent, units * unit(Math.max(1, extent)));
  }

  private static long more(long extent) {
    long unit = unit(Math.max(1, extent));
    return extent == 0 ? 0 : extent + 2 * unit + (extent <= FEW ? 0 : 96);
  }

  private static long tail(long extent) {
    return extent + 2 * unit(extent);
  }

  private static GemmWorkload shaped(GemmWorkload w, long m, long columns, long k) {
    long group = 2L * Epilogue.GLU_GROUP;
    long n = w.epilogue().glu() ? Math.ceilDiv(columns, group) * group : columns;
    boolean ta = w.layout().transposedA();
    boolean tb = w.layout().transposedB();
    long rowOfA = ta ? w.m() : w.k();
    long rowOfB = tb ? w.k() : w.n();
    long newA = ta ? m : k;
    long newB = tb ? k : n;
    Leading leading =
        new Leading(
            leading(w.leading().a(), rowOfA, newA),
            leading(w.leading().b(), rowOfB, newB),
            leading(w.leading().c(), w.resultColumns(), w.epilogue().columns(n)));
    GemmWorkload dense =
        new GemmWorkload(
            m,
            n,
            k,
            w.precision(),
            w.result(),
            w.layout(),
            w.epilogue(),
            w.batch().with(Batch.Strides.DENSE),
            leading);
    Batch.Strides strides = w.batch().strides();
    return dense.times(
        w.batch()
            .with(
                new Batch.Strides(
                    stride(
                        strides.a(),
                        rowOfA,
                        newA,
                        (ta ? w.k() : w.m()) * w.lda(),
                        (ta ? k : m) * dense.lda()),
                    stride(
                        strides.b(),
                        rowOfB,
                        newB,
                        (tb ? w.n() : w.k()) * w.ldb(),
                        (tb ? n : k) * dense.ldb()),
                    stride(
                        strides.c(),
                        w.resultColumns(),
                        w.epilogue().columns(n),
                        w.m() * w.ldc(),
                        m * dense.ldc()))));
  }

  /** As many rows further, or so much further, as it was. */
  private static long leading(long old, long oldRow, long row) {
    if (old == 0) {
      return 0;
    }
    long unit = unit(old);
    return old % oldRow == 0 ? old / oldRow * row : Math.ceilDiv(old - oldRow + row, unit) * unit;
  }

  /** From one matrix to the next: a row where they lie between each other's rows. */
  private static long stride(long old, long oldRow, long row, long oldMatrix, long matrix) {
    return old == 0 ? 0 : old == oldRow ? row : old - oldMatrix + matrix;
  }
}
