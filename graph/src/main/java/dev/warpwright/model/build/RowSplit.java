package dev.warpwright.model.build;

import dev.warpwright.base.UserError;
import dev.warpwright.model.graph.Graph;
import org.jspecify.annotations.Nullable;

/** Finds out how many dimensions of the inputs are rows. */
public final class RowSplit {
  private RowSplit() {}

  /** Says that an operator acts on a dimension that was taken for rows. */
  static final class ActsOnRows extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient UserError error;

    ActsOnRows(UserError error) {
      super(error.getMessage(), null, false, false);
      this.error = error;
    }
  }

  /** Says that an operator is not supported, however many dimensions are rows. */
  static final class Unsupported extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient UserError error;

    Unsupported(UserError error) {
      super(error.getMessage(), null, false, false);
      this.error = error;
    }
  }

  /** An attempt to import with at most so many dimensions of rows. */
  @FunctionalInterface
  public interface Attempt {
    Graph importWith(int maxRowDims);
  }

  /**
   * The graph of the first attempt that succeeds, from all dimensions but the last as rows down to
   * none.
   *
   * @param rank the largest rank of an input
   * @throws UserError if all fail; what is wrong with the first one
   */
  public static Graph search(int rank, Attempt attempt) {
    UserError first = null;
    for (int dims = Math.max(rank - 1, 0); dims >= 0; dims--) {
      try {
        return attempt.importWith(dims);
      } catch (ActsOnRows e) {
        first = first(first, e.error);
      } catch (Unsupported e) {
        throw e.error;
      } catch (UserError e) {
        throw first(first, e);
      }
    }
    throw first(first, new UserError("the model has no input"));
  }

  private static UserError first(@Nullable UserError first, UserError later) {
    return first == null ? later : first;
  }
}
