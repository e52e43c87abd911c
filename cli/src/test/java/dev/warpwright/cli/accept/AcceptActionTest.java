package dev.warpwright.cli.accept;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.RecordCheck;
import dev.warpwright.families.tuned.RejectedKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.KernelBench;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which figures are reached, and what is said of each product. */
@Isolated("takes the compiler's place in this process")
final class AcceptActionTest {
  private static final TuningDevice DEVICE =
      new TuningDevice(
          "Fake GPU",
          108,
          GpuTarget.SM_80,
          new Environment("sm_80", "Fake GPU", "13.0", "none", "test"));
  private static final String LIGHT = "cuBLASLt (best of 4 suggestions)";

  private static final Map<GemmWorkload, Known> KNOWN = new HashMap<>();

  @TempDir private Path folder;

  private final List<String> opened = new ArrayList<>();

  /** Compiles nothing: nothing runs here. */
  private record NoCompiler() implements CudaCompiler {
    @Override
    public String describe() {
      return "none";
    }

    @Override
    public String identity() {
      return "none";
    }

    @Override
    public Cubin compile(CompileRequest request) {
      return new Cubin(new byte[0], "");
    }
  }

  /** A device that answers by M, which tells products apart. */
  private final class Device implements AcceptAction.Bench {
    private final Function<Long, KernelReport> answer;
    private boolean lost;

    Device(Function<Long, KernelReport> answer) {
      this.answer = answer;
      opened.add("opened");
    }

    @Override
    public KernelReport run(KernelBench.Request request) {
      try {
        return answer.apply(rows(request));
      } catch (DeviceError e) {
        lost = true;
        throw e;
      }
    }

    @Override
    public boolean isLost() {
      return lost;
    }

    @Override
    public void close() {
      opened.add("closed");
    }
  }

  private static long rows(KernelBench.Request request) {
    return request.kernel().buffers().stream()
        .filter(buffer -> buffer.name().equals("C"))
        .findFirst()
        .orElseThrow()
        .extent(0);
  }

  @BeforeEach
  void replaceCompiler() {
    CudaCompilers.replace(new NoCompiler());
  }

  @AfterEach
  void giveBack() {
    CudaCompilers.replace(null);
  }

  private static KernelReport.Times times(double us) {
    return new KernelReport.Times(new Quantiles(us * 0.9, us * 0.95, us, us * 1.05), us + 5);
  }

  private static KernelReport report(
      double us, List<KernelReport.Baseline> baselines, List<KernelReport.Excluded> excluded) {
    return report(us, Double.NaN, baselines, excluded);
  }

  private static KernelReport report(
      double us,
      double expectedUs,
      List<KernelReport.Baseline> baselines,
      List<KernelReport.Excluded> excluded) {
    return new KernelReport(
        "gemm",
        "sm_80",
        "Fake GPU",
        2,
        1e-7,
        3e-6,
        1e-6,
        null,
        new KernelReport.Compiled("ab".repeat(32), 32, 0, 0, 0, List.of()),
        new KernelReport.Timing(
            times(us), 1, 1, new Prediction(expectedUs, RooflineBound.UNKNOWN), 2, 5),
        baselines,
        excluded,
        List.of(),
        List.of());
  }

  private static KernelReport.Baseline baseline(String name, double us, double ours) {
    return new KernelReport.Baseline(name, times(us), us / ours);
  }

  private static KernelReport.Excluded excluded(double us, double ours) {
    return new KernelReport.Excluded(LIGHT, times(us), us / ours, 3.03e-6);
  }

  private static GemmWorkload product(long m) {
    return GemmWorkload.nt(m, 64, 64, DType.F32);
  }

  private static AcceptanceFigure figure(String name, double mean, double least, long... rows) {
    List<GemmWorkload> products = new ArrayList<>();
    for (long m : rows) {
      products.add(product(m));
    }
    return new AcceptanceFigure(
        name,
        AcceptanceFigure.Ratio.BASELINE,
        false,
        new AcceptanceFigure.Musts(mean, least, 0, 0),
        products);
  }

  private Report accept(
      Function<Long, KernelReport> answer, double seconds, AcceptanceFigure... figures) {
    record(figures);
    return new AcceptAction(
            () -> DEVICE,
            (here, database) ->
                new GemmChooser(
                    new GemmChooser.Where(here.target(), here.environment(), 108),
                    database,
                    Optional.empty(),
                    new RejectedKernels(folder.resolve("rejected"))),
            target -> new Device(answer))
        .perform(
            new AcceptRequest(List.of(figures), 7, folder.resolve("tuning.db"), seconds),
            line -> {});
  }

