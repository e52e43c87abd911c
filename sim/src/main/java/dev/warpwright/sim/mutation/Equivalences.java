package dev.warpwright.sim.mutation;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why a mutant without findings and with the same results, bit by bit, in every order may be as
 * good as the original. Of a kind without an argument none may be.
 */
public final class Equivalences {
  private static final String ORDERED =
      "every pair of accesses that it orders is ordered by another barrier or wait too: epochs show"
          + " a pair that is not, in whatever order it happens";
  private static final String NOTHING =
      "nothing is under way there that anyone would have to wait for";
  private static final String LAST =
      "no later step of this block waits for that phase, so its arrivals change nothing";
  private static final String PADDING =
      "what the branch keeps out is padding: elements inside their buffer that are zero or whose"
          + " result is not used";

  private static final Map<String, String> ARGUMENTS =
      Map.ofEntries(
          Map.entry("block barrier removed", ORDERED),
          Map.entry("named barrier removed", ORDERED),
          Map.entry("named barrier of another group", "both groups meet where they met before"),
          Map.entry("barrier object waited for no more", ORDERED),
          Map.entry(
              "wait for the next stage's barrier",
              "the step before has waited for this step's stage, or no stage is filled twice"),
          Map.entry(
              "barrier object for one arrival more",
              "no stage is filled twice, so no one waits for it"),
          Map.entry(
              "bytes expected at the next stage's barrier",
              "no stage is filled twice, so each barrier has one phase and gets one step's bytes"),
          Map.entry("arrival left out", LAST),
          Map.entry("arrival twice", LAST),
          Map.entry("another stage released", LAST),
          Map.entry("arrival at the own block only", LAST),
          Map.entry("parity of a wait never changes", "the wait is for phase 0 alone"),
          Map.entry("products not waited for", ORDERED),
          Map.entry("one more group of products left under way", ORDERED),
          Map.entry("asynchronous copies not waited for", NOTHING),
          Map.entry("one more group of copies left under way", NOTHING),
          Map.entry("asynchronous copies not committed", NOTHING),
          Map.entry("asynchronous copy left out", PADDING),
          Map.entry(
              "asynchronous copy always of all bytes",
              "the other operand is zero where this one is not, beyond the end of K"),
          Map.entry("stored slot not waited for", "no group of stores is that old yet"),
          Map.entry("one more slot left under way", "no group of stores is that old yet"),
          Map.entry(
              "proxy fence of global memory left out",
              "those who wrote have fenced on their side, and one of the two fences is enough"),
          Map.entry(
              "counter published without release",
              "the next launch reads it, behind this one's end"),
          Map.entry("counter read without acquire", "only the launch before has written it"),
          Map.entry("predicate left out", PADDING),
          Map.entry("predicate off by one", PADDING),
          Map.entry(
              "initial value left out",
              "the branch that replaces the value is taken by every thread that reads it"),
          Map.entry("load one element further", "the value is not used, or equals its neighbour"),
          Map.entry(
              "vector loaded one element further",
              "the value is not used, or equals its neighbour"),
          Map.entry("store one element further", "the element is padding or stored again"),
          Map.entry(
              "wrong tile of a copy from global memory",
              "rows that are padding are copied instead"),
          Map.entry("one step of a loop left out", "the step adds padding, which is zero"),
          Map.entry(
              "one step of a loop too many",
              "the step adds padding, which is zero, or copies again what is there"),
          Map.entry("wrong lane map", "the index has the same value in these lanes"),
          Map.entry("shuffle with another lane", "the lanes of a group hold the same value"),
          Map.entry(
              "wrong swizzle", "all accesses use the layout of the buffer: only its banks change"),
          Map.entry(
              "two blocks with one tile",
              "2⌊b/2⌋ is used as ⌊b/2⌋ only, or the grid has one block"),
          Map.entry(
              "more registers taken than there are", "the block's pool has them for these groups"));

  private Equivalences() {}

  /** The argument for mutants of this kind, or null if none of them may be equivalent. */
  public static @Nullable String argument(Mutation mutation) {
    return ARGUMENTS.get(mutation.name());
  }
}
