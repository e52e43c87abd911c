package dev.warpwright.model.pt2;

import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.pt2.Program.Meta;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** Operators that move elements, or only look at them differently. */
final class LayoutRules {
  private LayoutRules() {}

  static void identity(AtenCall call, String argument) {
    call.last("Identity", call.tensor(argument));
  }

  /** Dropout does nothing unless the model was exported for training. */
  static void dropout(AtenCall call) {
    if (call.flag("train", false) && call.number("p", 0.5) != 0) {
      throw call.error("the model was exported in training mode; call model.eval() first");
    }
    identity(call, "input");
  }

  /** To the shape that the output is said to have, which must agree with what the call says. */
  static void reshape(AtenCall call, String sizes) {
    String x = call.tensor("self");
    Meta to = call.meta(call.output());
    if (call.raw(sizes) instanceof Argument.OfInts(List<Long> given)) {
      boolean agrees = given.size() == to.shape().size();
      for (int i = 0; agrees && i < given.size(); i++) {
        Long size = given.get(i);
        agrees =
            size == null
                || size == -1
                || !(to.shape().get(i) instanceof Dim.Fixed(long said))
                || said == size;
      }
      if (!agrees) {
        throw call.error("gives sizes " + given + ", but the output is said to be " + to.shape());
      }
    }
    reshapeTo(call, x, to);
  }

  /** As {@link #reshape}, for operators whose arguments do not name all sizes. */
  static void reshapeToOutput(AtenCall call) {
    reshapeTo(call, call.tensor("self"), call.meta(call.output()));
  }

  private static void reshapeTo(AtenCall call, String x, Meta to) {
    List<Dim> from = call.meta(x).shape();
    if (from.equals(to.shape())) {
      call.last("Identity", x);
      return;
    }
    List<Long> sizes = new ArrayList<>();
    boolean inferred = false;
    for (int i = 0; i < to.shape().size(); i++) {
      switch (to.shape().get(i)) {
        case Dim.Fixed(long size) -> sizes.add(size);
        case Dim.Symbolic symbolic -> {
          boolean copied = i < from.size() && from.get(i).equals(symbolic);
          if (!copied && inferred) {
            throw call.error("computes the sizes " + to.shape() + ", which is not supported");
          }
          inferred |= !copied;
          sizes.add(copied ? 0L : -1L);
        }
      }
    }
    call.last("Reshape", x, call.vector(sizes));
  }

  static void unsqueeze(AtenCall call) {
    String x = call.tensor("self");
    long axis = call.dimension(call.integer("dim", 0), call.rank(x) + 1);
    call.last("Unsqueeze", x, call.vector(List.of(axis)));
  }

  /** Dimensions of another size than 1 stay. */
  static void squeeze(AtenCall call) {
    String x = call.tensor("self");
    int rank = call.rank(x);
    List<Long> asked =
        call.has("dim") ? call.integers("dim") : LongStream.range(0, rank).boxed().toList();
    List<Long> axes = new ArrayList<>();
    for (long dim : asked) {
      int axis = call.dimension(dim, rank);
      if (call.meta(x).shape().get(axis).equals(new Dim.Fixed(1))) {
        axes.add((long) axis);
      }
    }
    if (axes.isEmpty()) {
      call.last("Identity", x);
    } else {
      call.last("Squeeze", x, call.vector(axes));
    }
  }

  static void expand(AtenCall call) {
    String x = call.tensor("self");
    Meta to = call.meta(call.output());
    if (call.meta(x).shape().equals(to.shape())) {
      call.last("Identity", x);
      return;
    }
    List<Long> sizes = new ArrayList<>();
    for (Dim dim : to.shape()) {
      sizes.add(dim instanceof Dim.Fixed(long size) ? size : 1L);
    }
    call.last("Expand", x, call.vector(sizes));
  }

  /** All dimensions in reverse. */
  static void transposeAll(AtenCall call) {
    List<Long> order = LongStream.range(0, call.rank(call.tensor("self"))).boxed().toList();
    permuted(call, order.reversed());
  }

  static void transpose(AtenCall call) {
    int rank = call.rank(call.tensor("self"));
    List<Long> order = new ArrayList<>(LongStream.range(0, rank).boxed().toList());
    int a = call.dimension(call.integer("dim0", 0), rank);
    int b = call.dimension(call.integer("dim1", 1), rank);
    if (rank > 1) {
      Collections.swap(order, a, b);
    }
    permuted(call, order);
  }

  static void permute(AtenCall call) {
    int rank = call.rank(call.tensor("self"));
    permuted(
        call, call.integers("dims").stream().map(d -> (long) call.dimension(d, rank)).toList());
  }

  private static void permuted(AtenCall call, List<Long> order) {
    String x = call.tensor("self");
    List<Long> same = LongStream.range(0, order.size()).boxed().toList();
    if (order.equals(same)) {
      call.last("Identity", x);
      return;
    }
    String untransposed = call.translation().untransposed(x);
    if (untransposed != null && order.equals(List.of(1L, 0L))) {
      call.last("Identity", untransposed);
      return;
    }
    ConstantTensor constant = call.translation().constant(x);
    if (constant != null && constant.rank() == 2 && order.equals(List.of(1L, 0L))) {
      call.translation().transposed(call.output(), x);
      return;
    }
    call.last("Transpose", List.of(x), Map.of("perm", AtenCall.of(order)));
  }
}
