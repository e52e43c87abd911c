package dev.warpwright.families.tuned;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.families.plain.PlainSketch;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Kernel;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.KnownRecords;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The kernel to use for a GEMM: the first of all choices that compiles without spills, and that
 * nobody has found to be wrong. Choices are what was measured, then what was measured for another
 * workload of the same shape, then what the analytic model thinks, then the model's smallest tiles.
 * A record that was made with another source, driver, compiler or device is a choice like others,
 * {@link TunedGemm.Origin#UNTESTED}. What was found useless is {@linkplain RejectedKernels
 * remembered}. Every command that needs the kernel of a GEMM asks here.
 *
 * <p>Where there is no compiler, the first choice that was not found wrong is taken.
 */
public final class GemmChooser {
  /** So many of the model's best choices are compiled, and then so many of its smallest ones. */
  private static final int BEST = 16;

  /** After so many of the best that failed, others than those like them are tried first. */
  private static final int ALIKE = 4;

  private static final int SMALLEST = 8;

  private static final int ALL = Integer.MAX_VALUE;

  /**
   * After so long without a kernel that compiles, no further one is compiled: one kernel that its
   * compiler refuses says nothing of the next, but a compiler that does not work refuses all.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** One of so many choices is like one before it but for its shared memory. */
  private static final int KINDS_TO_STAGES = 3;

  /** So many kernels may turn out to be wrong before that is told. */
  private static final int MOST_FAILURES = 4;

  private final Where where;
  private final KnownRecords database;
  private final Optional<KernelCheck> check;
  private final RejectedKernels rejected;
  private final boolean trusting;
  private final Duration patience;

  /**
   * For what is chosen.
   *
   * @param here the device, by whose name records are found, those of other devices after, and what
   *     a record must agree with to count as tuned; null if there is no such device here
   */
  public record Where(GpuTarget target, @Nullable Environment here, int sms) {}

  /** A chooser; {@code check} is empty to take what has not been compiled. */
  public GemmChooser(
      Where where, KnownRecords database, Optional<KernelCheck> check, RejectedKernels rejected) {
    this(where, database, check, rejected, false, PATIENCE);
  }

  private GemmChooser(
      Where where,
      KnownRecords database,
      Optional<KernelCheck> check,
      RejectedKernels rejected,
      boolean trusting,
      Duration patience) {
    this.where = where;
    this.database = database;
    this.check = check;
    this.rejected = rejected;
    this.trusting = trusting;
    this.patience = patience;
  }

  /**
   * The same, but what was measured with the source of today is not compiled: it was fine then. For
   * who is in a hurry.
   */
  GemmChooser trusting() {
    return new GemmChooser(where, database, check, rejected, true, patience);
  }

  /** The same, but after so long no further choice is compiled. */
  GemmChooser within(Duration longest) {
    return new GemmChooser(where, database, check, rejected, trusting, longest);
  }

  /**
   * The kernel of a point that was measured; empty if none was that the digest stands for, or there
   * is something against it.
   *
   * @param digest {@link Point#digest}
   */
  Optional<TunedGemm> recorded(GemmWorkload workload, String digest) {
    return TunedGemm.measured(workload, where.target(), where.here(), where.sms(), database, digest)
        .filter(
            choice ->
                problem(workload, choice.gemm().candidate(), choice.sourceHash(), new ArrayList<>())
                    .isEmpty())
        .map(TunedGemm.Recorded::gemm);
  }

  /**
   * The fastest points that were measured for a GEMM, one of each kind: they differ by more than
   * what hardly changes a thread's code.
   *
   * @param most so many of them
   * @param slower than the fastest, at most, as 1.2
   */
  List<Point> choices(GemmWorkload workload, int most, double slower) {
    List<TuningRecord> fastest =
        TunedGemm.fastest(workload, where.target(), where.here(), database);
    List<Point> points =
        fastest.stream()
            .filter(r -> TunedGemm.timeUs(r) <= slower * TunedGemm.timeUs(fastest.getFirst()))
            .map(TuningRecord::point)
            .toList();
    Map<Point, Point> kinds = new LinkedHashMap<>();
    points.forEach(point -> kinds.putIfAbsent(GemmRanking.kin(point), point));
    // Beside another launch it counts, too, how much shared memory a kernel leaves.
    Map<Point, Point> stages = new LinkedHashMap<>();
    points.forEach(point -> stages.putIfAbsent(GemmRanking.room(point), point));
    return Stream.concat(
            kinds.values().stream().limit(most - most / KINDS_TO_STAGES), stages.values().stream())
        .distinct()
        .limit(most)
        .toList();
  }

