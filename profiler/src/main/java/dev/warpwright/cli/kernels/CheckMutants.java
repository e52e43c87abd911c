package dev.warpwright.cli.kernels;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.examples.RepositoryKernels;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.CheckOptions;
import dev.warpwright.verify.Checks;
import dev.warpwright.verify.MutantProgram;
import dev.warpwright.verify.MutationSubject;
import dev.warpwright.verify.MutationTable;
import dev.warpwright.verify.MutationTesting;
import dev.warpwright.verify.mutation.Mutant;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Plants mistakes into kernels and tells which the simulator reports. */
final class CheckMutants {
  private static final int NOT_RUN = -1;

  private CheckMutants() {}

  /** The mutants of one kernel. */
  private record KernelMutants(
      MutationSubject subject,
      List<MutationTesting.Result> results,
      @Nullable String problem,
      int left) {
    /** Whether the time was over before it ran at all. */
    boolean isLeft() {
      return left < 0;
    }
  }

  /** When no more mutants are begun. */
  private record Deadline(OptionalDouble seconds, long begun) {
    boolean isOver() {
      return seconds.isPresent() && (System.nanoTime() - begun) / 1e9 > seconds.getAsDouble();
    }
  }

  static Report report(CheckRequest request, int most, Progress progress) {
    Deadline deadline = new Deadline(request.seconds(), System.nanoTime());
    List<MutationSubject> subjects = subjects(request);
    List<KernelMutants> all = new ArrayList<>();
    Queue<MutationTesting.Result> tried = new ConcurrentLinkedQueue<>();
    Thread interrupted = new Thread(() -> soFar(tried).forEach(progress::say));
    Runtime.getRuntime().addShutdownHook(interrupted);
    // One task a kernel first, then one a mutant: few kernels have most of the mutants.
    ExecutorService threads = Executors.newFixedThreadPool(request.threads());
    try {
      List<Future<Optional<List<Future<Optional<MutationTesting.Result>>>>>> kernels =
          new ArrayList<>();
      for (MutationSubject subject : subjects) {
        kernels.add(
            threads.submit(
                () -> plant(subject, request, most, deadline, threads, tried, progress)));
      }
      for (int i = 0; i < subjects.size(); i++) {
        all.add(ofKernel(subjects.get(i), kernels.get(i), progress));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UserError(String.join("; ", soFar(tried)), e);
    } finally {
      threads.shutdownNow();
      forget(interrupted);
    }
    return report(request, all);
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The program is ending: it runs.
    }
  }

  /** What there is to say when it all ends early: what survived, and how many were tried. */
  private static List<String> soFar(Collection<MutationTesting.Result> tried) {
    List<MutationTesting.Result> results = List.copyOf(tried);
    List<String> lines = new ArrayList<>();
    results.stream()
        .filter(result -> result.verdict() == MutationTesting.Verdict.SURVIVED)
        .forEach(result -> lines.add(OneLine.of(result.toString())));
    List<String> subjects =
        results.stream().map(MutationTesting.Result::subject).distinct().toList();
    lines.add(
        "interrupted; until then "
            + new MutationTable(subjects, results, MutationTable.Left.NOTHING).summary());
    return lines;
  }

