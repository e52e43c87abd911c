package dev.warpwright.cli.fusion;

import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.tune.measure.Measurer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Finds the kernels with which a network that has a GEMM for each layer is fastest as a whole. The
 * kernel that is fastest alone need not be it: in a program it shares L2 with what is before it,
 * and its SMs with the launch that begins when it ends. So, GEMM by GEMM, the fastest of other
 * kinds take its place, and the best program of them goes on, until no exchange makes it faster,
 * nor one of two kernels at once.
 */
final class KernelExchange {
  /** So many kernels of a call, and how much slower than its fastest they may be alone. */
  private static final int CHOICES = 10;

  private static final double SLOWER = 1.15;

  /** A way that is slower than the fastest by more is not gone on with. */
  private static final double HOPELESS = 1.1;

  private static final int MOST_SWEEPS = 3;

  /** So many kernels of a call, nearly the best by themselves, are tried with others' such. */
  private static final int NEAR = 3;

  private final NetworkTuning tuning;
  private final Map<String, List<String>> choices;
  private final NetworkTuning.Limits limits;
  private final Measurer measurer;
  private final Consumer<String> listener;

  private KernelExchange(
      NetworkTuning tuning,
      Map<String, List<String>> choices,
      NetworkTuning.Limits limits,
      Measurer measurer,
      Consumer<String> listener) {
    this.tuning = tuning;
    this.choices = choices;
    this.limits = limits;
    this.measurer = measurer;
    this.listener = listener;
  }

  /**
   * Exchanges kernels of the fastest ways that were measured, if they have a GEMM for each layer.
   *
   * @param listener is told a line after every program
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  static void run(
      NetworkTuning tuning,
      NetworkCandidates candidates,
      NetworkTuning.Limits limits,
      Measurer measurer,
      Consumer<String> listener)
      throws InterruptedException {
    List<PerLayerWay> starts = starts(tuning);
    if (starts.isEmpty()) {
      return;
    }
    KernelExchange exchange =
        new KernelExchange(tuning, candidates.choices(CHOICES, SLOWER), limits, measurer, listener);
    for (PerLayerWay start : exchange.withKernels(starts)) {
      exchange.from(start);
    }
  }

  /**
   * Of each way the kernels with which it is fastest so far, for where an earlier search has ended,
   * this one goes on; the fastest first. Ways whose kernels were never exchanged are held against
   * the fastest of such.
   */
  private static List<PerLayerWay> starts(NetworkTuning tuning) {
    if (tuning.ranked().isEmpty()) {
      return List.of();
    }
    List<PerLayerWay> known =
        tuning.ranked().stream().flatMap(name -> PerLayerWay.of(name).stream()).toList();
    double least = tuning.micros(tuning.ranked().getFirst());
    if (known.isEmpty() || tuning.micros(known.getFirst().name()) > HOPELESS * least) {
      return List.of();
    }
    double leastPlain =
        known.stream()
            .mapToDouble(way -> tuning.micros(way.plain().name()))
            .min()
            .orElse(Double.POSITIVE_INFINITY);
    Map<PerLayerWay, PerLayerWay> starts = new LinkedHashMap<>();
    for (PerLayerWay way : known) {
      if (tuning.micros(way.name()) <= HOPELESS * least
          || tuning.micros(way.plain().name()) <= HOPELESS * leastPlain) {
        starts.putIfAbsent(way.plain(), way);
      }
    }
    return List.copyOf(starts.values());
  }

  /**
   * Measures every start with kernels for all calls, its own and those of the fastest start, or
   * those that are fastest alone; the fastest first.
   */
  private List<PerLayerWay> withKernels(List<PerLayerWay> starts) throws InterruptedException {
    List<List<PerLayerWay>> begun = new ArrayList<>();
    for (PerLayerWay start : starts) {
      PerLayerWay same = start.plain();
      for (Map.Entry<String, String> kernel : starts.getFirst().kernels().entrySet()) {
        same = same.with(kernel.getKey(), kernel.getValue());
      }
      begun.add(List.of(filled(start), filled(same)));
    }
    measure(begun.stream().flatMap(List::stream).distinct().toList());
    Comparator<PerLayerWay> faster = Comparator.comparingDouble(way -> tuning.micros(way.name()));
    return begun.stream().map(ways -> Collections.min(ways, faster)).sorted(faster).toList();
  }

  /** A way with the kernels that are fastest alone for calls of which it says nothing. */
  private PerLayerWay filled(PerLayerWay way) {
    PerLayerWay filled = way;
    for (Map.Entry<String, List<String>> call : choices.entrySet()) {
      if (!call.getValue().isEmpty() && !filled.kernels().containsKey(call.getKey())) {
        filled = filled.with(call.getKey(), call.getValue().getFirst());
      }
    }
    return filled;
  }

  private void from(PerLayerWay start) throws InterruptedException {
    PerLayerWay best = start;
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
      PerLayerWay before = best;
      for (String call : choices.keySet()) {
        best = fastest(best, each(best, call));
      }
      if (best.equals(before)) {
        best = pairs(best);
      }
      if (best.equals(before)) {
        return;
      }
    }
  }

  /** A way with each of the kernels for a call. */
  private List<PerLayerWay> each(PerLayerWay way, String call) {
    return choices.getOrDefault(call, List.of()).stream()
        .map(digest -> way.with(call, digest))
        .toList();
  }

  /**
   * Exchanges two kernels at once: where no exchange of one helps, two that stand beside each other
   * may. Each call comes with the kernels that were nearly the best in its place.
   */
  private PerLayerWay pairs(PerLayerWay start) throws InterruptedException {
    PerLayerWay best = start;
    List<String> calls = List.copyOf(choices.keySet());
    for (int i = 0; i < calls.size(); i++) {
      for (int j = i + 1; j < calls.size(); j++) {
        List<PerLayerWay> both = new ArrayList<>();
        for (PerLayerWay one : near(best, calls.get(i))) {
          for (PerLayerWay other : near(best, calls.get(j))) {
            String digest = Objects.requireNonNull(other.kernels().get(calls.get(j)));
            both.add(one.with(calls.get(j), digest));
          }
        }
        best = fastest(best, both);
      }
    }
    return best;
  }

  /** A way with other kernels for a call, those that made it least slow. */
  private List<PerLayerWay> near(PerLayerWay way, String call) {
    return each(way, call).stream()
        .filter(other -> !other.equals(way) && tuning.isKnown(other.name()))
        .sorted(Comparator.comparingDouble(other -> tuning.micros(other.name())))
        .limit(NEAR)
        .toList();
  }

  /** The fastest of a way and others. */
  private PerLayerWay fastest(PerLayerWay way, List<PerLayerWay> others)
      throws InterruptedException {
    measure(others);
    PerLayerWay best = way;
    for (PerLayerWay other : others) {
      if (tuning.micros(other.name()) < tuning.micros(best.name())) {
        best = other;
      }
    }
    return best;
  }

  private void measure(List<PerLayerWay> ways) throws InterruptedException {
    Iterator<String> names =
        ways.stream().map(PerLayerWay::name).filter(name -> !tuning.isKnown(name)).iterator();
    tuning.measure(
        () -> names.hasNext() ? names.next() : null, (_, _) -> {}, limits, measurer, listener);
  }
}
