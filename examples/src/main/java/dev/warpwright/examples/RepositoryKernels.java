package dev.warpwright.examples;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.examples.ladder.Rung;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.ChangedConstants;
import dev.warpwright.sim.NdArray;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.verify.CheckOptions;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.Checks;
import dev.warpwright.verify.MutationSubject;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.KernelSpecialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The kernels of the repository, small, into which mistakes are planted: those in text, samples of
 * every family, the rungs of the ladder, and the networks in every precision.
 *
 * @param folder with the folders {@code kernels} and {@code models}
 * @param seed of random data
 */
public record RepositoryKernels(Path folder, long seed) {
  /** Shapes at which a survivor is tried beside its own. */
  private static final int MOST_OTHERS = 3;

  /** The shape of a rung. */
  private record LadderShape(long m, long n, long k) {}

  /** All rungs take it. */
  private static final LadderShape LADDER = new LadderShape(256, 256, 64);

  /** Other stages; one tile; tails, of which most rungs have none. */
  private static final List<LadderShape> OTHER_LADDERS =
      List.of(
          new LadderShape(128, 384, 160),
          new LadderShape(256, 128, 32),
          new LadderShape(200, 136, 40));

  /** Rows of a network: more than one block's, and no whole tile. */
  private static final int ROWS = 70;

  /** Shapes and smaller grids of kernels; others get the small shape of the command check. */
  private static final Map<String, Map<String, Long>> SHAPES =
      Map.of(
          "gemm_bf16_sm90", Map.of("M", 512L, "N", 256L, "K", 328L),
          "gemm_bf16_sm80", Map.of("M", 150L, "N", 136L, "K", 328L),
          "gemm_f32_simt", Map.of("M", 150L, "N", 136L, "K", 44L),
          "gemm_bf16_sm90_m16", Map.of("M", 9L, "N", 136L, "K", 840L),
          "gemm_bf16_sm90_skinny", Map.of("M", 130L, "N", 112L, "K", 712L),
          "ffn_bf16_sm90_m16", Map.of("M", 16L, "K1", 200L, "N1", 1024L, "N2", 136L));

  /** Beside those: whole tiles and steps; less than one of each; other tails, other stages. */
  private static final Map<String, List<Map<String, Long>>> OTHERS =
      Map.of(
          "gemm_bf16_sm90",
          List.of(
              Map.of("M", 256L, "N", 256L, "K", 256L),
              Map.of("M", 200L, "N", 200L, "K", 40L),
              Map.of("M", 300L, "N", 520L, "K", 136L)),
          "gemm_bf16_sm80",
          List.of(
              Map.of("M", 256L, "N", 128L, "K", 320L),
              Map.of("M", 97L, "N", 88L, "K", 40L),
              Map.of("M", 129L, "N", 264L, "K", 72L)),
          "gemm_f32_simt",
          List.of(
              Map.of("M", 128L, "N", 256L, "K", 32L),
              Map.of("M", 97L, "N", 88L, "K", 4L),
              Map.of("M", 129L, "N", 260L, "K", 20L)),
          "gemm_bf16_sm90_m16",
          List.of(
              Map.of("M", 16L, "N", 128L, "K", 640L),
              Map.of("M", 1L, "N", 56L, "K", 40L),
              Map.of("M", 19L, "N", 72L, "K", 328L)),
          "gemm_bf16_sm90_skinny",
          List.of(
              Map.of("M", 64L, "N", 224L, "K", 640L),
              Map.of("M", 33L, "N", 96L, "K", 40L),
              Map.of("M", 65L, "N", 120L, "K", 1288L)),
          "ffn_bf16_sm90_m16",
          List.of(
              Map.of("M", 16L, "K1", 256L, "N1", 1024L, "N2", 128L),
              Map.of("M", 1L, "K1", 40L, "N1", 1088L, "N2", 56L),
              Map.of("M", 13L, "K1", 584L, "N1", 2504L, "N2", 72L)));

  /**
   * Of the two kernels of feed-forward programs: what makes the rings of one come round twice, and
   * leaves the other little to do.
   */
  private static final List<Map<String, Long>> PROGRAMS =
      List.of(
          Map.of("M", 9L, "K1", 1704L, "N1", 328L, "N2", 72L),
          Map.of("M", 9L, "K1", 40L, "N1", 5384L, "N2", 72L));