  /** Waits for the mutants of a kernel; one that is not clean as it is stops no others. */
  private static KernelMutants ofKernel(
      MutationSubject subject,
      Future<Optional<List<Future<Optional<MutationTesting.Result>>>>> mutants,
      Progress progress)
      throws InterruptedException {
    List<MutationTesting.Result> results = new ArrayList<>();
    int left = 0;
    try {
      Optional<List<Future<Optional<MutationTesting.Result>>>> begun = mutants.get();
      if (begun.isEmpty()) {
        return new KernelMutants(subject, results, null, NOT_RUN);
      }
      List<Future<Optional<MutationTesting.Result>>> ofKernel = begun.get();
      for (Future<Optional<MutationTesting.Result>> result : ofKernel) {
        result.get().ifPresent(results::add);
      }
      left = ofKernel.size() - results.size();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UserError error) {
        return new KernelMutants(subject, results, String.valueOf(error.getMessage()), left);
      }
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    }
    progress.say(
        String.format(
            Locale.ROOT,
            "tried %d mutants of %s%s",
            results.size(),
            subject.name(),
            left == 0 ? "" : ", " + left + " not, for the time is over"));
    return new KernelMutants(subject, results, null, left);
  }

  private static List<MutationSubject> subjects(CheckRequest request) {
    if (CheckSubjects.isAll(request)) {
      return new RepositoryKernels(request.file().resolveSibling("."), request.options().seed())
          .all();
    }
    CheckOptions options =
        CheckSubjects.isLadder(request)
            ? request.options().withScalars(Map.of())
            : request.options();
    return CheckSubjects.of(request).stream()
        .flatMap(subject -> Checks.mutationSubjects(subject, options).stream())
        .toList();
  }

  /** Nothing if the time is over; a mutant that is not begun by then has no result. */
  private static Optional<List<Future<Optional<MutationTesting.Result>>>> plant(
      MutationSubject subject,
      CheckRequest request,
      int most,
      Deadline deadline,
      ExecutorService threads,
      Queue<MutationTesting.Result> tried,
      Progress progress) {
    if (deadline.isOver()) {
      return Optional.empty();
    }
    MutationTesting testing = new MutationTesting(subject, request.options().orders());
    List<Mutant> ofKernel = testing.mutants(most);
    if (request.emit() != null) {
      write(request.emit(), subject, ofKernel, progress);
    }
    return Optional.of(
        ofKernel.stream()
            .map(
                mutant ->
                    threads.submit(
                        () -> {
                          if (deadline.isOver()) {
                            return Optional.<MutationTesting.Result>empty();
                          }
                          MutationTesting.Result result = testing.test(mutant);
                          tried.add(result);
                          return Optional.of(result);
                        }))
            .toList());
  }

  private static Report report(CheckRequest request, List<KernelMutants> all) {
    List<String> lines = new ArrayList<>();
    List<Json> mutants = new ArrayList<>();
    boolean good = true;
    for (KernelMutants ofKernel : all) {
      if (ofKernel.problem != null) {
        good = false;
        lines.add(OneLine.of(ofKernel.problem));
      }
      for (int i = 0; i < ofKernel.results.size(); i++) {
        MutationTesting.Result result = ofKernel.results.get(i);
        mutants.add(json(result, i));
        if (result.verdict() == MutationTesting.Verdict.SURVIVED) {
          good = false;
          lines.add(OneLine.of(result.toString()));
        }
      }
    }
    MutationTable table =
        new MutationTable(
            names(all, false),
            all.stream().flatMap(ofKernel -> ofKernel.results.stream()).toList(),
            new MutationTable.Left(
                all.stream().mapToInt(ofKernel -> Math.max(0, ofKernel.left)).sum(),
                names(all, true)));
    if (request.table() != null) {
      write(request.table(), table);
    }
    lines.add(table.summary());
    return new Report(
        good,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("file", request.file().toString())
            .with("seed", request.options().seed())
            .with("ok", good)
            .with("left", table.left().mutants())
            .with("leftKernels", Json.array(table.left().subjects(), Json::of))
            .with("mutants", new Json.Array(mutants)));
  }

  private static List<String> names(List<KernelMutants> all, boolean left) {
    return all.stream()
        .filter(ofKernel -> ofKernel.isLeft() == left)
        .map(ofKernel -> ofKernel.subject.name())
        .toList();
  }

  /** The table in a file, whose beginning stays. */
  private static void write(Path file, MutationTable table) {
    try {
      String before = Files.exists(file) ? Files.readString(file) : "# Mutants\n\n";
      String text = table.into(before);
      AtomicFile.write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UserError("--table " + file + ": cannot be read", e);
    }
  }

  private static String word(MutationTesting.Verdict verdict) {
    return verdict.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static Json json(MutationTesting.Result result, int number) {
    return Json.object()
        .with("kernel", result.subject())
        .with("number", number)
        .with("mistake", result.mutant().mutation().name())
        .with("line", result.mutant().line())
        .with("statement", result.mutant().statement())
        .with("verdict", word(result.verdict()))
        .with("rule", result.rule() == null ? null : result.rule().text())
        .with("detail", result.detail());
  }

  private static void write(
      Path folder, MutationSubject subject, List<Mutant> mutants, Progress progress) {
    if (!MutantProgram.isPossible(subject.kernel())) {
      throw new UserError(
          subject.name() + ": --emit writes no program for kernels with tensor maps or clusters");
    }
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int written = 0;
    for (int i = 0; i < mutants.size(); i++) {
      String text;
      try {
        text = MutantProgram.text(mutants.get(i), i, subject.scalars(), GpuTarget.SM_90A);
      } catch (UserError e) {
        // Which the simulator refuses too.
        continue;
      }
      Path file =
          folder.resolve(String.format(Locale.ROOT, "%s_%d.cu", subject.kernel().name(), i));
      AtomicFile.write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
      written++;
    }
    progress.say(
        String.format(
            Locale.ROOT, "wrote %d programs of %d mutants to %s", written, mutants.size(), folder));
  }
}
