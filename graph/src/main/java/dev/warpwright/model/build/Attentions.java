package dev.warpwright.model.build;

import dev.warpwright.model.graph.Attend;
import dev.warpwright.model.graph.Value;
import java.util.List;

/**
 * Attention of one new token over the keys and values that are features of its row, as a step of
 * decoding has it.
 */
public final class Attentions {
  private final GraphBuilder builder;

  /** Operators that add to a graph. */
  public Attentions(GraphBuilder builder) {
    this.builder = builder;
  }

  /**
   * {@code softmax(scale · Q · Kᵀ) · V} for each head.
   *
   * @param q {@code [batch, heads, 1, headSize]}
   * @param k {@code [batch, kvHeads, keys, headSize]}
   * @param v the same
   * @param scale of scores; 0 for one over the root of the head size
   * @param causal whether tokens see the first keys only, as many as there are tokens before them
   * @return as q
   * @throws dev.warpwright.base.UserError if it is another attention
   */
  public Term attend(Term q, Term k, Term v, double scale, boolean causal) {
    Term.Computed query = computed(q, "the queries");
    Term.Computed key = computed(k, "the keys");
    Term.Computed value = computed(v, "the values");
    if (query.rank() != 4 || query.outer().size() > 1) {
      // Fewer dimensions may be rows.
      throw builder.actsOnRows(
          "attention of " + q.typeText() + " needs [batch, heads, 1, size], the batch its rows");
    }
    List<Long> ofQ = ofRow(query);
    List<Long> ofK = ofRow(key);
    if (ofQ.get(1) != 1) {
      throw unsupported(
          "attention of "
              + ofQ.get(1)
              + " tokens at a time, "
              + q.typeText()
              + ", is not supported; one new token is");
    }
    boolean fits =
        ofK.size() == 3
            && ofK.equals(ofRow(value))
            && ofK.get(2).equals(ofQ.get(2))
            && ofQ.get(0) % ofK.get(0) == 0;
    if (!fits) {
      throw unsupported(
          "attention of queries "
              + q.typeText()
              + ", keys "
              + k.typeText()
              + " and values "
              + v.typeText()
              + " is not supported: heads of one size, a multiple of those of K and V");
    }
    if (causal && ofK.get(1) != 1) {
      throw unsupported(
          "attention is causal, of "
              + ofK.get(1)
              + " keys the only token would see the first alone; leave is_causal out");
    }
    double factor = scale == 0 ? 1 / Math.sqrt(ofQ.get(2)) : scale;
    Value output = builder.value(query.value(), query.value().features());
    Attend node =
        new Attend(
            output,
            query.value(),
            key.value(),
            value.value(),
            Math.toIntExact(ofQ.get(0)),
            Math.toIntExact(ofK.get(0)),
            factor,
            builder.nodeName());
    try {
      node.attention(1);
    } catch (IllegalArgumentException e) {
      throw unsupported("attention of " + q.typeText() + ": " + e.getMessage());
    }
    builder.emit(node);
    return new Term.Computed(output, query.outer(), query.inner(), query.dtype());
  }

  /** The error of an attention that is not supported, whatever its rows are; to be thrown. */
  public RuntimeException unsupported(String what) {
    return new RowSplit.Unsupported(builder.error(what));
  }

  /** Heads, tokens and their columns; a batch of one entry may be no dimension of rows. */
  private static List<Long> ofRow(Term.Computed term) {
    List<Long> inner = term.inner();
    return inner.size() == 4 && inner.getFirst() == 1 ? inner.subList(1, 4) : inner;
  }

  private Term.Computed computed(Term term, String what) {
    if (term instanceof Term.Computed computed && computed.dtype().isFloat()) {
      return computed;
    }
    throw unsupported(what + " of attention, " + term.typeText() + ", must be computed");
  }
}
