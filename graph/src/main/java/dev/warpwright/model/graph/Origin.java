package dev.warpwright.model.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How a constant came about, where its elements were only moved or rounded: so it can be made again
 * of other weights of the same shapes. A constant that was computed has none.
 */
public sealed interface Origin {
  /**
   * A weight of the model's file, and what it is called there.
   *
   * @param name the key in a state dict, or of an initialiser
   */
  record Stored(String name) implements Origin {}

  /**
   * The elements of a tensor in another shape of the same size.
   *
   * @param from the tensor with the elements
   */
  record Reshaped(ConstantTensor from) implements Origin {}

  /**
   * A matrix with rows and columns exchanged.
   *
   * @param from the matrix
   */
  record Transposed(ConstantTensor from) implements Origin {}

  /**
   * A block of a matrix, from these rows and columns on.
   *
   * @param from the matrix
   * @param row first row of the block
   * @param column first column of the block
   */
  record Block(ConstantTensor from, long row, long column) implements Origin {}

  /**
   * A tensor rounded to tf32.
   *
   * @param from the tensor before
   */
  record Rounded(ConstantTensor from) implements Origin {}

  /**
   * Zeros in the shape of a tensor.
   *
   * @param like the tensor of that shape and type
   */
  record Zeros(ConstantTensor like) implements Origin {}

  /**
   * The rows of two tensors in turns.
   *
   * @param from the rows that come first
   * @param other null for zeros
   * @param rows of each; those that are added are zero
   * @param group rows that follow each other
   */
  record Interleaved(ConstantTensor from, @Nullable ConstantTensor other, long rows, int group)
      implements Origin {}

  /**
   * The rows of several matrices, one below the other.
   *
   * @param parts in order
   */
  record Stacked(List<ConstantTensor> parts) implements Origin {
    /** Keeps a copy of the list. */
    public Stacked {
      parts = List.copyOf(parts);
    }
  }

  /**
   * The columns of a matrix, each multiplied by a number.
   *
   * @param from the matrix
   * @param factors a number for each column
   */
  record Scaled(ConstantTensor from, ConstantTensor factors) implements Origin {}

  /**
   * {@return the weights of the file that a constant was made of; null if it cannot be made again}
   *
   * @param tensor a constant of the graph
   */
  static @Nullable List<ConstantTensor> weights(ConstantTensor tensor) {
    return switch (tensor.origin()) {
      case null -> null;
      case Stored(String _) -> List.of(tensor);
      case Reshaped(ConstantTensor from) -> weights(from);
      case Transposed(ConstantTensor from) -> weights(from);
      case Block(ConstantTensor from, long _, long _) -> weights(from);
      case Rounded(ConstantTensor from) -> weights(from);
      case Zeros(ConstantTensor like) -> weights(like);
      case Interleaved(ConstantTensor from, ConstantTensor other, long _, int _) -> {
        List<ConstantTensor> first = weights(from);
        yield other == null ? first : both(first, weights(other));
      }
      case Scaled(ConstantTensor from, ConstantTensor factors) ->
          both(weights(from), weights(factors));
      case Stacked(List<ConstantTensor> parts) -> {
        List<ConstantTensor> all = new ArrayList<>();
        for (ConstantTensor part : parts) {
          List<ConstantTensor> of = weights(part);
          if (of == null) {
            yield null;
          }
          all.addAll(of);
        }
        yield all.stream().distinct().toList();
      }
    };
  }

  private static @Nullable List<ConstantTensor> both(
      @Nullable List<ConstantTensor> first, @Nullable List<ConstantTensor> second) {
    return first == null || second == null
        ? null
        : Stream.concat(first.stream(), second.stream()).distinct().toList();
  }
}
