package dev.warpwright.cli.kernels;

import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.check.CheckSubject;
import dev.warpwright.compiler.check.Checks;
import dev.warpwright.compiler.check.MutantProgram;
import dev.warpwright.compiler.check.MutationSubject;
import dev.warpwright.compiler.check.MutationTesting;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.json.Json;
import dev.warpwright.model.io.AtomicFile;
import dev.warpwright.sim.mutation.Equivalences;
import dev.warpwright.sim.mutation.Mutant;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Plants mistakes into kernels and tells which the simulator reports. */
final class CheckMutants {
  private CheckMutants() {}

  static Report report(CheckRequest request, int most, Progress progress) {
    List<String> lines = new ArrayList<>();
    List<Json> mutants = new ArrayList<>();
    Map<MutationTesting.Verdict, Integer> counts = new TreeMap<>();
    List<MutationSubject> subjects = new ArrayList<>();
    for (CheckSubject subject : CheckSubjects.of(request)) {
      subjects.addAll(
          Checks.mutationSubjects(
              subject,
              CheckSubjects.isLadder(request)
                  ? request.options().withScalars(Map.of())
                  : request.options()));
    }
    boolean good = true;
    for (MutationSubject subject : subjects) {
      progress.say("planting mistakes into " + subject.name());
      MutationTesting testing = new MutationTesting(subject, request.options().orders());
      List<Mutant> planted = testing.mutants(most);
      if (request.emit() != null) {
        write(request.emit(), subject, planted, progress);
      }
      for (int i = 0; i < planted.size(); i++) {
        MutationTesting.Result result = testing.test(planted.get(i));
        counts.merge(result.verdict(), 1, Integer::sum);
        good &= isGood(result);
        mutants.add(json(result, i));
        if (!isGood(result)) {
          lines.add(OneLine.of(result.toString()));
        }
      }
    }
    counts.forEach((verdict, count) -> lines.add("%5d %s".formatted(count, word(verdict))));
    return new Report(
        good,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("file", request.file().toString())
            .with("seed", request.options().seed())
            .with("ok", good)
            .with("mutants", new Json.Array(mutants)));
  }

  private static boolean isGood(MutationTesting.Result result) {
    return switch (result.verdict()) {
      case REPORTED, WRONG_RESULT, REFUSED, NOT_EXECUTED -> true;
      case EQUIVALENT -> Equivalences.argument(result.mutant().mutation()) != null;
      case MISSED -> false;
    };
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
      Path file = folder.resolve("%s_%d.cu".formatted(subject.kernel().name(), i));
      AtomicFile.write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
      written++;
    }
    progress.say(
        "wrote %d programs of %d mutants to %s".formatted(written, mutants.size(), folder));
  }
}