  /** Records of all products, so that nothing is searched for; that of 96 rows holds no more. */
  private void record(AcceptanceFigure... figures) {
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("tuning.db"))) {
      for (AcceptanceFigure figure : figures) {
        for (GemmWorkload workload : figure.workloads()) {
          Known known = KNOWN.computeIfAbsent(workload, AcceptActionTest::known);
          database.add(
              new TuningRecord(
                  workload.key(),
                  DEVICE.environment(),
                  known.candidate().point(),
                  workload.m() == 96 ? "ab".repeat(32) : known.sourceHash(),
                  new Outcome.Measured(10, 0.001, 1e-7, 1400, 40),
                  Instant.parse("2026-11-22T10:00:00.5Z")));
        }
      }
    }
  }

  /** A kernel of a product, and the hash of its source, which takes a lowering. */
  private record Known(Candidate candidate, String sourceHash) {}

  private static Known known(GemmWorkload workload) {
    SplittableRandom random = new SplittableRandom(3);
    while (true) {
      Point point = GemmSpace.of(workload, GpuTarget.SM_80, 108).sample(random).point();
      Optional<Known> known =
          RecordCheck.candidate(workload, GpuTarget.SM_80, 108, point)
              .map(c -> new Known(c, RecordCheck.sourceHash(c, GpuTarget.SM_80)))
              .filter(c -> !c.sourceHash().isEmpty());
      if (known.isPresent()) {
        return known.get();
      }
    }
  }

  @Test
  void ratiosAreToTheFastestLibraryWithMedianAndQuartilesBesideTheMean() {
    Report report =
        accept(
            m ->
                report(
                    10,
                    List.of(baseline("cuBLAS", 30, 10), baseline(LIGHT, m / 10.0, 10)),
                    List.of()),
            60,
            figure("reached", 1, 0.9, 96, 104, 120));
    assertThat(report.ok()).isTrue();
    assertThat(report.text().lines().findFirst())
        .hasValueSatisfying(
            line ->
                assertThat(line)
                    .startsWith("PASS  reached")
                    .contains("1 of 3 lost; geometric mean 1.062, median 1.040")
                    .contains("(quartiles 1.000-1.120), least 0.960; 3 of 3 GEMMs"));
    assertThat(report.text())
        .contains("m=96 n=64: 0.960, 10.00 us (9.50-10.5), untested beside 9.60 of " + LIGHT)
        .doesNotContain("m=104");
    assertThat(report.json().write())
        .contains("\"median\": 1.04")
        .contains("\"spread\": {\"lowUs\": 9.5")
        .contains("\"losses\": 1");
  }

  /** One ratio in twenty may be below p5, two may not. */
  @ParameterizedTest
  @CsvSource({"1, true", "2, false"})
  void fiveOfAHundredMayMissWhatTheOthersReach(int below, boolean reached) {
    AcceptanceFigure figure = figure("most", 0, 0, LongStream.rangeClosed(1, 20).toArray());
    AcceptanceFigure strict =
        new AcceptanceFigure(
            "most",
            figure.of(),
            false,
            new AcceptanceFigure.Musts(0, 0.5, 0.9, 0),
            figure.workloads());
    Report report =
        accept(
            m -> report(10, List.of(baseline(LIGHT, m <= below ? 6 : 9.5, 10)), List.of()),
            60,
            strict);
    assertThat(report.ok()).isEqualTo(reached);
    assertThat(report.text())
        .contains("least 0.500, 95 of 100 0.900 (they reach " + (reached ? "0.950)" : "0.600)"))
        .contains("m=1 n=64: 0.600");
  }

  /** A model that is off in either direction by more than 15 % did not know. */
  @ParameterizedTest
  @CsvSource({"0.75, true", "0.8, false"})
  void whatTheModelExpectsIsHeldAgainstWhatKernelsTake(double share, boolean reached) {
    double[] expected = {8.4, 8.6, 11.4, 11.5};
    AcceptanceFigure figure = figure("model", 0, 0, 1, 2, 3, 4);
    Report report =
        accept(
            m -> report(10, expected[(int) (m - 1)], List.of(baseline(LIGHT, 9.5, 10)), List.of()),
            60,
            new AcceptanceFigure(
                "model",
                figure.of(),
                false,
                new AcceptanceFigure.Musts(0, 0, 0, share),
                figure.workloads()));
    assertThat(report.ok()).isEqualTo(reached);
    assertThat(report.text())
        .contains(
            "4 of 4 GEMMs, 3 of 4 expected within 15 % (" + Math.round(100 * share) + " of 100");
    assertThat(report.json().write())
        .contains("\"asExpected\": 0.75", "\"mustExpected\": " + share, "\"expectedUs\": 8.4");
  }

  @Test
  void aShareIsNoMoreThanAll() throws IOException {
    Path file = folder.resolve("share.txt");
    Files.writeString(file, "figure name=all expected=1\nfigure name=more expected=90\n");
    assertThatThrownBy(() -> AcceptanceFigure.read(file, 1))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("share.txt, line 2")
        .hasMessageContaining("expected=90.0: it is a share of the kernels, 1 at most");
  }

  @Test
  void productsAreDrawnByTheSeedAndTakenUntuned() throws IOException {
    Path file = folder.resolve("unseen.txt");
    Files.writeString(
        file, "figure name=few p5=0.9 draw=2 dtype=f32 layout=nn\nfigure name=own\ngemm MNK=64\n");
    List<AcceptanceFigure> figures = AcceptanceFigure.read(file, 1);
    assertThat(figures).isEqualTo(AcceptanceFigure.read(file, 1));
    assertThat(figures.getFirst()).isNotEqualTo(AcceptanceFigure.read(file, 2).getFirst());
    assertThat(figures.get(1)).isEqualTo(AcceptanceFigure.read(file, 2).get(1));
    assertThat(figures.getFirst().workloads()).hasSize(2);
    assertThat(figures.getFirst().isUntuned()).isTrue();
    assertThat(figures.get(1).isUntuned()).isFalse();
    Report report =
        accept(
            m -> report(10, List.of(baseline(LIGHT, 9.5, 10)), List.of()), 60, figures.getFirst());
    assertThat(report.text()).contains("untuned beside 9.50").contains("seed 7");
  }

  @Test
  void drawsAreOfModelsAndOfAnySize() {
    List<GemmWorkload> drawn =
        UnseenGemms.draw(3, 300, List.of("bf16", "f16"), List.of("nt", "tt"));
    assertThat(drawn).doesNotHaveDuplicates().hasSize(300);
    assertThat(UnseenGemms.draw(3, 20, List.of("bf16", "f16"), List.of("nt", "tt")))
        .isEqualTo(drawn.subList(0, 20));
    assertThat(drawn).allMatch(w -> 2.0 * w.m() * w.n() * w.k() >= 1e8);
    assertThat(drawn).anyMatch(w -> w.k() % 8 != 0).anyMatch(w -> w.m() == 1);
    assertThat(drawn).filteredOn(w -> w.n() == 28_672 && w.k() == 4096).isNotEmpty();
    assertThat(drawn).extracting(GemmWorkload::operands).containsOnly(DType.BF16, DType.F16);
  }

  @Test
  void whatIsLostStandsFirst() {
    Report report =
        accept(
            m -> report(10, List.of(baseline(LIGHT, m / 10.0, 10)), List.of()),
            60,
            figure("won", 1, 0.9, 128),
            figure("lost", 1, 0.9, 96, 80, 88));
    assertThat(report.ok()).isFalse();
    List<String> lines = report.text().lines().toList();
    assertThat(lines.get(0)).startsWith("FAIL  lost");
    assertThat(lines.get(1)).contains("m=80");
    assertThat(lines.get(2)).contains("m=88");
    assertThat(lines.get(3)).contains("m=96");
    assertThat(lines.get(4)).startsWith("PASS  won");
  }

  /** As f32 4096 x 8192 x 28672 was: 36.9 ms against our 44.7, with an error of 3.03e-6. */
  @Test
  void aFasterLibraryThatMissesTheToleranceIsNoWin() {
    Report report =
        accept(
            m ->
                m == 64
                    ? report(44.7, List.of(), List.of(excluded(36.9, 44.7)))
                    : report(10, List.of(baseline("cuBLAS", 20, 10)), List.of()),
            60,
            figure("open", 0, 0, 64, 128));
    assertThat(report.ok()).isFalse();
    assertThat(report.text())
        .contains("FAIL  open")
        .contains("1 of 2 GEMMs")
        .contains("m=64 n=64: open: the only library is faster, and excluded for its error")
        .contains(
            "no baseline, counted for nobody: "
                + LIGHT
                + ", relative error 3.03e-06 (at most 3e-06), 36.9 us beside our 44.7 us, ratio"
                + " 0.826")
        .doesNotContain("which no baseline computes");
    assertThat(report.json().write()).contains("\"relError\": 3.03E-6");
  }

  @Test
  void besideAPreciseLibraryItCapsTheRatio() {
    Report report =
        accept(
            m -> report(10, List.of(baseline("cuBLAS", 20, 10)), List.of(excluded(8, 10))),
            60,
            figure("capped", 1, 1, 64));
    assertThat(report.ok()).isTrue();
    assertThat(report.text())
        .contains("geometric mean 1.000")
        .contains("1.000, 10.00 us")
        .contains("ratio 0.800");
    // A slower one takes nothing away, and is named all the same.
    Report slower =
        accept(
            m -> report(10, List.of(baseline("cuBLAS", 20, 10)), List.of(excluded(15, 10))),
            60,
            figure("won", 1, 1, 64));
    assertThat(slower.text()).contains("geometric mean 2.000").contains("ratio 1.500");
  }

  @Test
  void whatNobodyComputesIsNoFailureButInNoMean() {
    Report report =
        accept(
            m -> report(10, m == 64 ? List.of() : List.of(baseline("cuBLAS", 11, 10)), List.of()),
            60,
            figure("some", 1, 1, 64, 128));
    assertThat(report.ok()).isTrue();
    assertThat(report.text())
        .contains("1 of 2 GEMMs")
        .contains("m=64 n=64: 10.00 us (9.50-10.5), which no baseline computes");
  }

  @Test
  void aFaultCostsOneProductAndItsDevice() {
    Report report =
        accept(
            m -> {
              if (m == 64) {
                throw new DeviceError("the kernel faulted\nhere");
              }
              return report(10, List.of(baseline("cuBLAS", 20, 10)), List.of());
            },
            60,
            figure("faulty", 1, 1, 64, 128));
    assertThat(report.ok()).isFalse();
    assertThat(report.text()).contains("m=64 n=64: the kernel faulted").contains("1 of 2 GEMMs");
    assertThat(opened).containsExactly("opened", "closed", "opened", "closed");
  }

  @Test
  void aWrongResultAndATimeThatIsUpAreFailures() {
    KernelReport good = report(10, List.of(baseline("cuBLAS", 20, 10)), List.of());
    KernelReport wrong =
        new KernelReport(
            "gemm",
            "sm_80",
            "Fake GPU",
            2,
            0.5,
            3e-6,
            1,
            "the result is wrong: planted",
            good.compiled(),
            null,
            List.of(),
            List.of(),
            List.of(),
            List.of());
    assertThat(accept(m -> wrong, 60, figure("wrong", 0, 0, 64)).text())
        .contains("FAIL  wrong")
        .contains("nothing compared")
        .contains("the result is wrong: planted");
    Report late = accept(m -> good, 1e-9, figure("late", 0, 0, 64));
    assertThat(late.ok()).isFalse();
    assertThat(late.text()).contains("not measured: the time was up");
  }

  /** Of 96 rows the record holds no more; what the others' say is known already. */
  @Test
  void whatARecordThatDoesNotHoldComesToIsRecorded() {
    KernelReport good = report(12, List.of(baseline("cuBLAS", 20, 12)), List.of());
    accept(m -> good, 60, figure("both", 1, 1, 64, 96));
    assertThat(recorded(64))
        .singleElement()
        .satisfies(record -> assertThat(us(record)).isEqualTo(10));
    assertThat(recorded(96))
        .satisfiesExactlyInAnyOrder(
            record -> assertThat(record.sourceHash()).startsWith("abab"),
            record -> {
              assertThat(us(record)).isEqualTo(12);
              assertThat(record.sourceHash())
                  .isEqualTo(Objects.requireNonNull(KNOWN.get(product(96))).sourceHash());
            });
  }

  @Test
  void aKernelOfSuchARecordThatIsWrongIsRecordedAsThat() {
    KernelReport wrong =
        new KernelReport(
            "gemm",
            "sm_80",
            "Fake GPU",
            2,
            0.5,
            3e-6,
            1,
            "the result is wrong: planted",
            report(10, List.of(), List.of()).compiled(),
            null,
            List.of(),
            List.of(),
            List.of(),
            List.of());
    accept(m -> wrong, 60, figure("wrong", 0, 0, 96));
    assertThat(recorded(96))
        .extracting(TuningRecord::outcome)
        .anySatisfy(outcome -> assertThat(outcome).isInstanceOf(Outcome.Failed.class));
  }

  private List<TuningRecord> recorded(long m) {
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("tuning.db"))) {
      return database.records(product(m).key(), DEVICE.environment());
    }
  }

  private static double us(TuningRecord record) {
    return ((Outcome.Measured) record.outcome()).timeUs();
  }

  /** So that a product that several figures share is measured once. */
  @Test
  void aProductIsMeasuredOnce() {
    List<Long> measured = new ArrayList<>();
    KernelReport good = report(10, List.of(baseline("cuBLAS", 20, 10)), List.of());
    accept(
        m -> {
          measured.add(m);
          return good;
        },
        60,
        figure("one", 1, 1, 64, 128),
        figure("two", 1, 1, 128, 64));
    assertThat(measured).containsExactly(64L, 128L);
  }
}
