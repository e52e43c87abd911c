package dev.warpwright.model.build;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Concat;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** Operators that choose elements along an axis, and that put tensors side by side. */
public final class Selection {
  private final GraphBuilder builder;
  private final Shapes shapes;

  /** Operators that add to a graph. */
  public Selection(GraphBuilder builder) {
    this.builder = builder;
    this.shapes = new Shapes(builder);
  }

  /**
   * Every {@code step}-th element along an axis, from {@code start} on and before {@code end},
   * which count from the end where they are negative and stop at the ends of the axis.
   */
  public Term slice(Term x, long axis, long start, long end, long step) {
    List<Size> sizes = shapes.sizes(x).sizes();
    int d = shapes.axis(axis, sizes.size());
    if (step == 0) {
      throw builder.error("slices with a step of 0");
    }
    if (!(sizes.get(d) instanceof Size.Known(long extent))) {
      if (start == 0 && step == 1 && end >= Integer.MAX_VALUE) {
        return x;
      }
      throw builder.actsOnRows("slicing rows of " + x.typeText() + " is not row-wise");
    }
    long low = step > 0 ? 0 : -1;
    long high = step > 0 ? extent : extent - 1;
    long from = Math.clamp(start < 0 ? start + extent : start, low, high);
    long to = Math.clamp(end < 0 && end != Long.MIN_VALUE ? end + extent : end, low, high);
    long count = Math.max(0, Math.ceilDiv(to - from, step));
    if (count == 0) {
      throw builder.error("slicing " + x.typeText() + " leaves nothing of it");
    }
    return take(x, d, LongStream.range(0, count).map(i -> from + i * step).toArray(), true);
  }

  /**
   * The elements at indices along an axis.
   *
   * @param indices whole numbers; negative ones count from the end. Their dimensions take the place
   *     of the axis
   */
  public Term gather(Term x, long axis, Term indices) {
    List<Size> sizes = shapes.sizes(x).sizes();
    int d = shapes.axis(axis, sizes.size());
    if (!(indices instanceof Term.Constant(ConstantTensor tensor)) || tensor.dtype().isFloat()) {
      throw builder.error(
          "chooses by indices " + indices.typeText() + " that are no constant whole numbers");
    }
    if (tensor.rank() > 1) {
      throw builder.error("indices " + tensor.typeText() + " must be a number or a list");
    }
    if (!(sizes.get(d) instanceof Size.Known(long extent))) {
      throw builder.actsOnRows("choosing rows of " + x.typeText() + " is not row-wise");
    }
    builder.reserve(tensor.count() * 8);
    long[] chosen = tensor.toLongs();
    for (int i = 0; i < chosen.length; i++) {
      chosen[i] += chosen[i] < 0 ? extent : 0;
      if (chosen[i] < 0 || chosen[i] >= extent) {
        throw builder.error("index " + tensor.longAt(i) + " is outside of " + x.typeText());
      }
    }
    if (chosen.length == 0) {
      throw builder.error("chooses nothing of " + x.typeText());
    }
    return take(x, d, chosen, tensor.rank() > 0);
  }

  /** Consecutive parts along an axis. */
  public List<Term> split(Term x, long axis, List<Long> parts, List<String> names, String where) {
    List<Size> sizes = shapes.sizes(x).sizes();
    int d = shapes.axis(axis, sizes.size());
    long total = 0;
    boolean fits = true;
    for (long part : parts) {
      // Sizes of hostile files wrap: none of them and no sum may be larger than the axis.
      fits &= part >= 1 && sizes.get(d) instanceof Size.Known(long n) && part <= n - total;
      total = fits ? total + part : total;
    }
    if (!fits || !sizes.get(d).equals(new Size.Known(total))) {
      throw builder.actsOnRows(
          "splitting " + x.typeText() + " into " + parts + " along axis " + d + " does not fit");
    }
    String node = builder.nodeName();
    List<Term> result = new ArrayList<>();
    long first = 0;
    for (int i = 0; i < parts.size(); i++) {
      builder.at(where, node, names.get(i));
      long from = first;
      result.add(take(x, d, LongStream.range(0, parts.get(i)).map(n -> from + n).toArray(), true));
      first += parts.get(i);
    }
    return result;
  }

  /** Chosen places of an axis; if it is not kept, there is one of them. */
  private Term take(Term x, int axis, long[] chosen, boolean keep) {
    return switch (x) {
      case Term.Sizes sizes ->
          new Term.Sizes(
              Arrays.stream(chosen).mapToObj(i -> sizes.sizes().get((int) i)).toList(), !keep);
      case Term.Constant(ConstantTensor tensor) -> {
        List<Long> shape = with(tensor.shape(), axis, chosen.length);
        long[] indices = indices(tensor.shape(), axis, chosen);
        List<Long> result = new ArrayList<>(shape);
        if (!keep) {
          result.remove(axis);
        }
        yield new Term.Constant(Constants.pick(tensor, result, indices));
      }
      case Term.Computed computed -> {
        int rows = computed.outer().size();
        if (axis < rows) {
          boolean all =
              computed.outer().get(axis).equals(new Dim.Fixed(chosen.length))
                  && Arrays.equals(chosen, LongStream.range(0, chosen.length).toArray());
          if (!all) {
            throw builder.actsOnRows("choosing rows of " + x.typeText() + " is not row-wise");
          }
          yield keep ? x : shapes.squeeze(x, List.of((long) axis));
        }
        List<Long> inner = new ArrayList<>(with(computed.inner(), axis - rows, chosen.length));
        Value value =
            builder.columns(computed.value(), indices(computed.inner(), axis - rows, chosen));
        if (!keep) {
          inner.remove(axis - rows);
        }
        yield new Term.Computed(value, computed.outer(), inner, computed.dtype());
      }
    };
  }

