package dev.warpwright.cli.program;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.kernels.CheckAction;
import dev.warpwright.cli.kernels.CheckRequest;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.cli.kernels.OwnData;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The command {@code check}: with data of one's own, one's own kernel runs on it under the
 * sanitizers, and what it leaves is shown, or what its threads hold on the way.
 */
public final class OwnCheck implements Action<CheckRequest> {
  private static final Pattern THREADS = Pattern.compile("(\\d{1,4})(?:-(\\d{1,4}))?");
  private static final int MOST_THREADS = 64;
  private static final int MOST_LINES = 400;

  private final CheckAction all = new CheckAction();

  @Override
  public Report perform(CheckRequest request, Progress progress) {
    OwnData own = request.own();
    if (!own.isAsked()) {
      return all.perform(request, progress);
    }
    if (request.network() != null
        || request.attention() != null
        || request.gpu()
        || request.counters()
        || request.mutants().isPresent()) {
      throw new UserError(
          "--input, --print, --steps and --schedule: for a file of one kernel or function alone");
    }
    KernelFile file = KernelFile.read(request.file());
    List<String> problems = file.problems();
    if (!problems.isEmpty()) {
      throw new UserError(request.file() + ": " + problems.getFirst());
    }
    OwnProgram program =
        !file.content().primFuncs().isEmpty() && file.content().kernels().isEmpty()
            ? OwnProgram.of(file, own.schedule())
            : null;
    OwnProgram loops = program != null && !program.isForGpu() ? program : null;
    Kernel written = loops != null ? loops.unlowered() : kernel(request, file, program);
    OwnArguments data =
        OwnArguments.of(
            written,
            own.inputs(),
            request.options().scalars(),
            request.options().rows(),
            request.options().seed());
    Kernel kernel = written;
    if (loops != null) {
      // On the CPU what lies between blocks has a constant size.
      kernel = loops.ofShape(data.scalars()).kernel(GpuTarget.SM_90A);
      data = data.of(kernel);
    }
    List<Buffer> shown = shown(kernel, own.prints());
    List<String> lines = new ArrayList<>();
    Json.Members json =
        Json.object()
            .with("file", request.file().toString())
            .with("name", kernel.name())
            .with("seed", request.options().seed());
    List<Finding> findings;
    if (own.threads() == null) {
      findings = findings(kernel, data.arguments());
    } else {
      SteppedKernel stepped = stepped(kernel, own);
      NdArray steps = NdArray.of(stepped.steps()).fill(0);
      Arguments arguments = Arguments.of(stepped.kernel().params());
      data.bind(kernel, arguments);
      arguments.bind(stepped.steps(), steps);
      findings = findings(stepped.kernel(), arguments);
      List<SteppedKernel.Step> taken = stepped.read(steps);
      lines.addAll(
          taken.isEmpty() && findings.isEmpty()
              ? List.of("no steps: block " + own.block() + " has no threads " + own.threads())
              : StepLines.text(taken, MOST_LINES));
      if (stepped.isCut(steps)) {
        lines.add("... a thread does more than " + SteppedKernel.MOST_STEPS + " steps");
      }
      json = json.with("steps", Json.array(taken, StepLines::json));
    }
    findings.forEach(finding -> lines.add(OneLine.of(finding.message())));
    Arguments after = data.arguments();
    shown.forEach(buffer -> lines.addAll(ArrayText.lines(buffer.name(), after.get(buffer))));
    lines.add(OneLine.of(summary(kernel, data, request.options().seed(), findings.size())));
    return new Report(
        findings.isEmpty(),
        String.join(System.lineSeparator(), lines),
        json.with("ok", findings.isEmpty())
            .with("findings", Json.array(findings, CheckAction::json))
            .with("arrays", Json.array(shown, b -> ArrayText.json(b.name(), after.get(b)))));
  }

  private static Kernel kernel(
      CheckRequest request, KernelFile file, @Nullable OwnProgram program) {
    if (program != null) {
      return program.kernel(Devices.cudaTarget(request.target()));
    }
    if (request.own().schedule() != null) {
      throw new UserError(request.file() + ": --schedule is for a file of one primfunc");
    }
    if (file.content().kernels().size() != 1) {
      throw new UserError(
          request.file()
              + ": one's own data is for a file of one kernel, this has "
              + file.content().kernels().size());
    }
    return file.content().kernels().getFirst();
  }

  private static List<Buffer> shown(Kernel kernel, List<String> names) {
    List<Buffer> shown = new ArrayList<>();
    for (String name : names) {
      shown.add(
          kernel.buffers().stream()
              .filter(buffer -> buffer.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new UserError(
                          "--print "
                              + name
                              + ": there is no such buffer; there are "
                              + kernel.buffers().stream()
                                  .map(Buffer::name)
                                  .collect(Collectors.joining(", ")))));
    }
    return shown;
  }

  private static SteppedKernel stepped(Kernel kernel, OwnData own) {
    if (kernel.kind() != Kernel.Kind.GRID) {
      throw new UserError("--steps: " + kernel.name() + " is for the CPU and has no threads");
    }
    Matcher range = THREADS.matcher(String.valueOf(own.threads()));
    int first = range.matches() ? Integer.parseInt(range.group(1)) : -1;
    int last = first < 0 ? -1 : range.group(2) == null ? first : Integer.parseInt(range.group(2));
    if (last < first || first < 0 || last - first >= MOST_THREADS) {
      throw new UserError(
          "--steps "
              + own.threads()
              + ": threads of a block, at most "
              + MOST_THREADS
              + ", as 0-7");
    }
    List<Long> block = new ArrayList<>(own.block());
    while (block.size() < 3) {
      block.add(0L);
    }
    return new SteppedKernel(kernel, block, first, last - first + 1);
  }

  private static List<Finding> findings(Kernel kernel, Arguments arguments) {
    try {
      if (kernel.kind() == Kernel.Kind.GRID) {
        return new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments);
      }
      Interpreter.of(kernel, Options.CHECKED).run(arguments);
      return List.of();
    } catch (SimulationError e) {
      return e.findings();
    } catch (IllegalArgumentException e) {
      throw new UserError(kernel.name() + " cannot be simulated: " + e.getMessage(), e);
    }
  }

  private static String summary(Kernel kernel, OwnArguments data, long seed, int findings) {
    String scalars =
        new TreeMap<>(data.scalars())
            .entrySet().stream().map(Map.Entry::toString).collect(Collectors.joining(" "));
    boolean random = data.given().size() < kernel.buffers().size();
    return "checked "
        + kernel.name()
        + (scalars.isEmpty() ? "" : " for " + scalars)
        + (data.given().isEmpty() ? "" : " on " + String.join(", ", data.given()))
        + (random ? " with seed " + seed : "")
        + ": "
        + (findings == 0 ? "no findings" : findings == 1 ? "1 finding" : findings + " findings");
  }
}
