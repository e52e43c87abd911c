package dev.warpwright.model.build;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Operators that give elements other dimensions, and sizes of dimensions. */
public final class Shapes {
  private static final Dim ONE = new Dim.Fixed(1);
  private static final int MAX_RANK = 16;

  private final GraphBuilder builder;

  /** Operators that add to a graph. */
  public Shapes(GraphBuilder builder) {
    this.builder = builder;
  }

  /** The sizes of the dimensions. */
  public Term.Sizes sizes(Term x) {
    return switch (x) {
      case Term.Computed computed ->
          new Term.Sizes(computed.dims().stream().map(Size::of).toList(), false);
      case Term.Constant(ConstantTensor tensor) ->
          new Term.Sizes(
              tensor.shape().stream().map(s -> (Size) new Size.Known(s)).toList(), false);
      case Term.Sizes sizes ->
          new Term.Sizes(
              sizes.scalar() ? List.of() : List.of(new Size.Known(sizes.sizes().size())), false);
    };
  }

  /** A list of sizes, for shapes and the like. */
  public List<Size> list(Term term, String what) {
    Term.Sizes sizes = SizeArithmetic.of(term);
    if (sizes == null || sizes.sizes().size() > 64) {
      throw builder.error(what + " " + term.typeText() + " must be a list of whole numbers");
    }
    return sizes.sizes();
  }

  /** A list of numbers that are known. */
  public List<Long> numbers(Term term, String what) {
    List<Long> numbers = new ArrayList<>();
    for (Size size : list(term, what)) {
      if (!(size instanceof Size.Known(long value))) {
        throw builder.error(what + " depends on a dynamic dimension, which is not supported");
      }
      numbers.add(value);
    }
    return numbers;
  }

  /** An axis counted from the front. */
  public int axis(long axis, int rank) {
    if (axis < -rank || axis >= rank) {
      throw builder.error("axis " + axis + " is none of " + rank + " dimensions");
    }
    return (int) (axis < 0 ? axis + rank : axis);
  }

  // ---- reshape -----------------------------------------------------------------------------

  /**
   * Other dimensions for the same elements.
   *
   * @param target -1 for the dimension to be inferred; 0, unless {@code zeroIsZero}, for one that
   *     is kept
   */
  public Term reshape(Term x, List<Size> target, boolean zeroIsZero) {
    if (target.size() > MAX_RANK) {
      throw builder.error("reshapes to " + target.size() + " dimensions, which are too many");
    }
    return switch (x) {
      case Term.Computed computed -> reshape(computed, target, zeroIsZero);
      case Term.Constant(ConstantTensor tensor) -> {
        List<Long> shape = resolved(tensor, target, zeroIsZero);
        yield new Term.Constant(Constants.reshape(tensor, shape));
      }
      case Term.Sizes sizes -> {
        if (target.size() > 1 || (target.isEmpty() && sizes.sizes().size() != 1)) {
          throw builder.error("reshapes sizes of dimensions to " + target);
        }
        yield new Term.Sizes(sizes.sizes(), target.isEmpty());
      }
    };
  }

  private List<Long> resolved(ConstantTensor tensor, List<Size> target, boolean zeroIsZero) {
    List<Long> shape = new ArrayList<>();
    long rest = tensor.count();
    int inferred = -1;
    for (int d = 0; d < target.size(); d++) {
      if (!(target.get(d) instanceof Size.Known(long size))) {
        throw builder.error("reshapes a constant to a dynamic dimension");
      }
      long own = size == 0 && !zeroIsZero && d < tensor.rank() ? tensor.shape().get(d) : size;
      if (own == -1 && inferred < 0) {
        inferred = d;
        own = 1;
      }
      shape.add(own);
      rest = own > 0 && rest % own == 0 ? rest / own : own == 0 && rest == 0 ? 0 : -1;
    }
    if (inferred >= 0) {
      shape.set(inferred, rest);
      rest = 1;
    }
    if (ConstantTensor.elementCount(shape) != tensor.count()) {
      throw builder.error("reshaping " + tensor.typeText() + " to " + target + " loses elements");
    }
    return shape;
  }

