package dev.warpwright.families.attention;

import dev.warpwright.ir.Expr;

/**
 * What a step of decoding brings to an attention of one new token for each entry: its queries, and
 * its row of each cache, as formulas of what stands in memory.
 *
 * @param place of the token in both caches
 * @param query an element of an entry's queries, by its column among those of all heads
 * @param key an element of its row of keys, by its column among those of all heads of keys
 * @param value the same of values
 */
public record NewToken(int place, Formula query, Formula key, Formula value) {
  /** An element of a row, of the type of the attention. */
  public interface Formula {
    /**
     * What computes it.
     *
     * @param entry of the batch
     * @param column of the entry's row
     */
    Expr at(Expr entry, Expr column);
  }
}