  /** Beside those: whole tiles; less than one of each; other tails, other stages. */
  private static final List<Map<String, Long>> OTHER_PROGRAMS =
      List.of(
          Map.of("M", 16L, "K1", 1024L, "N1", 1024L, "N2", 128L),
          Map.of("M", 1L, "K1", 40L, "N1", 264L, "N2", 56L),
          Map.of("M", 13L, "K1", 200L, "N1", 904L, "N2", 72L));

  /** Tiles that are no whole rounds of the warpgroups of the only block. */
  private static final Map<String, Long> NETWORK = Map.of("M", 250L, "G", 1L);

  private static final Map<String, Map<Long, Long>> GRIDS =
      Map.of(
          "gemm_bf16_sm90", Map.of(132L, 2L, 66L, 1L, 65L, 0L),
          "ffn_bf16_sm90_m16", Map.of(132L, 4L, 131L, 3L));

  /** Names of the kernels in text. */
  public List<String> kernels() {
    return inText(false);
  }

  /** Names of the programs in text, of several kernels each. */
  public List<String> programs() {
    return inText(true);
  }

  private List<String> inText(boolean programs) {
    try (Stream<Path> files = Files.list(folder.resolve("kernels"))) {
      return files
          .map(f -> f.getFileName().toString())
          .filter(f -> f.endsWith(".kernel") && isProgram(f) == programs)
          .map(f -> f.substring(0, f.length() - ".kernel".length()))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UserError(folder.resolve("kernels") + ": is needed, and cannot be read", e);
    }
  }