  private Term reshape(Term.Computed x, List<Size> target, boolean zeroIsZero) {
    List<Size> wanted = new ArrayList<>();
    List<Dim> dims = x.dims();
    int inferred = 0;
    for (int d = 0; d < target.size(); d++) {
      Size size = target.get(d);
      boolean kept = size.equals(new Size.Known(0)) && !zeroIsZero && d < dims.size();
      Size own = kept ? Size.of(dims.get(d)) : size;
      inferred += own.equals(new Size.Known(-1)) ? 1 : 0;
      if (own instanceof Size.Known(long value) && value < 1 && value != -1) {
        throw builder.error("reshaping " + x.typeText() + " to " + target + " loses elements");
      }
      wanted.add(own);
    }
    int split = inferred > 1 ? -1 : split(x, wanted);
    if (split < 0) {
      throw builder.actsOnRows("reshaping " + x.typeText() + " to " + target + " changes the rows");
    }
    List<Long> inner = new ArrayList<>();
    for (Size size : wanted.subList(split, wanted.size())) {
      inner.add(size instanceof Size.Known(long value) ? value : 1L);
    }
    int unknown = inner.indexOf(-1L);
    if (unknown >= 0) {
      inner.set(unknown, 1L);
      inner.set(unknown, x.value().features() / Constants.product(inner));
    }
    return x.withDims(outer(x.outer(), wanted.subList(0, split)), inner);
  }

  /**
   * Where the features begin: the last place behind which there are as many elements as features.
   * -1 if there is none.
   */
  private static int split(Term.Computed x, List<Size> wanted) {
    long features = x.value().features();
    long product = 1;
    boolean inferred = false;
    for (int d = wanted.size() - 1; d >= 0; d--) {
      if (!(wanted.get(d) instanceof Size.Known(long size))) {
        break;
      }
      if (size > features) {
        return -1;
      }
      boolean own = size == -1;
      inferred |= own;
      product *= own ? 1 : size;
      if (product > features) {
        return -1;
      }
      boolean fits =
          inferred
              ? features % product == 0 && sameRows(x.outer(), wanted.subList(0, d))
              : product == features;
      if (fits) {
        return d;
      }
    }
    return features == 1 ? wanted.size() : -1;
  }

  /** Whether the dimensions are certainly those of the rows, up to dimensions of size 1. */
  private static boolean sameRows(List<Dim> outer, List<Size> wanted) {
    List<Dim> a = outer.stream().filter(dim -> !dim.equals(ONE)).toList();
    List<Dim> b = wanted.stream().map(Size::dim).filter(dim -> !dim.equals(ONE)).toList();
    boolean bothFixed =
        a.stream().allMatch(Dim.Fixed.class::isInstance)
            && b.stream().allMatch(Dim.Fixed.class::isInstance);
    return bothFixed ? count(a) == count(b) : a.equals(b);
  }

  private static long count(List<Dim> dims) {
    return dims.stream().mapToLong(dim -> ((Dim.Fixed) dim).size()).reduce(1, (a, b) -> a * b);
  }

  /** The rows' new dimensions; one that is inferred keeps its name if it is the only one. */
  private static List<Dim> outer(List<Dim> old, List<Size> wanted) {
    List<Dim> result = new ArrayList<>();
    List<Dim> real = old.stream().filter(dim -> !dim.equals(ONE)).toList();
    for (Size size : wanted) {
      boolean inferred = size.equals(new Size.Known(-1));
      boolean alone = wanted.stream().allMatch(s -> s == size || s.equals(new Size.Known(1)));
      if (inferred && alone && real.size() <= 1) {
        result.add(real.isEmpty() ? ONE : real.getFirst());
      } else if (inferred && alone && real.stream().allMatch(Dim.Fixed.class::isInstance)) {
        result.add(new Dim.Fixed(count(real)));
      } else {
        result.add(Size.dim(size));
      }
    }
    return result;
  }

