package dev.warpwright.families.tuned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GemmChooserTest {
  private static final GemmWorkload WORKLOAD = GemmWorkload.nt(777, 333, 1111, DType.BF16);
  private static final Outcome.Failed SPILL = new Outcome.Failed(FailureReason.SPILL, "8 bytes");
  private static final Outcome.Failed REFUSED =
      new Outcome.Failed(FailureReason.COMPILE, "does not compile");

  private static final GpuTarget SM_80 = GpuTarget.SM_80;

  @TempDir private Path folder;

  private final List<String> compiled = new ArrayList<>();

  private static Environment environment(String driver) {
    return new Environment("sm_80", "fake", driver, "1", "1");
  }

  private static GemmChooser.Where where(String driver) {
    return new GemmChooser.Where(SM_80, environment(driver), 108);
  }

  /** A compiler that says this of the sources it is given, the first of which is number 0. */
  private KernelCheck compiler(String identity, Function<Integer, Outcome.Failed> says) {
    return new KernelCheck() {
      @Override
      public String identity() {
        return identity;
      }

      @Override
      public Optional<Outcome.Failed> problem(Kernel kernel, String source, GpuTarget target) {
        compiled.add(SourceHash.of(source));
        Outcome.Failed failed = says.apply(compiled.size() - 1);
        return failed.message().isEmpty() ? Optional.empty() : Optional.of(failed);
      }
    };
  }

  private static Outcome.Failed fine() {
    return new Outcome.Failed(FailureReason.SPILL, "");
  }

  private GemmChooser chooser(TuningDatabase database, String driver, KernelCheck check) {
    return new GemmChooser(
        where(driver), database, Optional.of(check), new RejectedKernels(folder));
  }

  private long remembered() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.count();
    }
  }

  private static List<Candidate> ranking() {
    return GemmRanking.of(GemmSpace.of(WORKLOAD, SM_80, 108));
  }

  /** A network then has kernels of its own for it. */
  @Test
  void whatNoFamilyComputesIsNotFound() {
    GemmWorkload gate =
        new GemmWorkload(
            64,
            128,
            96,
            DType.F32,
            DType.F32,
            GemmWorkload.Layout.NT,
            Epilogue.glu(false, Activation.SILU));
    try (GemmKernels kernels = GemmKernels.uncompiled(GpuTarget.SM_80)) {
      assertThat(kernels.find(gate)).isEmpty();
      assertThat(kernels.expect(gate)).isEmpty();
      assertThatThrownBy(() -> kernels.require(gate))
          .isInstanceOf(UserError.class)
          .hasMessageStartingWith("no kernel computes gemm a=f32")
          .hasMessageEndingWith(" on sm_80");
    }
  }

  @Test
  void aChoiceThatSpillsIsSkippedAndNotTriedAgain() throws IOException {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      Point first = ranking().getFirst().point();
      TunedGemm chosen =
          chooser(database, "1", compiler("a", i -> i < 2 ? SPILL : fine())).choose(WORKLOAD);
      assertThat(compiled).hasSize(3).doesNotHaveDuplicates();
      assertThat(GemmRanking.kin(chosen.candidate().point())).isNotEqualTo(GemmRanking.kin(first));
      assertThat(remembered()).isEqualTo(2);
      // Nothing was measured: there is no record of it.
      assertThat(database.all()).isEmpty();

      // Another process, as it were: only the kernel that is taken is compiled.
      List<String> before = List.copyOf(compiled);
      compiled.clear();
      TunedGemm again = chooser(database, "1", compiler("a", i -> fine())).choose(WORKLOAD);
      assertThat(again.candidate().point()).isEqualTo(chosen.candidate().point());
      assertThat(compiled).containsExactly(before.getLast());

      // What another compiler makes of it is not known.
      compiled.clear();
      TunedGemm other = chooser(database, "1", compiler("b", i -> fine())).choose(WORKLOAD);
      assertThat(other.candidate().point()).isEqualTo(first);
    }
  }

  @Test
  void aCompilerThatDoesNotWorkIsNotTheKernelsFault() throws IOException {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      GemmChooser broken = chooser(database, "1", compiler("a", i -> REFUSED));
      assertThatThrownBy(() -> broken.choose(WORKLOAD))
          .isInstanceOf(DeviceError.class)
          .hasMessageContaining("does not compile");
      assertThat(compiled.size()).isBetween(24, 40);
      assertThat(remembered()).isZero();
      compiled.clear();
      chooser(database, "1", compiler("a", i -> i == 0 ? REFUSED : fine())).choose(WORKLOAD);
      assertThat(remembered()).as("it takes another one").isEqualTo(1);
    }
  }

  /** As many as there are of one mistake of the generator, which the model may well prefer. */
  @Test
  void choicesThatDoNotCompileAreSkippedThroughTheWholeRanking() throws IOException {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      TunedGemm chosen =
          chooser(database, "1", compiler("a", i -> i < 20 ? REFUSED : fine())).choose(WORKLOAD);
      assertThat(compiled).hasSize(21).doesNotHaveDuplicates();
      assertThat(chosen.candidate().point().option(Space.SKETCH)).isNotEqualTo("plain");
      assertThat(remembered()).isEqualTo(20);
    }
  }

  @Test
  void butNotForLongerThanAMinute() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      GemmChooser hasty =
          chooser(database, "1", compiler("a", i -> REFUSED)).within(Duration.ofNanos(1));
      assertThatThrownBy(() -> hasty.choose(WORKLOAD))
          .isInstanceOf(DeviceError.class)
          .hasMessageContaining("none of 1 kernels can be used on sm_80")
          .hasMessageContaining("no more are compiled");
      assertThat(compiled).hasSize(1);
    }
  }

  @Test
  void aWrongKernelMakesRoomForTheNextOneOnThisDevice() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      KernelCheck check = compiler("a", i -> fine());
      List<Point> used = new ArrayList<>();
      GemmChooser.Use<Integer> use =
          (kernel, skipped) -> {
            used.add(kernel.candidate().point());
            if (used.size() < 3) {
              throw new CandidateFailure(FailureReason.WRONG, "wrong " + used.size());
            }
            return skipped.size();
          };
      assertThat(chooser(database, "1", check).use(WORKLOAD, false, use)).isEqualTo(2);
      assertThat(used).hasSize(3).doesNotHaveDuplicates();
      assertThat(chooser(database, "1", check).choose(WORKLOAD).candidate().point())
          .isEqualTo(used.getLast());
      assertThat(chooser(database, "2", check).choose(WORKLOAD).candidate().point())
          .as("with another driver it may be right")
          .isEqualTo(used.getFirst());
      GemmChooser fresh = chooser(database, "3", check);
      assertThatThrownBy(
              () ->
                  fresh.use(
                      WORKLOAD,
                      true,
                      (kernel, skipped) -> {
                        throw new CandidateFailure(FailureReason.WRONG, "always");
                      }))
          .isInstanceOf(DeviceError.class)
          .hasMessageContaining("4 kernels in turn are useless, the first one because always");
    }
  }

  @Test
  void aRecordThatSpillsTodayIsSkippedForTheNextRecord() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      List<Candidate> ranking = ranking();
      database.add(
          record(ranking.get(300), "1", RecordCheck.sourceHash(ranking.get(300), SM_80), 10));
      database.add(
          record(ranking.get(200), "1", RecordCheck.sourceHash(ranking.get(200), SM_80), 11));
      TunedGemm chosen =
          chooser(database, "1", compiler("a", i -> i == 0 ? SPILL : fine())).choose(WORKLOAD);
      assertThat(chosen.origin()).isEqualTo(TunedGemm.Origin.TUNED);
      assertThat(chosen.candidate().point()).isEqualTo(ranking.get(200).point());
    }
  }

  private static TuningRecord record(
      Candidate candidate, String driver, String sourceHash, double timeUs) {
    return new TuningRecord(
        WORKLOAD.key(),
        environment(driver),
        candidate.point(),
        sourceHash,
        new Outcome.Measured(timeUs, 0, 0, 0, 0),
        Instant.EPOCH);
  }

  /** Large tiles of one kind may all spill; sixteen of them are no reason for the smallest. */
  @Test
  void whereTheBestOfAKindSpillAnotherKindIsTried() {
    GpuTarget target = GpuTarget.SM_90A;
    GemmWorkload ragged = GemmWorkload.of(10819, 2797, 64, DType.BF16, GemmWorkload.Layout.NN);
    List<Candidate> ranking = GemmRanking.of(GemmSpace.of(ragged, target, 132));
    String best = ranking.getFirst().point().option("minBlocks");
    KernelCheck check =
        new KernelCheck() {
          @Override
          public String identity() {
            return "a";
          }

          @Override
          public Optional<Outcome.Failed> problem(Kernel kernel, String source, GpuTarget of) {
            return best.equals(String.valueOf(kernel.attrs().getLong("minBlocks", 1)))
                ? Optional.of(SPILL)
                : Optional.empty();
          }
        };
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      TunedGemm chosen =
          new GemmChooser(
                  new GemmChooser.Where(target, null, 132),
                  database,
                  Optional.of(check),
                  new RejectedKernels(folder))
              .choose(ragged);
      assertThat(chosen.candidate().point().option("minBlocks")).isNotNull().isNotEqualTo(best);
      assertThat(chosen.candidate().features().predictedUs())
          .isLessThan(2 * ranking.getFirst().features().predictedUs());
    }
  }

  /** As 'perf mlp --db FILE' asks for GEMMs of layers, and 'perf mlp --untuned'. */
  @Test
  void recordsOfAFileAreUsedUnlessNothingMayBeKnown() {
    Candidate recorded = ranking().get(3);
    Path file = folder.resolve("tuning.db");
    try (TuningDatabase database = TuningDatabase.open(file)) {
      database.add(record(recorded, "1", RecordCheck.sourceHash(recorded, SM_80), 10));
    }
    try (GemmKernels kernels = GemmKernels.of(SM_80, environment("1"), 108, file).trusting()) {
      assertThat(kernels.require(WORKLOAD).point()).isEqualTo(recorded.point());
      assertThat(kernels.require(WORKLOAD).origin()).isEqualTo(TunedGemm.Origin.TUNED);
    }
    try (GemmKernels kernels = GemmKernels.untuned(SM_80, environment("1"), 108)) {
      assertThat(kernels.require(WORKLOAD).point()).isNotEqualTo(recorded.point());
      assertThat(kernels.require(WORKLOAD).origin()).isEqualTo(TunedGemm.Origin.UNTUNED);
    }
  }

  @Test
  void aRecordThatDoesNotHoldIsAFirstChoiceWithItsLabelAndSkippedIfItSpills() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      List<Candidate> ranking = ranking();
      Candidate fastest = ranking.get(300);
      database.add(record(fastest, "0", RecordCheck.sourceHash(fastest, SM_80), 10));
      database.add(record(ranking.get(200), "1", "another", 11));
      GemmChooser chooser = chooser(database, "1", compiler("a", i -> i == 1 ? SPILL : fine()));
      TunedGemm first = chooser.choose(WORKLOAD);
      assertThat(first.origin()).isEqualTo(TunedGemm.Origin.UNTESTED);
      assertThat(first.untested()).isEqualTo("driver 0, here 1");
      assertThat(first.candidate().point()).isEqualTo(fastest.point());
      // Where it spills today the next record is taken, with a label of its own.
      TunedGemm second = chooser.choose(WORKLOAD);
      assertThat(second.origin()).isEqualTo(TunedGemm.Origin.UNTESTED);
      assertThat(second.untested()).isEqualTo("another source");
      assertThat(second.candidate().point()).isEqualTo(ranking.get(200).point());
    }
  }

  @Test
  void aRecordThatDoesNotHoldAndIsWrongMakesRoomForOneThatDoes() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      Candidate stale = ranking().get(300);
      Candidate sound = ranking().get(200);
      database.add(record(stale, "1", "another", 10));
      database.add(record(sound, "1", RecordCheck.sourceHash(sound, SM_80), 11));
      List<TunedGemm.Origin> origins = new ArrayList<>();
      chooser(database, "1", compiler("a", i -> fine()))
          .use(
              WORKLOAD,
              false,
              (kernel, skipped) -> {
                origins.add(kernel.origin());
                if (kernel.origin() == TunedGemm.Origin.UNTESTED) {
                  throw new CandidateFailure(FailureReason.WRONG, "wrong");
                }
                return kernel;
              });
      assertThat(origins).containsExactly(TunedGemm.Origin.UNTESTED, TunedGemm.Origin.TUNED);
    }
  }

  @Test
  void whoIsInAHurryTrustsWhatWasMeasuredWithTheSameSource() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      Candidate measured = ranking().get(200);
      Kernel kernel = BoundKernel.of(measured.kernel().get(), measured.values()).kernel();
      String hash = SourceHash.of(CudaPrinter.print(kernel, SM_80));
      GemmChooser chooser = chooser(database, "1", compiler("a", i -> fine())).trusting();
      for (String recorded : List.of("hash", hash)) {
        compiled.clear();
        database.add(
            new TuningRecord(
                WORKLOAD.key(),
                new Environment("sm_80", "fake", "1", "1", "1"),
                measured.point(),
                recorded,
                new Outcome.Measured(10, 0, 0, 0, 0),
                recorded.equals(hash) ? Instant.EPOCH.plusSeconds(1) : Instant.EPOCH));
        assertThat(chooser.choose(WORKLOAD).candidate().point()).isEqualTo(measured.point());
        assertThat(compiled).hasSize(recorded.equals(hash) ? 0 : 1);
      }
    }
  }

  @Test
  void whereEverythingSpillsOneThreadForEachElementIsLeft() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      KernelCheck check =
          new KernelCheck() {
            @Override
            public String identity() {
              return "a";
            }

            @Override
            public Optional<Outcome.Failed> problem(
                Kernel kernel, String source, GpuTarget target) {
              compiled.add(source);
              // Only the plainest kernels have no shared memory.
              return source.contains("__shared__") ? Optional.of(SPILL) : Optional.empty();
            }
          };
      TunedGemm chosen = chooser(database, "1", check).choose(WORKLOAD);
      assertThat(chosen.candidate().point().option(Space.SKETCH)).isEqualTo("plain");
      assertThat(compiled).hasSizeLessThan(30);
      assertThat(GemmSpace.schedule(WORKLOAD, SM_80, 108, chosen.candidate().point()).kernel())
          .isNotNull();
    }
  }

  @Test
  void whatATargetCannotDoIsTheUsersMistake() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      GemmWorkload bytes = GemmWorkload.nt(64, 64, 64, DType.F8E4M3);
      GemmChooser chooser = chooser(database, "1", compiler("a", i -> fine()));
      assertThatThrownBy(() -> chooser.choose(bytes))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("needs sm_89 or newer");
    }
  }

  /** A shape that spilled, and one whose producer kept more registers than any thread had. */
  @ParameterizedTest
  @CsvSource({"1001, 2000, 3001, BF16", "128, 5281, 1408, F16"})
  void aShapeThatWasRefusedCompiles(long m, long n, long k, DType type) {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    Assumptions.assumeTrue(compiler.isPresent(), "no CUDA compiler");
    GemmWorkload workload = GemmWorkload.of(m, n, k, type, GemmWorkload.Layout.NN);
    KernelCheck check =
        new KernelCheck() {
          @Override
          public String identity() {
            return compiler.get().identity();
          }

          @Override
          public Optional<Outcome.Failed> problem(Kernel kernel, String source, GpuTarget target) {
            compiled.add(source);
            return CompiledCheck.problem(
                kernel, compiler.get().compile(new CompileRequest(source, target.name())));
          }
        };
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      GemmChooser chooser =
          new GemmChooser(
              new GemmChooser.Where(GpuTarget.SM_90A, null, 132),
              database,
              Optional.of(check),
              new RejectedKernels(folder));
      Candidate chosen = chooser.choose(workload).candidate();
      Kernel kernel = BoundKernel.of(chosen.kernel().get(), chosen.values()).kernel();
      String source = CudaPrinter.print(kernel, GpuTarget.SM_90A);
      assertThat(source).isEqualTo(compiled.getLast());
      assertThat(compiled).as("the model's first choice, or the next").hasSizeLessThan(3);
      assertThat(check.problem(kernel, source, GpuTarget.SM_90A)).isEmpty();
    }
  }
}