  /** What a kernel is chosen for; it tells if the kernel is useless. */
  @FunctionalInterface
  public interface Use<T> {
    /**
     * Uses a kernel.
     *
     * @param skipped why those before it turned out to be useless
     * @throws CandidateFailure if another one is to be taken
     */
    T with(TunedGemm kernel, List<Outcome.Failed> skipped) throws CandidateFailure;
  }

  /**
   * The kernel to use.
   *
   * @throws UserError if no family of kernels computes the product on the target
   * @throws DeviceError if there is a compiler that compiles none, or none within a minute
   */
  public TunedGemm choose(GemmWorkload workload) {
    return usable(workload, false, Set.of());
  }

  /** As {@link #choose}, as if nothing had been measured. */
  public TunedGemm chooseUntuned(GemmWorkload workload) {
    return usable(workload, true, Set.of());
  }

  /**
   * Uses the first kernel that is not found useless when it is used.
   *
   * @param untuned whether records are ignored
   * @throws DeviceError with the first failure, if several kernels are useless
   */
  public <T> T use(GemmWorkload workload, boolean untuned, Use<T> use) {
    List<Outcome.Failed> skipped = new ArrayList<>();
    Set<Point> useless = new HashSet<>();
    while (skipped.size() < MOST_FAILURES) {
      TunedGemm kernel = usable(workload, untuned, useless);
      try {
        return use.with(kernel, List.copyOf(skipped));
      } catch (CandidateFailure e) {
        Outcome.Failed failure = new Outcome.Failed(e.reason(), String.valueOf(e.getMessage()));
        reject(workload, kernel.candidate(), failure);
        useless.add(kernel.candidate().point());
        skipped.add(failure);
      }
    }
    throw new DeviceError(
        String.format(
            Locale.ROOT,
            "%s: %d kernels in turn are useless, the first one because %s",
            workload.key(),
            skipped.size(),
            skipped.getFirst().message()));
  }

  /** Remembers that a kernel was compiled, but is useless on this device. */
  public void reject(GemmWorkload workload, Candidate candidate, Outcome.Failed failure) {
    rejected.add(
        Source.of(candidate, where.target()).hash(),
        runs(failure.reason()) ? device() : compiler(),
        failure,
        about(workload, candidate));
  }

  /** The text of a candidate's kernel. */
  private record Source(Kernel kernel, String text) {
    static Source of(Candidate candidate, GpuTarget target) {
      Kernel kernel = BoundKernel.of(candidate.kernel().get(), candidate.values()).kernel();
      return new Source(kernel, CudaPrinter.print(kernel, target));
    }

    String hash() {
      return SourceHash.of(text);
    }
  }

  /**
   * Choices of one kind.
   *
   * @param tries so many of them are looked at, at most
   */
  private record Turn(int tries, Supplier<Stream<TunedGemm.Recorded>> choices) {
    static Turn of(int tries, Supplier<List<TunedGemm>> choices) {
      return new Turn(
          tries, () -> choices.get().stream().map(gemm -> new TunedGemm.Recorded(gemm, "")));
    }
  }

  /** All choices, those of the first turn first; the model is asked when it is needed. */
  private List<Turn> turns(GemmWorkload workload, boolean untuned) {
    GpuTarget target = where.target();
    int sms = where.sms();
    List<TunedGemm> modelled = new ArrayList<>();
    List<Turn> turns = new ArrayList<>();
    if (!untuned) {
      turns.add(
          new Turn(ALL, () -> TunedGemm.measured(workload, target, where.here(), sms, database)));
    }
    turns.add(
        Turn.of(
            BEST,
            () -> {
              modelled.addAll(
                  untuned
                      ? untuned(GemmRanking.of(GemmSpace.of(workload, target, sms)))
                      : TunedGemm.modelled(workload, target, sms, database));
              return modelled;
            }));
    turns.add(
        Turn.of(
            SMALLEST,
            () ->
                untuned(
                    GemmRanking.smallestFirst(
                        modelled.stream().map(TunedGemm::candidate).toList()))));
    if (!workload.epilogue().isNormed()) {
      Space plain = new Space(List.of(new PlainSketch(workload.withVectorsAlongK(), target, sms)));
      turns.add(Turn.of(ALL, () -> untuned(GemmRanking.of(plain))));
    }
    return turns;
  }

  private static List<TunedGemm> untuned(List<Candidate> candidates) {
    return candidates.stream()
        .map(candidate -> new TunedGemm(candidate, TunedGemm.Origin.UNTUNED))
        .toList();
  }

