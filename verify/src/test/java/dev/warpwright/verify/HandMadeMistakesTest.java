package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What somebody might do wrong in the two largest kernels for Hopper is found by default, without a
 * shape chosen by hand. Some of the mistakes here; all of them by {@code bench/mistakes.sh}.
 */
final class HandMadeMistakesTest {
  /** One of so many is tried in each build. */
  private static final int ONE_OF =
      "all".equals(System.getProperty("warpwright.mistakes")) ? 1 : 16;

  /** Which take more than a tile a block, a second launch, or all blocks at once. */
  private static final List<String> ALWAYS =
      List.of(
          "gemm_bf16_sm90: consumer's parity begins anew with each tile",
          "ffn_bf16_sm90_m16: ticket not reset",
          "ffn_bf16_sm90_m16: reset by nobody",
          "ffn_bf16_sm90_m16: last part of Y of the first launch only");

  static Stream<HandMadeMistake> isFoundByDefault() {
    List<HandMadeMistake> all = all();
    return IntStream.range(0, all.size())
        .filter(i -> i % ONE_OF == 0 || ALWAYS.contains(all.get(i).toString()))
        .mapToObj(all::get);
  }

  private static List<HandMadeMistake> all() {
    return HandMadeMistake.KERNELS.stream().flatMap(k -> HandMadeMistake.in(k).stream()).toList();
  }

  @ParameterizedTest
  @MethodSource
  void isFoundByDefault(HandMadeMistake mistake) {
    assertThat(mistake.verdict(1)).as(mistake.toString()).isNotEmpty();
  }

  @Test
  void thereAreManyAndAllFindTheirPlace() {
    List<HandMadeMistake> all = all();
    assertThat(all).hasSizeGreaterThan(128);
    assertThat(all).extracting(HandMadeMistake::toString).doesNotHaveDuplicates();
    assertThat(all).extracting(HandMadeMistake::text).doesNotHaveDuplicates();
    assertThat(all.stream().map(HandMadeMistake::toString)).containsAll(ALWAYS);
  }
}
