package dev.warpwright.model.function;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Columns;
import dev.warpwright.model.graph.Concat;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.InputUpdates;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Values whose elements are those of others at other columns: side by side, or chosen. */
final class OtherColumns {
  /** A multiplication with ones is worth its weights up to so many of them. */
  private static final long MOST_ONES = 1 << 20;

  private final FunctionOptions options;
  private final FunctionBody body;

  /** Null where all of each output is written. */
  private final @Nullable InputUpdates updates;

  OtherColumns(Graph graph, FunctionOptions options, FunctionBody body) {
    this.options = options;
    this.body = body;
    InputUpdates found = options.byLayer() ? new InputUpdates(graph) : null;
    // Others would read columns that padding adds.
    boolean dense =
        found != null
            && graph.outputs().stream().allMatch(o -> found.of(o) == null || body.isDense(o));
    this.updates = dense ? found : null;
  }

  /** Whether a node is part of an output that is an input but for some columns. */
  boolean covers(Node node) {
    return updates != null && updates.covers(node);
  }

  /** What such an output is; null for any other value. */
  InputUpdates.@Nullable Update update(Value output) {
    return updates == null ? null : updates.of(output);
  }

  /** An input with some of its columns replaced, which others read where it lies. */
  Buffer changed(Value output, String name, InputUpdates.Update update) {
    DType type = body.activation();
    Tensor input = Tensor.input(Objects.requireNonNull(body.inputBuffers.get(update.input())));
    Tensor added = body.stored(update.added(), type);
    Tensor out =
        Tensor.compute(
            name,
            type,
            body.shape(output.features()),
            v -> {
              Expr place =
                  Exprs.sub(Exprs.mod(v.get(1), update.stride()), Exprs.i32(update.first()));
              Expr group = Exprs.div(v.get(1), update.stride());
              Expr own = Exprs.min(Exprs.max(place, Exprs.i32(0)), Exprs.i32(update.columns() - 1));
              return Exprs.select(
                  Exprs.eq(place, own),
                  added.at(v.get(0), Exprs.add(Exprs.mul(group, update.columns()), own)),
                  input.at(v.get(0), v.get(1)));
            });
    body.tensors.add(out);
    body.stages.add(
        new NetworkFunction.Update(
            out.name(),
            added.buffer(),
            input.buffer(),
            out.buffer(),
            update.groups(),
            update.stride(),
            update.first(),
            update.columns()));
    body.elements.put(output, Element.of(out));
    body.stored.computeIfAbsent(output, v -> new HashMap<>()).put(type, out);
    return out.buffer();
  }

  /** Values side by side: copied, or a formula where products are launches. */
  void concat(Concat node) {
    record Part(Element.Formula formula, int first) {}
    List<Part> parts = new ArrayList<>();
    int first = 0;
    for (Value input : node.inputs()) {
      parts.add(new Part(options.byLayer() ? body.clamped(input) : copied(input), first));
      first += input.features();
    }
    Element.Formula all =
        (row, col) -> {
          Part last = parts.getLast();
          Expr result = last.formula().at(row, Exprs.sub(col, Exprs.i32(last.first())));
          for (int p = parts.size() - 2; p >= 0; p--) {
            Part part = parts.get(p);
            Expr own = part.formula().at(row, Exprs.sub(col, Exprs.i32(part.first())));
            Expr end = Exprs.i32(parts.get(p + 1).first());
            result = Exprs.select(Exprs.lt(col, end), own, result);
          }
          return result;
        };
    if (options.byLayer()) {
      elsewhere(node.output(), all);
    } else {
      body.apart(node.output(), all);
    }
  }

  private Element.Formula copied(Value value) {
    Tensor tensor = body.stored(value, DType.F32);
    return (row, col) -> FunctionBody.elsewhere(tensor, row, col);
  }

  /** Defines a value by a formula that reads other columns. */
  private void elsewhere(Value value, Element.Formula formula) {
    body.elements.put(value, new Element(formula, false, false, false, null, null));
  }

  /**
   * Evenly spaced columns are read where they lie, and so are many that come in blocks, or all of
   * these where products are launches; others go by a multiplication with ones.
   *
   * @return false if they are to go by such a multiplication
   * @throws UserError if those would be too many
   */
  boolean choose(Columns node) {
    ColumnBlocks any = options.byLayer() ? ColumnBlocks.of(node) : null;
    if (any != null) {
      // Columns that padding adds would be read from anywhere.
      Element.Formula input =
          body.isDense(node.output()) ? body.anywhere(node.input()) : body.clamped(node.input());
      elsewhere(node.output(), (row, col) -> input.at(row, any.source(col)));
      return true;
    }
    if (node.isRegular()) {
      Tensor input = body.stored(node.input(), DType.F32);
      body.apart(
          node.output(),
          (row, col) ->
              FunctionBody.elsewhere(
                  input, row, Exprs.add(Exprs.mul(col, node.stride()), node.source(0))));
      return true;
    }
    long ones = (long) node.output().features() * node.input().features();
    ColumnBlocks blocks = ones > MOST_ONES ? ColumnBlocks.of(node) : null;
    if (blocks != null) {
      Buffer buffer = body.inputBuffers.get(node.input());
      Tensor input = buffer != null ? Tensor.input(buffer) : body.stored(node.input(), DType.F32);
      body.apart(
          node.output(), (row, col) -> FunctionBody.elsewhere(input, row, blocks.source(col)));
      return true;
    }
    if (ones > Integer.MAX_VALUE) {
      throw new UserError(
          "node "
              + Names.quote(node.name())
              + " puts "
              + node.output().features()
              + " features in an order without blocks, which is not supported of so many");
    }
    return false;
  }
}
