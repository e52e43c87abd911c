package dev.warpwright.model.pt2;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** An argument of an operator. */
sealed interface Argument {

  /** It is left out. */
  record None() implements Argument {}

  record OfTensor(String name) implements Argument {}

  record OfTensors(List<String> names) implements Argument {
    public OfTensors {
      names = List.copyOf(names);
    }
  }

  record OfInt(long value) implements Argument {}

  /**
   * Integers, of which some may be sizes that are known only at run time.
   *
   * @param values null where it is known only at run time
   */
  record OfInts(List<@Nullable Long> values) implements Argument {}

  record OfFloat(double value) implements Argument {}

  record OfBool(boolean value) implements Argument {}

  record OfText(String value) implements Argument {}

  /** An element type by its number in PyTorch. */
  record OfType(long code) implements Argument {}

  /** A size that is known only at run time. */
  record OfSize(String name) implements Argument {}

  /**
   * Any other.
   *
   * @param kind as the file has it, without {@code as_}
   */
  record Other(String kind) implements Argument {}
}
