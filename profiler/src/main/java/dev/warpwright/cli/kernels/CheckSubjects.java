package dev.warpwright.cli.kernels;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.examples.FamilySamples;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.examples.ladder.Rung;
import dev.warpwright.parallel.cost.ParallelRequest;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Finds what the command {@code check} is to check. */
final class CheckSubjects {
  private static final List<String> TEXTS = List.of(".kernel", ".ir", ".txt");
  private static final int ROWS = 37;

  /** A small shape that every rung takes. */
  private static final long LADDER = 256;

  private CheckSubjects() {}

  /**
   * All that a request names.
   *
   * @throws UserError if the file is neither Kernel text nor a model, or its text breaks a rule
   */
  static List<CheckSubject> of(CheckRequest request) {
    String name = String.valueOf(request.file().getFileName());
    boolean network = request.network() != null || TEXTS.stream().noneMatch(name::endsWith);
    AttentionTask attention = request.attention();
    if (request.gpus() != null
        && (!network || attention != null || name.startsWith("families") || isLadder(request))) {
      throw new UserError("--gpus: for networks; a program in text says on how many it is");
    }
    if (attention != null) {
      return List.of(
          attention.features() > 0
              ? new CheckSubject.OfAttention(attention.projected(target(request)))
              : new CheckSubject.OfAttention(attention.kernels(target(request))));
    }
    if (name.equals("families") || name.startsWith("families:")) {
      return families(name, request);
    }
    if (isLadder(request)) {
      return ladder(request);
    }
    if (isAll(request)) {
      throw new UserError("all: every kernel of the repository, for --mutants only");
    }
    if (network) {
      if (request.network() == null) {
        NetworkTask.requireFile(request.file().toString(), List.of("families", "ladder"));
      }
      return List.of(network(request));
    }
    KernelFile file = KernelFile.read(request.file());
    List<String> problems = file.problems();
    if (!problems.isEmpty()) {
      throw new UserError(request.file() + ": " + problems.getFirst());
    }
    return of(file, request.attributes());
  }

  /** Whether the request is for all kernels of the repository whose folder is the current one. */
  static boolean isAll(CheckRequest request) {
    return request.file().toString().equals("all");
  }

  /** Whether the request is for rungs of the ladder, of which scalars give the shape. */
  static boolean isLadder(CheckRequest request) {
    return request.file().toString().equals("ladder")
        || request.file().toString().startsWith("ladder:");
  }

  /**
   * {@code ladder} for all rungs, {@code ladder:NAME} for one.
   *
   * @throws UserError if there is no such rung, or a scalar is none of M, N and K
   */
  static List<Rung> rungs(CheckRequest request) {
    String name = String.valueOf(request.file().getFileName());
    for (String scalar : request.options().scalars().keySet()) {
      if (!List.of("M", "N", "K").contains(scalar)) {
        throw new UserError(scalar + ": the shape of a rung is M, N and K");
      }
    }
    return name.equals("ladder")
        ? Ladder.RUNGS
        : List.of(Ladder.require(name.substring("ladder:".length())));
  }

  private static List<CheckSubject> ladder(CheckRequest request) {
    Map<String, Long> shape = request.options().scalars();
    List<CheckSubject> subjects = new ArrayList<>();
    for (Rung rung : rungs(request)) {
      subjects.add(
          new CheckSubject.OfKernel(
              Ladder.kernel(
                  rung,
                  shape.getOrDefault("M", LADDER),
                  shape.getOrDefault("N", LADDER),
                  shape.getOrDefault("K", LADDER))));
    }
    return subjects;
  }

  /** {@code families} for all samples, {@code families:NAME} for one. */
  private static List<CheckSubject> families(String name, CheckRequest request) {
    if (!request.options().scalars().isEmpty()) {
      throw new UserError(name + " has shapes of its own; give no scalars");
    }
    if (name.equals("families")) {
      return FamilySamples.all();
    }
    // Reports say the kernel's name, which has underscores.
    CheckSubject sample =
        FamilySamples.find(name.substring("families:".length()).replace('_', '-'));
    if (sample == null) {
      throw new UserError(
          name
              + ": there is no such sample; there are "
              + String.join(", ", FamilySamples.names()));
    }
    return List.of(sample);
  }

  /** All that a file of text holds. */
  static List<CheckSubject> of(KernelFile file, Map<String, String> attributes) {
    List<CheckSubject> subjects = new ArrayList<>();
    file.content().primFuncs().forEach(f -> subjects.add(new CheckSubject.OfFunction(f)));
    file.kernels(attributes).forEach(k -> subjects.add(new CheckSubject.OfKernel(k)));
    file.content().programs().forEach(p -> subjects.add(new CheckSubject.OfProgram(p, Map.of())));
    return subjects;
  }

  private static GpuTarget target(CheckRequest request) {
    return switch (request.target()) {
      case AUTO, SIM -> GpuTarget.SM_90A;
      case CPU -> throw new UserError("--target cpu: check looks at kernels for GPUs");
      case SM_75, SM_80, SM_86, SM_89, SM_90A -> Devices.target(request.target());
    };
  }

  private static CheckSubject network(CheckRequest request) {
    if (!request.attributes().isEmpty()) {
      throw new UserError("--attr is for kernels in text, " + request.file() + " is a model");
    }
    GpuTarget target = target(request);
    NetworkTask random = request.network();
    Model model =
        random == null
            ? Warpwright.load(request.file(), request.arch())
            : new Model(random.graph());
    Precision precision =
        random != null
            ? random.precision()
            : request.precision() == null ? model.graph().precision() : request.precision();
    int rows = request.options().rows().orElse(random == null ? ROWS : random.rows());
    if (request.gpus() instanceof ParallelRequest gpus) {
      return new CheckSubject.OfParallel(
          gpus.plan(model.graph(), new SimulatedDevice(target), precision, rows).program());
    }
    if (random != null && random.merging() != null) {
      return new CheckSubject.OfNetwork(random.merged(target), model.graph());
    }
    try (CompiledModel compiled = model.compile(new SimulatedDevice(target), precision)) {
      return new CheckSubject.OfNetwork(compiled.program(rows), model.graph());
    }
  }
}
