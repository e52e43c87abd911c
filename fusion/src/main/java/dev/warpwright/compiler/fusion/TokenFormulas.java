package dev.warpwright.compiler.fusion;

import dev.warpwright.families.attention.NewToken;
import dev.warpwright.families.attention.NewToken.Formula;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Attention;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Update;
import dev.warpwright.networks.layers.LayerParts.Part;
import dev.warpwright.networks.stages.StageFormula;
import dev.warpwright.networks.stages.StageReads;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What stands between projections and attention in a step of decoding, if formulas say all of it:
 * rotated queries, and the rows that caches get, which attention may make itself.
 *
 * <pre>{@code
 * h4 = f(h1);  y1 = x3 with g(h1) at the place;  y2 = x4 with h1 at the place
 * h5 = attention(h4, y1, y2)
 *   →
 * h5, y1, y2 = attention(f(h1), x3 with g(h1), x4 with h1)
 * }</pre>
 *
 * @param token the formulas, of buffers that layers of one shape share
 * @param text of the formulas: with the same one they are the same
 * @param read what stands for those buffers in this layer
 * @param parts that no kernel of their own computes
 */
record TokenFormulas(
    NewToken token, String text, java.util.Map<Buffer, Buffer> read, List<Part> parts) {
  TokenFormulas {
    parts = List.copyOf(parts);
  }

  /** The blocks of the stages, in order. */
  List<String> blocks() {
    return parts.stream().flatMap(part -> part.stages().stream()).map(Stage::block).toList();
  }

  /**
   * Those of an attention; empty if its caches get nothing, or others read what it would make.
   *
   * @param network of fixed rows
   * @param parts of it, in order
   */
  static Optional<TokenFormulas> of(
      NetworkFunction network, StageReads reads, List<Part> parts, Attention attention) {
    return new Search(network, reads, parts, attention).found();
  }

  /** Looks for the parts of an attention. */
  private static final class Search {
    private final NetworkFunction network;
    private final StageReads reads;
    private final List<Part> parts;
    private final Attention attention;
    private final List<Part> own = new ArrayList<>();

    Search(NetworkFunction network, StageReads reads, List<Part> parts, Attention attention) {
      this.network = network;
      this.reads = reads;
      this.parts = parts;
      this.attention = attention;
    }

    Optional<TokenFormulas> found() {
      Update keys = update(attention.k());
      Update values = update(attention.v());
      if (keys == null || values == null || keys.first() != values.first()) {
        return Optional.empty();
      }
      Formula key = added(keys);
      Formula value = added(values);
      if (key == null || value == null) {
        return Optional.empty();
      }
      java.util.Map<Buffer, Buffer> shared = new LinkedHashMap<>();
      List<Expr> texts = new ArrayList<>();
      List<Formula> formulas = new ArrayList<>();
      for (Formula formula : List.of(query(), key, value)) {
        Expr sample = formula.at(Var.index("m"), Var.index("j"));
        if (sample.type().dtype() != attention.q().dtype() || !share(sample, shared)) {
          return Optional.empty();
        }
        formulas.add((row, column) -> Substitution.ofBuffers(shared).expr(formula.at(row, column)));
        texts.add(Substitution.ofBuffers(shared).expr(sample));
      }
      NewToken token =
          new NewToken(
              keys.first() / attention.headSize(),
              formulas.get(0),
              formulas.get(1),
              formulas.get(2));
      java.util.Map<Buffer, Buffer> read = new LinkedHashMap<>();
      shared.forEach((actual, formal) -> read.put(formal, actual));
      String text = token.place() + " " + texts + " " + read.keySet();
      return Optional.of(new TokenFormulas(token, text, read, own));
    }

    /** What writes one place of a cache that only this attention reads. */
    private @Nullable Update update(Buffer cache) {
      int size = attention.headSize();
      return network.updates().stream()
          .filter(update -> update.to() == cache)
          .filter(update -> update.groups() == attention.kvHeads())
          .filter(update -> update.stride() == attention.keys() * size)
          .filter(update -> update.columns() == size && update.first() % size == 0)
          .filter(update -> isRead(cache, Set.copyOf(attention.blocks())))
          .findFirst()
          .orElse(null);
    }

    /** Whether nothing but some stages reads a buffer. */
    private boolean isRead(Buffer buffer, Set<String> by) {
      return network.stages().stream()
          .map(Stage::block)
          .allMatch(block -> by.contains(block) || !reads.by(block).contains(buffer));
    }

    private @Nullable Formula added(Update update) {
      for (Part part : parts) {
        if (part.product() == null && !part.inGemms() && part.stages().getLast() == update) {
          own.add(part);
          Stage first = part.stages().getFirst();
          if (part.stages().size() == 1) {
            return (row, column) -> Exprs.load(update.from(), row, column);
          }
          return first instanceof Map map && part.stages().size() == 2 ? formula(map) : null;
        }
      }
      return null;
    }

    private Formula formula(Map map) {
      return (row, column) -> StageFormula.at(network.func(), map.block(), row, column);
    }

    /** What makes the queries, or reads them if they stand in memory anyway. */
    private Formula query() {
      Buffer q = attention.q();
      for (Part part : parts) {
        if (part.product() == null
            && !part.inGemms()
            && part.stages().size() == 1
            && part.stages().getFirst() instanceof Map map
            && map.to() == q
            && !network.outputs().contains(q)
            && isRead(q, Set.copyOf(attention.blocks()))) {
          own.add(part);
          return formula(map);
        }
      }
      return (row, column) -> Exprs.load(q, row, column);
    }

    /**
     * Gives each buffer that a formula reads one that layers share; false if it is written here.
     */
    private boolean share(Expr formula, java.util.Map<Buffer, Buffer> shared) {
      Set<Buffer> written = new HashSet<>(List.of(attention.k(), attention.v(), attention.to()));
      boolean[] can = {true};
      Walk.expressions(
          formula,
          e -> {
            if (e instanceof Expr.Load(Buffer buffer, List<Expr> _)) {
              can[0] &= !written.contains(buffer);
              shared.computeIfAbsent(
                  buffer,
                  actual ->
                      Buffer.of("X" + shared.size(), actual.dtype(), Scope.GLOBAL, actual.shape()));
            }
          });
      return can[0];
    }
  }
}