  private boolean isProgram(String file) {
    try (Stream<String> lines = Files.lines(folder.resolve("kernels").resolve(file))) {
      return lines.anyMatch(line -> line.startsWith("program "));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A kernel in text. */
  public MutationSubject kernel(String name) {
    Kernel kernel = ChangedConstants.of(read(name), GRIDS.getOrDefault(name, Map.of()));
    if (SHAPES.containsKey(name)) {
      List<Map<String, Long>> shapes = new ArrayList<>(List.of(SHAPES.get(name)));
      shapes.addAll(OTHERS.getOrDefault(name, List.of()));
      return MutationSubject.of(name, kernel, shapes, seed);
    }
    if (name.startsWith("mlp_")) {
      Kernel shaped = KernelSpecialization.specialize(kernel, NETWORK);
      return MutationSubject.of(name, shaped, data -> networkData(shaped, seed + data));
    }
    return Checks.mutationSubjects(new CheckSubject.OfKernel(kernel), CheckOptions.of(seed))
        .getFirst();
  }

  /** The kernels of a program in text, each in its place among the others. */
  public List<MutationSubject> program(String name) {
    CheckSubject subject = new CheckSubject.OfProgram(readProgram(name), Map.of());
    List<MutationSubject> all = new ArrayList<>();
    for (int i = 0; i < PROGRAMS.size(); i++) {
      int place = i;
      all.add(
          subjects(subject, PROGRAMS.get(i))
              .get(place)
              .withOthers(
                  () ->
                      OTHER_PROGRAMS.stream()
                          .map(
                              other ->
                                  subjects(subject, other)
                                      .get(place)
                                      .shape(new TreeMap<>(other).toString()))
                          .toList()));
    }
    return all;
  }

  private List<MutationSubject> subjects(CheckSubject program, Map<String, Long> shape) {
    return Checks.mutationSubjects(program, CheckOptions.of(seed).withScalars(shape));
  }

  private Program readProgram(String name) {
    return new IrParser(Intrinsics::find).program(name, text(name));
  }

  /** Random data with weights that keep values as large as they are from layer to layer. */
  private static Arguments networkData(Kernel kernel, long seed) {
    Arguments arguments = KernelData.random(kernel, Map.of(), seed);
    NdArray weights = arguments.get("W");
    // Of uniform values in [-1, 1), half of whose sums the activation drops.
    double scale = Math.sqrt(6.0 / weights.shape()[2]);
    for (int i = 0; i < weights.size(); i++) {
      weights.setElement(i, scale * weights.element(i));
    }
    arguments.get("y").poison();
    return arguments;
  }

  private Kernel read(String name) {
    return new IrParser(Intrinsics::find).kernel(name, text(name));
  }

  private String text(String name) {
    try {
      return Files.readString(folder.resolve("kernels").resolve(name + ".kernel"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Names of the networks. */
  public List<String> networks() {
    try (Stream<Path> folders = Files.list(folder.resolve("models"))) {
      return folders
          .filter(f -> Files.exists(f.resolve("model.onnx")))
          .map(f -> f.getFileName().toString())
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UserError(folder.resolve("models") + ": is needed, and cannot be read", e);
    }
  }

  /** A network as one kernel for the newest target, whether or not one a layer is faster. */
  public List<MutationSubject> network(String name, Precision precision) {
    Path file = folder.resolve("models").resolve(name).resolve("model.onnx");
    CompiledProgram program =
        NetworkCompiler.alternatives(Warpwright.load(file).graph(), GpuTarget.SM_90A, precision)
            .stream()
            .map(way -> way.compile().get())
            .flatMap(Optional::stream)
            .findFirst()
            .orElseThrow();
    return MutationSubject.of(name + " in " + precision.text(), program, ROWS, seed);
  }

  /** Products out of schedules. */
  public List<MutationSubject> families() {
    List<MutationSubject> families = new ArrayList<>();
    for (String name : FamilySamples.names()) {
      List<MutationSubject> subjects = subjects(Objects.requireNonNull(FamilySamples.find(name)));
      for (int i = 0; i < subjects.size(); i++) {
        MutationSubject subject = subjects.get(i);
        int place = i;
        families.add(
            subject
                .withName("families: " + subject.name())
                .withOthers(() -> otherSamples(name, place)));
      }
    }
    return families;
  }

  private List<MutationSubject> subjects(CheckSubject sample) {
    return Checks.mutationSubjects(sample, CheckOptions.of(seed));
  }

  /** What a sample's schedule makes of other shapes; of those that it takes. */
  public List<MutationSubject.Shape> otherSamples(String name, int place) {
    List<MutationSubject.Shape> shapes = new ArrayList<>();
    for (FamilySamples.Other other : FamilySamples.others(name)) {
      if (shapes.size() == MOST_OTHERS) {
        break;
      }
      try {
        shapes.add(subjects(other.subject().get()).get(place).shape(other.text()));
      } catch (UserError | ScheduleError | IllegalArgumentException e) {
        // The schedule is not for such shapes: one less, which the result says.
        continue;
      }
    }
    return shapes;
  }

  /** The rungs of the ladder. */
  public List<MutationSubject> ladder() {
    List<MutationSubject> rungs = new ArrayList<>();
    for (Rung rung : Ladder.RUNGS) {
      rungs.add(
          rung(rung, LADDER)
              .withOthers(
                  () -> OTHER_LADDERS.stream().flatMap(shape -> otherRung(rung, shape)).toList()));
    }
    return rungs;
  }

  private MutationSubject rung(Rung rung, LadderShape shape) {
    Kernel kernel = Ladder.kernel(rung, shape.m, shape.n, shape.k);
    return MutationSubject.of(
        "ladder: " + rung.name(), kernel, data -> KernelData.random(kernel, Map.of(), seed + data));
  }

  private Stream<MutationSubject.Shape> otherRung(Rung rung, LadderShape shape) {
    try {
      return Stream.of(rung(rung, shape).shape(shape.toString()));
    } catch (UserError | ScheduleError | IllegalArgumentException e) {
      // The rung is not for such shapes.
      return Stream.empty();
    }
  }

  /** All of them. */
  public List<MutationSubject> all() {
    List<MutationSubject> all = new ArrayList<>();
    kernels().forEach(name -> all.add(kernel(name)));
    programs().forEach(name -> all.addAll(program(name)));
    all.addAll(families());
    all.addAll(ladder());
    for (String name : networks()) {
      for (Precision precision : Precision.ASKED_OF_NETWORKS) {
        all.addAll(network(name, precision));
      }
    }
    return all;
  }
}
