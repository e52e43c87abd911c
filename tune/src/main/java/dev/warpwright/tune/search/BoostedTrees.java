package dev.warpwright.tune.search;

import com.microsoft.ml.lightgbm.PredictionType;
import dev.warpwright.tune.space.Features;
import io.github.metarank.lightgbm4j.LGBMBooster;
import io.github.metarank.lightgbm4j.LGBMDataset;
import io.github.metarank.lightgbm4j.LGBMException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Gradient-boosted trees over the logarithm of measured by predicted time: what they learn is how
 * the analytic model is wrong, so with few samples they are no worse than it.
 *
 * <p>Ke et al., "LightGBM: A Highly Efficient Gradient Boosting Decision Tree", NIPS 2017; the
 * library of that name does the work.
 */
public final class BoostedTrees implements CostModel {
  private static final int LEAST_SAMPLES = 12;
  private static final int ROUNDS = 120;
  private static final String PARAMETERS =
      "objective=regression num_leaves=15 learning_rate=0.08 min_data_in_leaf=3"
          + " min_data_in_bin=1 feature_pre_filter=false deterministic=true force_row_wise=true"
          + " num_threads=1 seed=1 verbosity=-1";

  /**
   * Held around every call of the library: how many threads it uses is one number for the process,
   * which each call sets. A data set that is being made while another search sets it is written out
   * of bounds.
   */
  private static final Object LIBRARY = new Object();

  private @Nullable LGBMBooster booster;

  private BoostedTrees() {}

  /** Empty where the native library does not load, for want of libgomp for instance. */
  public static Optional<CostModel> create() {
    try {
      LGBMBooster.loadNative();
      return Optional.of(new BoostedTrees());
    } catch (Exception | LinkageError e) {
      return Optional.empty();
    }
  }

  @Override
  public void fit(List<Sample> samples) {
    synchronized (LIBRARY) {
      if (booster != null) {
        close(booster);
        booster = null;
      }
      if (samples.size() >= LEAST_SAMPLES) {
        booster = fitted(samples);
      }
    }
  }

  private static LGBMBooster fitted(List<Sample> samples) {
    float[] labels = new float[samples.size()];
    for (int i = 0; i < labels.length; i++) {
      Sample sample = samples.get(i);
      labels[i] = (float) Math.log(sample.timeUs() / sample.features().predictedUs());
    }
    List<Features> features = samples.stream().map(Sample::features).toList();
    int columns = features.getFirst().values().length;
    try {
      LGBMDataset data =
          LGBMDataset.createFromMat(
              matrix(features), features.size(), columns, true, PARAMETERS, null);
      try {
        data.setField("label", labels);
        LGBMBooster booster = LGBMBooster.create(data, PARAMETERS);
        for (int round = 0; round < ROUNDS; round++) {
          if (booster.updateOneIter()) {
            break;
          }
        }
        return booster;
      } finally {
        data.close();
      }
    } catch (LGBMException e) {
      throw new IllegalStateException("the cost model cannot be fitted", e);
    }
  }

  @Override
  public double[] predict(List<Features> features) {
    double[] times = features.stream().mapToDouble(Features::predictedUs).toArray();
    synchronized (LIBRARY) {
      if (booster == null || times.length == 0) {
        return times;
      }
      try {
        double[] residuals =
            booster.predictForMat(
                matrix(features),
                features.size(),
                features.getFirst().values().length,
                true,
                PredictionType.C_API_PREDICT_NORMAL);
        for (int i = 0; i < times.length; i++) {
          times[i] *= Math.exp(residuals[i]);
        }
        return times;
      } catch (LGBMException e) {
        throw new IllegalStateException("the cost model cannot predict", e);
      }
    }
  }

  private static double[] matrix(List<Features> features) {
    return features.stream().flatMapToDouble(f -> Arrays.stream(f.values())).toArray();
  }

  private static void close(LGBMBooster booster) {
    try {
      booster.close();
    } catch (LGBMException e) {
      throw new IllegalStateException("the cost model cannot be freed", e);
    }
  }
}