  private static List<Long> with(List<Long> shape, int axis, long extent) {
    List<Long> result = new ArrayList<>(shape);
    result.set(axis, extent);
    return result;
  }

  private long[] indices(List<Long> shape, int axis, long[] chosen) {
    long before = Constants.product(shape.subList(0, axis));
    long after = Constants.product(shape.subList(axis + 1, shape.size()));
    long extent = shape.get(axis);
    long count = Math.multiplyExact(Math.multiplyExact(before, after), chosen.length);
    if (count > Integer.MAX_VALUE) {
      throw builder.error("chooses too many elements");
    }
    builder.reserve(count * 8);
    long[] indices = new long[(int) count];
    int at = 0;
    for (long o = 0; o < before; o++) {
      for (long place : chosen) {
        for (long i = 0; i < after; i++) {
          indices[at++] = (o * extent + place) * after + i;
        }
      }
    }
    return indices;
  }

  // ---- side by side ------------------------------------------------------------------------

  /** Tensors one after the other along an axis. */
  public Term concat(List<Term> parts, long axis) {
    if (parts.stream().anyMatch(Term.Computed.class::isInstance)) {
      return concatComputed(parts, axis);
    }
    if (parts.stream().anyMatch(Term.Sizes.class::isInstance)) {
      List<Size> sizes = new ArrayList<>();
      parts.forEach(part -> sizes.addAll(shapes.list(part, "a size")));
      return new Term.Sizes(sizes, false);
    }
    List<ConstantTensor> tensors = parts.stream().map(p -> ((Term.Constant) p).tensor()).toList();
    List<Long> first = tensors.getFirst().shape();
    int d = shapes.axis(axis, first.size());
    long bytes = 0;
    for (ConstantTensor tensor : tensors) {
      if (tensor.rank() != first.size() || !with(tensor.shape(), d, 1).equals(with(first, d, 1))) {
        throw builder.error("constants of different shapes are no parts of one");
      }
      bytes += tensor.count() * 16;
    }
    builder.reserve(bytes);
    return new Term.Constant(Constants.concat(builder.resultName(), tensors, d));
  }

  private Term concatComputed(List<Term> parts, long axis) {
    Term.Computed like =
        (Term.Computed) parts.stream().filter(Term.Computed.class::isInstance).findFirst().get();
    int rank = like.rank();
    int d = shapes.axis(axis, rank) - like.outer().size();
    if (d < 0) {
      throw builder.actsOnRows(
          "putting rows of " + like.typeText() + " behind others is not row-wise");
    }
    List<Value> values = new ArrayList<>();
    List<Long> extents = new ArrayList<>();
    for (Term part : parts) {
      Term.Computed computed = computed(part, like);
      if (!with(computed.inner(), d, 1).equals(with(like.inner(), d, 1))
          || computed.outer().size() != like.outer().size()) {
        throw builder.error(
            part.typeText() + " and " + like.typeText() + " cannot stand side by side");
      }
      values.add(computed.value());
      extents.add(computed.inner().get(d));
    }
    long total = values.stream().mapToLong(Value::features).sum();
    Value value =
        values.size() == 1
            ? values.getFirst()
            : builder.emit(
                new Concat(builder.value(like.value(), total), values, builder.nodeName()));
    List<Long> inner = with(like.inner(), d, extents.stream().mapToLong(Long::longValue).sum());
    value = builder.columns(value, interleaved(like.inner(), d, extents));
    return new Term.Computed(value, like.outer(), inner, like.dtype());
  }

  /** Where the elements of the result are when the parts lie one behind the other as a whole. */
  private long[] interleaved(List<Long> inner, int axis, List<Long> extents) {
    long before = Constants.product(inner.subList(0, axis));
    long after = Constants.product(inner.subList(axis + 1, inner.size()));
    long total = extents.stream().mapToLong(Long::longValue).sum();
    builder.reserve(before * after * total * 8);
    long[] indices = new long[Math.toIntExact(before * after * total)];
    int at = 0;
    for (long o = 0; o < before; o++) {
      long start = 0;
      for (long extent : extents) {
        for (long i = 0; i < extent * after; i++) {
          indices[at++] = start + o * extent * after + i;
        }
        start += before * extent * after;
      }
    }
    return indices;
  }

  /** A constant as a value that is the same in each row: what is chosen from, whatever is true. */
  private Term.Computed computed(Term part, Term.Computed like) {
    return switch (part) {
      case Term.Computed computed -> computed;
      case Term.Sizes sizes -> throw builder.error("puts sizes beside computed values");
      case Term.Constant(ConstantTensor tensor) -> {
        int rank = like.rank();
        int rows = like.outer().size();
        boolean same =
            tensor.rank() == rank && tensor.shape().subList(0, rows).stream().allMatch(s -> s == 1);
        if (!same || tensor.count() < 1 || tensor.count() > Integer.MAX_VALUE) {
          throw builder.actsOnRows(
              "constant " + tensor.typeText() + " beside " + like.typeText() + " is not row-wise");
        }
        Value one = builder.columns(like.value(), new long[] {0});
        Operand numbers = new Operand.OfTensor(flat(tensor));
        Value output = builder.value(like.value(), tensor.count());
        builder.emit(
            new Elementwise(
                output,
                ElementwiseOp.WHERE,
                List.of(new Operand.OfValue(one), numbers, numbers),
                builder.nodeName()));
        yield new Term.Computed(
            output, like.outer(), tensor.shape().subList(rows, rank), tensor.dtype());
      }
    };
  }

  private static ConstantTensor flat(ConstantTensor tensor) {
    DType dtype = tensor.dtype();
    return new ConstantTensor(tensor.name(), dtype, List.of(tensor.count()), tensor.data());
  }
}
