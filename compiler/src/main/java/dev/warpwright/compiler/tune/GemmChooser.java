package dev.warpwright.compiler.tune;

import dev.warpwright.compiler.bench.BoundKernel;
import dev.warpwright.compiler.bench.KernelBench;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.UserError;
import dev.warpwright.schedule.ScheduleError;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.CandidateFailure;
import dev.warpwright.tune.measure.FailureReason;
import dev.warpwright.tune.measure.Outcome;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.space.Candidate;
import dev.warpwright.tune.space.Point;
import dev.warpwright.tune.space.Rejected;
import dev.warpwright.tune.space.Space;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The kernel to use for a GEMM: the first of {@linkplain TunedGemm#ranked all choices} that compiles
 * without spills, and that nobody has found to be wrong. What was found useless is {@linkplain
 * RejectedKernels remembered}. Every command that needs the kernel of a GEMM asks here.
 *
 * <p>Where there is no compiler, the first choice that was not found wrong is taken.
 */
public final class GemmChooser {
  /** So many of the model's best choices are compiled, and then so many of its smallest ones. */
  private static final int BEST = 16;

  private static final int SMALLEST = 8;

  /** So many kernels may turn out to be wrong before that is told. */
  private static final int MOST_FAILURES = 4;

  private final Where where;
  private final TuningDatabase database;
  private final Optional<KernelCheck> check;
  private final RejectedKernels rejected;

  /**
   * For what is chosen.
   *
   * @param device its name, by which records are found; those of other devices come after
   * @param driver identity of what runs the kernels, on which results may depend; empty if they do
   *     not run here
   */
  public record Where(GpuTarget target, String device, int multiprocessors, String driver) {}

  /** A chooser; {@code check} is empty to take what has not been compiled. */
  public GemmChooser(
      Where where,
      TuningDatabase database,
      Optional<KernelCheck> check,
      RejectedKernels rejected) {
    this.where = where;
    this.database = database;
    this.check = check;
    this.rejected = rejected;
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
   * @throws DeviceError if there is a compiler that compiles none
   */
  public TunedGemm choose(GemmWorkload workload) {
    return usable(workload, ranked(workload));
  }

  /** As {@link #choose}, as if nothing had been measured. */
  public TunedGemm chooseUntuned(GemmWorkload workload) {
    return usable(workload, untuned(workload));
  }

  /**
   * Uses the first kernel that is not found useless when it is used.
   *
   * @param untuned whether records are ignored
   * @throws DeviceError with the first failure, if several kernels are useless
   */
  public <T> T use(GemmWorkload workload, boolean untuned, Use<T> use) {
    List<TunedGemm> choices = untuned ? untuned(workload) : ranked(workload);
    List<Outcome.Failed> skipped = new ArrayList<>();
    while (skipped.size() < MOST_FAILURES) {
      TunedGemm kernel = usable(workload, choices);
      try {
        return use.with(kernel, List.copyOf(skipped));
      } catch (CandidateFailure e) {
        Outcome.Failed failure = new Outcome.Failed(e.reason(), String.valueOf(e.getMessage()));
        reject(workload, kernel.candidate(), failure);
        Point useless = kernel.candidate().point();
        choices =
            choices.stream().filter(c -> !c.candidate().point().equals(useless)).toList();
        skipped.add(failure);
      }
    }
    throw new DeviceError(
        "%s: %d kernels in turn are useless, the first one because %s"
            .formatted(GemmKeys.of(workload), skipped.size(), skipped.getFirst().message()));
  }

  /** Remembers that a kernel was compiled, but is useless on this device. */
  public void reject(GemmWorkload workload, Candidate candidate, Outcome.Failed failure) {
    rejected.add(
        Source.of(candidate, where.target()).hash(),
        runs(failure.reason()) ? device() : compiler(),
        failure,
        about(workload, candidate));
  }

  private List<TunedGemm> ranked(GemmWorkload workload) {
    return TunedGemm.ranked(
        workload, where.target(), where.device(), where.multiprocessors(), database);
  }

  private List<TunedGemm> untuned(GemmWorkload workload) {
    Space space = GemmSpace.of(workload, where.target(), where.multiprocessors());
    return GemmRanking.of(space).stream()
        .map(candidate -> new TunedGemm(candidate, TunedGemm.Origin.UNTUNED))
        .toList();
  }

  /** The text of a candidate's kernel. */
  private record Source(Kernel kernel, String text) {
    static Source of(Candidate candidate, GpuTarget target) {
      Kernel kernel = BoundKernel.of(candidate.kernel().get(), candidate.values()).kernel();
      return new Source(kernel, CudaPrinter.print(kernel, target));
    }

    String hash() {
      return KernelBench.hash(text);
    }
  }

  private TunedGemm usable(GemmWorkload workload, List<TunedGemm> choices) {
    List<Runnable> refusals = new ArrayList<>();
    Set<Point> useless = new HashSet<>();
    List<Outcome.Failed> failures = new ArrayList<>();
    for (List<TunedGemm> turn : turns(workload, choices)) {
      int tries = turn == choices ? BEST : SMALLEST;
      for (TunedGemm choice : turn) {
        Candidate candidate = choice.candidate();
        if (tries == 0) {
          break;
        }
        if (useless.contains(GemmRanking.kin(candidate.point()))) {
          continue;
        }
        tries--;
        Optional<Outcome.Failed> problem = problem(workload, candidate, refusals);
        if (problem.isEmpty()) {
          // What the compiler refused is the kernel's fault: it takes others.
          refusals.forEach(Runnable::run);
          return choice;
        }
        if (!runs(problem.get().reason())) {
          useless.add(GemmRanking.kin(candidate.point()));
        }
        failures.add(problem.get());
        if (refusals.size() == MOST_FAILURES && refusals.size() == failures.size()) {
          // It is the compiler that does not work.
          throw none(workload, failures);
        }
      }
    }
    throw none(workload, failures);
  }

  private RuntimeException none(GemmWorkload workload, List<Outcome.Failed> failures) {
    String first = failures.isEmpty() ? "there is none" : failures.getFirst().message();
    if (failures.stream().allMatch(failure -> failure.reason() == FailureReason.REJECTED)) {
      // No compiler has seen anything: it is what was asked for that is impossible.
      return new UserError(GemmKeys.of(workload) + ": " + first);
    }
    return new DeviceError(
        "%s: none of %d kernels can be used on %s, the first one because %s"
            .formatted(GemmKeys.of(workload), failures.size(), where.target().name(), first));
  }

  /** Whether a failure is seen when a kernel runs: another one of nearly the same code need not. */
  private static boolean runs(FailureReason reason) {
    return switch (reason) {
      case REJECTED, COMPILE, SPILL -> false;
      case LAUNCH, WRONG, FAULT, HANG, CRASH -> true;
    };
  }

  /** The choices in order, then the smallest, then the kernels that every compiler takes. */
  private List<List<TunedGemm>> turns(GemmWorkload workload, List<TunedGemm> choices) {
    List<Candidate> candidates = choices.stream().map(TunedGemm::candidate).toList();
    List<Candidate> plain =
        GemmRanking.of(new Space(List.of(new PlainSketch(workload.withVectorsAlongK()))));
    return List.of(
        choices, untuned(GemmRanking.smallestFirst(candidates)), untuned(plain));
  }

  private static List<TunedGemm> untuned(List<Candidate> candidates) {
    return candidates.stream()
        .map(candidate -> new TunedGemm(candidate, TunedGemm.Origin.UNTUNED))
        .toList();
  }

  /**
   * Why a candidate cannot be used.
   *
   * @param refusals to remember if the compiler takes another kernel
   */
  private Optional<Outcome.Failed> problem(
      GemmWorkload workload, Candidate candidate, List<Runnable> refusals) {
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
        Stream.of(compiler(), device())
            .flatMap(by -> rejected.find(hash, by).stream())
            .findFirst();
    if (known.isPresent() || check.isEmpty()) {
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
    return GemmKeys.of(workload) + ": " + candidate.point();
  }

  private String compiler() {
    return where.target().name() + " " + check.map(KernelCheck::identity).orElse("no compiler");
  }

  private String device() {
    return compiler() + " on " + where.device() + " " + where.driver();
  }
}