  /** Two dimensions: those before the axis, and those from it on. */
  public Term flatten(Term x, long axis) {
    if (!(x instanceof Term.Computed computed)) {
      List<Long> dims = numbers(sizes(x), "the shape");
      int at = axis == dims.size() ? dims.size() : axis(axis, dims.size());
      long before = Constants.product(dims.subList(0, at));
      return reshape(x, List.of(new Size.Known(before), new Size.Known(-1)), true);
    }
    int rank = computed.rank();
    return merge(computed, 0, axis == rank ? rank : axis(axis, rank), rank);
  }

  private Term merge(Term.Computed x, int from, int middle, int to) {
    List<Size> sizes = sizes(x).sizes();
    Size rows = merged(sizes.subList(from, middle));
    Size features = merged(sizes.subList(middle, to));
    return reshape(x, List.of(rows, features), true);
  }

  private static Size merged(List<Size> sizes) {
    List<Size> real = sizes.stream().filter(s -> !s.equals(new Size.Known(1))).toList();
    if (real.size() == 1) {
      return real.getFirst();
    }
    long product = 1;
    for (Size size : real) {
      if (!(size instanceof Size.Known(long value))) {
        return new Size.Known(-1);
      }
      product *= value;
    }
    return new Size.Known(product);
  }

  // ---- dimensions of size 1 ----------------------------------------------------------------

  /**
   * Without some dimensions of size 1.
   *
   * @param axes which, or null for all of them
   */
  public Term squeeze(Term x, @Nullable List<Long> axes) {
    if (x instanceof Term.Sizes sizes) {
      if (sizes.sizes().size() != 1) {
        throw builder.error("squeezes " + x.typeText());
      }
      return new Term.Sizes(sizes.sizes(), true);
    }
    List<Size> sizes = sizes(x).sizes();
    TreeSet<Integer> gone = new TreeSet<>();
    if (axes == null) {
      IntStream.range(0, sizes.size())
          .filter(d -> sizes.get(d).equals(new Size.Known(1)))
          .forEach(gone::add);
    } else {
      axes.forEach(axis -> gone.add(axis(axis, sizes.size())));
    }
    for (int d : gone) {
      if (!sizes.get(d).equals(new Size.Known(1))) {
        throw builder.error("squeezes dimension " + d + " of " + x.typeText());
      }
    }
    if (x instanceof Term.Computed computed) {
      List<Dim> outer = new ArrayList<>(computed.outer());
      List<Long> inner = new ArrayList<>(computed.inner());
      for (int d : gone.descendingSet()) {
        if (d < computed.outer().size()) {
          outer.remove(d);
        } else {
          inner.remove(d - computed.outer().size());
        }
      }
      return computed.withDims(outer, inner);
    }
    List<Size> left = new ArrayList<>(sizes);
    gone.descendingSet().forEach(d -> left.remove((int) d));
    return reshape(x, left, true);
  }

  /**
   * With additional dimensions of size 1.
   *
   * @param axes where they are in the result
   */
  public Term unsqueeze(Term x, List<Long> axes) {
    if (x instanceof Term.Sizes sizes) {
      if (!sizes.scalar() || axes.size() != 1) {
        throw builder.error("unsqueezes " + x.typeText());
      }
      return new Term.Sizes(sizes.sizes(), false);
    }
    List<Size> sizes = new ArrayList<>(sizes(x).sizes());
    int rank = sizes.size() + axes.size();
    if (rank > MAX_RANK) {
      throw builder.error("unsqueezes to " + rank + " dimensions, which are too many");
    }
    TreeSet<Integer> added = new TreeSet<>();
    axes.forEach(axis -> added.add(axis(axis, rank)));
    if (added.size() != axes.size()) {
      throw builder.error("unsqueezes an axis twice");
    }
    if (x instanceof Term.Computed computed) {
      List<Dim> outer = new ArrayList<>(computed.outer());
      List<Long> inner = new ArrayList<>(computed.inner());
      for (int d : added) {
        if (d < outer.size()) {
          outer.add(d, ONE);
        } else {
          inner.add(d - outer.size(), 1L);
        }
      }
      return computed.withDims(outer, inner);
    }
    added.forEach(d -> sizes.add(d, new Size.Known(1)));
    return reshape(x, sizes, true);
  }

