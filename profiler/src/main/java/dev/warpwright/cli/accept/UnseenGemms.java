package dev.warpwright.cli.accept;

import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.tuning.GemmArguments;
import dev.warpwright.workload.GemmWorkload;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * GEMMs that nobody has tuned, drawn by a seed. One half has the sizes of well-known models, for
 * numbers of rows from one token to a batch of prompts; the other half is log-uniform, M from 1 to
 * 16384, N and K from 16 to 32768, in multiples of 64, of 8, and of nothing.
 *
 * <p>What is fitted to one draw says nothing until it was measured on another one.
 */
final class UnseenGemms {
  private static final long MOST_ROWS = 16_384;
  private static final long LEAST_WIDTH = 16;
  private static final long MOST_WIDTH = 32_768;

  /** Multiply-adds: fewer are all launch, more take long to verify. */
  private static final double LEAST_WORK = 0.5e8;

  private static final double MOST_WORK = 1L << 38;
  private static final double MOST_ELEMENTS = 1L << 27;

  /** Width, hidden width of the feed-forward block, and columns of queries, keys and values. */
  private static final long[][] MODELS = {
    {768, 3072, 2304}, // BERT-base, GPT-2, ViT-B
    {1024, 4096, 3072}, // BERT-large, ViT-L
    {1600, 6400, 4800}, // GPT-2 XL
    {2048, 8192, 3072}, // Llama-3.2-1B
    {3072, 8192, 9216}, // Phi-3-mini
    {3584, 18_944, 4608}, // Qwen2.5-7B
    {4096, 11_008, 12_288}, // Llama-2-7B
    {4096, 14_336, 6144}, // Llama-3-8B, Mistral-7B
    {5120, 13_824, 15_360}, // Llama-2-13B
    {8192, 28_672, 10_240}, // Llama-3-70B
  };

  private UnseenGemms() {}

  /**
   * Draws.
   *
   * @param types words of {@code dtype=}, one of which each GEMM gets
   * @param layouts words of {@code layout=}
   * @return so many different ones; the first of them are the same whatever their number
   */
  static List<GemmWorkload> draw(long seed, int count, List<String> types, List<String> layouts) {
    SplittableRandom random = new SplittableRandom(seed);
    Set<String> texts = new LinkedHashSet<>();
    while (texts.size() < count) {
      long[] shape = random.nextBoolean() ? ofModel(random) : anywhere(random);
      String type = types.get(random.nextInt(types.size()));
      String layout = layouts.get(random.nextInt(layouts.size()));
      double elements = (double) shape[0] * shape[1];
      double work = elements * shape[2];
      if (work >= LEAST_WORK && work <= MOST_WORK && elements <= MOST_ELEMENTS) {
        texts.add(
            String.format(
                Locale.ROOT,
                "M=%d N=%d K=%d dtype=%s layout=%s",
                shape[0],
                shape[1],
                shape[2],
                type,
                layout));
      }
    }
    return texts.stream()
        .map(text -> GemmArguments.read(new KeyValues(List.of(text.split(" ")))))
        .toList();
  }

  /** M, N and K of a layer of a model. */
  private static long[] ofModel(SplittableRandom random) {
    long[] model = MODELS[random.nextInt(MODELS.length)];
    long rows = 1L << random.nextInt(14);
    long m = random.nextInt(4) == 0 ? Math.min(MOST_ROWS, rows + random.nextLong(rows)) : rows;
    return switch (random.nextInt(5)) {
      case 0 -> new long[] {m, model[2], model[0]};
      case 1 -> new long[] {m, model[0], model[0]};
      case 2 -> new long[] {m, model[1], model[0]};
      case 3 -> new long[] {m, 2 * model[1], model[0]};
      default -> new long[] {m, model[0], model[1]};
    };
  }

  private static long[] anywhere(SplittableRandom random) {
    return new long[] {
      extent(random, 1, MOST_ROWS),
      extent(random, LEAST_WIDTH, MOST_WIDTH),
      extent(random, LEAST_WIDTH, MOST_WIDTH)
    };
  }

  /** Equally many of each magnitude. */
  private static long extent(SplittableRandom random, long least, long most) {
    double share = random.nextDouble();
    long drawn = Math.round(least * Math.pow((double) most / least, share));
    long granule =
        switch (random.nextInt(3)) {
          case 0 -> 1;
          case 1 -> 8;
          default -> 64;
        };
    return Math.min(most, Math.ceilDiv(drawn, granule) * granule);
  }
}
