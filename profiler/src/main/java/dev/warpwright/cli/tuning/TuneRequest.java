package dev.warpwright.cli.tuning;

import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.tune.Tuner;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Searches for the fastest kernels of products.
 *
 * @param folder where the results' files go, a folder for each; null for the data folder
 * @param rounds of the last measurement, beside the baselines
 * @param together how the searches share trials
 */
public record TuneRequest(
    List<Search> searches, Path database, @Nullable Path folder, int rounds, Together together) {
  /**
   * How several searches share trials.
   *
   * @param seconds of all together; 0 if not limited but by their own
   * @param until a product is done at this part of its roofline; 0 if at none
   */
  public record Together(double seconds, double until) {
    /** Each search by itself. */
    public static final Together NOT = new Together(0, 0);

    /** The same in a part of the time. */
    Together part(double part) {
      return new Together(seconds * part, until);
    }

    public boolean isAsked() {
      return seconds > 0 || until > 0;
    }
  }

  /** Each search by itself. */
  public TuneRequest(List<Search> searches, Path database, @Nullable Path folder, int rounds) {
    this(searches, database, folder, rounds, Together.NOT);
  }

  /**
   * One product, or several that share the trials.
   *
   * @param options whose limits are those of all products together
   */
  public record Search(Products products, GemmTuning.Options options) {
    /** The same, but nothing is begun after so many seconds. */
    Search within(double seconds) {
      Tuner.Limits limits = new Tuner.Limits(options.limits().trials(), seconds);
      return new Search(
          products,
          new GemmTuning.Options(
              limits,
              options.search(),
              options.free(),
              options.model(),
              options.transfer(),
              options.seed()));
    }
  }

  public TuneRequest {
    searches = List.copyOf(searches);
  }
}