  // ---- order and repetition ----------------------------------------------------------------

  /**
   * The dimensions in another order.
   *
   * @param perm which dimension of {@code x} comes where, or null to reverse them
   */
  public Term transpose(Term x, @Nullable List<Long> perm) {
    int rank = sizes(x).sizes().size();
    List<Integer> order = new ArrayList<>();
    for (int d = 0; d < rank; d++) {
      order.add(perm == null ? rank - 1 - d : perm.size() == rank ? axis(perm.get(d), rank) : -1);
    }
    if (!new TreeSet<>(order).equals(new TreeSet<>(IntStream.range(0, rank).boxed().toList()))) {
      throw builder.error("perm " + perm + " is no order of " + rank + " dimensions");
    }
    return switch (x) {
      case Term.Constant(ConstantTensor tensor) -> new Term.Constant(transpose(tensor, order));
      case Term.Computed computed -> transpose(computed, order);
      case Term.Sizes sizes -> sizes;
    };
  }

  private ConstantTensor transpose(ConstantTensor tensor, List<Integer> order) {
    if (order.equals(order.stream().sorted().toList())) {
      return tensor;
    }
    if (order.equals(List.of(1, 0))) {
      return builder.transpose(tensor);
    }
    builder.reserve(tensor.count(), 16L);
    List<Long> shape = order.stream().map(d -> tensor.shape().get(d)).toList();
    return Constants.pick(tensor, shape, Constants.permuted(tensor.shape(), order));
  }

  private Term transpose(Term.Computed x, List<Integer> order) {
    List<Dim> dims = x.dims();
    int rows = x.outer().size();
    List<Integer> real = order.stream().filter(d -> !dims.get(d).equals(ONE)).toList();
    List<Integer> realRows = real.stream().filter(d -> d < rows).toList();
    if (!real.subList(0, realRows.size()).equals(realRows)
        || !realRows.equals(realRows.stream().sorted().toList())) {
      throw builder.actsOnRows(
          "transposing " + x.typeText() + " to " + order + " moves rows, which is not row-wise");
    }
    List<Integer> features = order.stream().filter(d -> d >= rows).toList();
    List<Integer> perm = features.stream().map(d -> d - rows).toList();
    Value value = x.value();
    if (!perm.equals(perm.stream().sorted().toList())) {
      value = builder.columns(value, Constants.permuted(x.inner(), perm));
    }
    // The rows end behind the last dimension that is one; dimensions of size 1 may be either.
    int split = 0;
    for (int d = 0; d < order.size(); d++) {
      split = realRows.contains(order.get(d)) ? d + 1 : split;
    }
    while (split < order.size() && split < rows && order.get(split) < rows) {
      split++;
    }
    List<Dim> moved = order.stream().map(dims::get).toList();
    List<Long> inner =
        moved.subList(split, moved.size()).stream().map(d -> ((Dim.Fixed) d).size()).toList();
    return new Term.Computed(value, moved.subList(0, split), inner, x.dtype());
  }