  /**
   * The first choice that there is nothing against.
   *
   * @param useless what is not to be taken
   */
  private TunedGemm usable(GemmWorkload workload, boolean untuned, Set<Point> useless) {
    List<Runnable> refusals = new ArrayList<>();
    Set<Point> kin = new HashSet<>();
    List<Outcome.Failed> failures = new ArrayList<>();
    long start = System.nanoTime();
    for (Turn turn : turns(workload, untuned)) {
      int tries = turn.tries();
      Iterator<TunedGemm.Recorded> choices = turn.choices().get().iterator();
      Map<Point, Integer> spilled = new HashMap<>();
      Deque<TunedGemm.Recorded> later = new ArrayDeque<>();
      while (tries > 0 && (choices.hasNext() || !later.isEmpty())) {
        boolean first = choices.hasNext();
        TunedGemm.Recorded choice = first ? choices.next() : later.remove();
        Candidate candidate = choice.gemm().candidate();
        Point alike = GemmRanking.alike(candidate.point());
        if (first && turn.tries() == BEST && spilled.getOrDefault(alike, 0) >= ALIKE) {
          later.add(choice);
          continue;
        }
        if (useless.contains(candidate.point())
            || kin.contains(GemmRanking.kin(candidate.point()))) {
          continue;
        }
        tries--;
        Optional<Outcome.Failed> problem =
            problem(workload, candidate, choice.sourceHash(), refusals);
        if (problem.isEmpty()) {
          // What the compiler refused is the kernel's fault: it takes others.
          refusals.forEach(Runnable::run);
          return choice.gemm();
        }
        if (!runs(problem.get().reason())) {
          kin.add(GemmRanking.kin(candidate.point()));
          spilled.merge(alike, 1, Integer::sum);
        }
        failures.add(problem.get());
        Duration taken = Duration.ofNanos(System.nanoTime() - start);
        if (check.isPresent() && taken.compareTo(patience) >= 0) {
          throw none(
              workload, failures, "; after " + taken.toSeconds() + " s no more are compiled");
        }
      }
    }
    throw none(workload, failures, "");
  }

  private RuntimeException none(
      GemmWorkload workload, List<Outcome.Failed> failures, String ended) {
    String first = failures.isEmpty() ? "there is none" : failures.getFirst().message();
    if (failures.stream().allMatch(failure -> failure.reason() == FailureReason.REJECTED)) {
      // No compiler has seen anything: it is what was asked for that is impossible.
      return new UserError(workload.key() + ": " + first);
    }
    return new DeviceError(
        String.format(
            Locale.ROOT,
            "%s: none of %d kernels can be used on %s, the first one because %s%s",
            workload.key(),
            failures.size(),
            where.target().name(),
            first,
            ended));
  }

  /** Whether a failure is seen when a kernel runs: another one of nearly the same code need not. */
  private static boolean runs(FailureReason reason) {
    return switch (reason) {
      case REJECTED, COMPILE, SPILL -> false;
      case LAUNCH, WRONG, FAULT, HANG, CRASH, UNMEASURED -> true;
    };
  }

  /**
   * Why a candidate cannot be used.
   *
   * @param measured hash of the source that was measured; empty if none was
   * @param refusals to remember if the compiler takes another kernel
   */
  private Optional<Outcome.Failed> problem(
      GemmWorkload workload, Candidate candidate, String measured, List<Runnable> refusals) {
    Source source;
    try {
      source = Source.of(candidate, where.target());
    } catch (Rejected | UserError | ScheduleError e) {
      // The plan was possible, its schedule is not.
      return Optional.of(
          new Outcome.Failed(FailureReason.REJECTED, String.valueOf(e.getMessage())));
    }
    String hash = source.hash();
    Optional<Outcome.Failed> known =
        Stream.of(compiler(), device()).flatMap(by -> rejected.find(hash, by).stream()).findFirst();
    if (known.isPresent() || check.isEmpty() || (trusting && hash.equals(measured))) {
      return known;
    }
    Optional<Outcome.Failed> problem =
        check.get().problem(source.kernel(), source.text(), where.target());
    problem.ifPresent(
        failure -> {
          Runnable remember =
              () -> rejected.add(hash, compiler(), failure, about(workload, candidate));
          if (failure.reason() == FailureReason.COMPILE) {
            refusals.add(remember);
          } else {
            remember.run();
          }
        });
    return problem;
  }

  private static String about(GemmWorkload workload, Candidate candidate) {
    return workload.key() + ": " + candidate.point();
  }

  private String compiler() {
    return where.target().name() + " " + check.map(KernelCheck::identity).orElse("no compiler");
  }

  private String device() {
    // On the driver and the device results may depend.
    Environment here = where.here();
    return compiler() + " on " + (here == null ? " " : here.device() + " " + here.driver());
  }
}