  /** Repeats dimensions of size 1, as NumPy broadcasts to a shape. */
  public Term expand(Term x, List<Size> target) {
    if (x instanceof Term.Sizes) {
      throw builder.error("expands sizes of dimensions");
    }
    List<Size> sizes = sizes(x).sizes();
    int rank = Math.max(sizes.size(), target.size());
    if (rank > MAX_RANK) {
      throw builder.error("expands to " + rank + " dimensions, which are too many");
    }
    if (x instanceof Term.Constant(ConstantTensor tensor)) {
      List<Long> wanted = new ArrayList<>();
      for (Size size : target) {
        wanted.add(size instanceof Size.Known(long value) && value > 0 ? value : 1L);
      }
      List<Long> shape = Constants.broadcast(List.of(tensor.shape(), wanted));
      if (shape == null || ConstantTensor.elementCount(shape) < 0) {
        throw builder.error("cannot expand " + x.typeText() + " to " + target);
      }
      builder.reserve(ConstantTensor.elementCount(shape), 16L);
      return new Term.Constant(
          Constants.pick(tensor, shape, Constants.sources(tensor.shape(), shape)));
    }
    Term.Computed computed = (Term.Computed) x;
    List<Dim> outer = new ArrayList<>(computed.outer());
    List<Long> inner = new ArrayList<>();
    while (outer.size() + computed.inner().size() < rank) {
      outer.addFirst(ONE);
    }
    for (int d = 0; d < rank; d++) {
      int own = d - (rank - target.size());
      Size size = own < 0 ? new Size.Known(1) : target.get(own);
      if (d < outer.size()) {
        boolean repeats = outer.get(d).equals(ONE) && size instanceof Size.Known(long n) && n > 1;
        if (repeats || (outer.get(d).equals(ONE) && size instanceof Size.Unknown)) {
          throw builder.actsOnRows("expanding " + x.typeText() + " to " + target + " repeats rows");
        }
      } else {
        long old = computed.inner().get(d - outer.size());
        boolean keeps = !(size instanceof Size.Known(long n)) || n <= 1 || n == old;
        if (!keeps && old != 1) {
          throw builder.error("cannot expand " + x.typeText() + " to " + target);
        }
        inner.add(keeps ? old : ((Size.Known) size).value());
      }
    }
    long features = ConstantTensor.elementCount(inner);
    if (features < 1 || features > Integer.MAX_VALUE / 8) {
      throw builder.error("expanding " + x.typeText() + " to " + target + " is too large");
    }
    builder.reserve(features * 16);
    Value value = builder.columns(computed.value(), Constants.sources(computed.inner(), inner));
    return new Term.Computed(value, outer, inner, computed.dtype());
  }

  // ---- types -------------------------------------------------------------------------------

  /** Another type; floats are not rounded, since values have no type while they are computed. */
  public Term cast(Term x, DType to) {
    return switch (x) {
      case Term.Computed computed -> {
        DType from = computed.dtype();
        if (to == DType.BOOL && from != DType.BOOL) {
          yield new Arithmetic(builder).binary(ElementwiseOp.NOT_EQUAL, x, 0);
        }
        if (!to.isFloat() && from.isFloat()) {
          throw builder.error(
              "casts a computed " + from + " to " + to + ", which is not supported");
        }
        yield new Term.Computed(computed.value(), computed.outer(), computed.inner(), to);
      }
      case Term.Constant(ConstantTensor tensor) -> {
        if (tensor.dtype() == to) {
          yield x;
        }
        builder.reserve(tensor.count(), 16L);
        yield new Term.Constant(
            Constants.of(tensor.name(), to, tensor.shape(), tensor.toDoubles()));
      }
      case Term.Sizes sizes -> {
        if (!to.isFloat()) {
          yield sizes;
        }
        List<Long> numbers = numbers(sizes, "a number");
        double[] values = numbers.stream().mapToDouble(Long::doubleValue).toArray();
        List<Long> shape = sizes.scalar() ? List.of() : List.of((long) values.length);
        yield new Term.Constant(Constants.of("", to, shape, values));
      }
    };
  }
}
