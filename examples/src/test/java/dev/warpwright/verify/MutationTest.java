package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.examples.RepositoryKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.mutation.Mutant;
import dev.warpwright.verify.mutation.Mutation;
import dev.warpwright.verify.mutation.Mutations;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A part of the table in {@code docs/mutation-testing.md}: of each kind of mistake the first mutant
 * in kernels of every family is reported, as what it is.
 */
class MutationTest {
  private static final RepositoryKernels KERNELS = new RepositoryKernels(Path.of(".."), 7);
  private static final List<MutationTesting> FAMILIES = new ArrayList<>();

  /** Places that are tried for a mistake that is none in the first. */
  private static final int MOST = 4;

  private static final CheckOptions OPTIONS = CheckOptions.of(5).withSchedules(4);

  /**
   * Where K ends, both operands are filled with zeros, of which one is enough; so is one of two
   * fences.
   */
  private static final Set<String> NOT_HERE =
      Set.of("asynchronous copy always of all bytes", "proxy fence of global memory left out");

  @BeforeAll
  static void run() {
    List<MutationSubject> subjects = new ArrayList<>();
    subjects.add(KERNELS.kernel("gemm_bf16_sm90"));
    subjects.add(KERNELS.kernel("ffn_bf16_sm90_m16"));
    subjects.add(KERNELS.kernel("gemm_bf16_sm80"));
    subjects.add(KERNELS.kernel("gemm_f32_simt"));
    subjects.add(KERNELS.kernel("mlp_f16_sm90_64x4"));
    subjects.addAll(KERNELS.network("tabular-tanh-sigmoid", Precision.F16));
    subjects.addAll(streamed());
    subjects.addAll(normed());
    // Only here do copies go to some blocks of a cluster, not to all.
    KERNELS.families().stream()
        .filter(family -> family.name().endsWith("cluster_2x2"))
        .forEach(subjects::add);
    for (MutationSubject subject : subjects) {
      FAMILIES.add(new MutationTesting(subject, OPTIONS.orders()));
    }
  }

  /** Layers whose weights flow by, packed: only here are linear copies into a ring. */
  private static List<MutationSubject> streamed() {
    Graph graph =
        RandomMlp.of(
            (Architecture.Mlp) Architecture.parse("mlp:176,176,176,176,176:relu"),
            false,
            DType.F32,
            7);
    return MutationSubject.of("layers that flow by", first(graph), 70, 7);
  }

  /** Only here are rows reduced in registers. */
  private static List<MutationSubject> normed() {
    Graph graph =
        RandomMlp.of(
            (Architecture.Mlp) Architecture.parse("mlp:32,32,16:relu"), true, DType.F32, 7);
    return MutationSubject.of("layers with norms", first(RandomMlp.normed(graph)), 70, 7);
  }

  private static CompiledProgram first(Graph graph) {
    return NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.F16).stream()
        .map(way -> way.compile().get())
        .flatMap(Optional::stream)
        .findFirst()
        .orElseThrow();
  }

  @AfterAll
  static void forget() {
    FAMILIES.clear();
  }

  /** A third of the kinds a day, in turn: {@code check --mutants} has all. */
  static Stream<String> eachKindIsReported() {
    long day = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    List<Mutation> all = List.copyOf(Mutations.ALL);
    return IntStream.range(0, all.size())
        .filter(i -> (i + day) % 3 == 0)
        .mapToObj(i -> all.get(i).name());
  }

  @ParameterizedTest
  @MethodSource
  void eachKindIsReported(String name) {
    Mutation mutation = Mutations.named(name);
    boolean reported = false;
    int most = NOT_HERE.contains(name) ? 1 : MOST;
    for (MutationTesting family : FAMILIES) {
      List<Mutant> mutants = mutation.plant(family.subject().kernel());
      for (int i = 0; i < mutants.size() && i < most && !reported; i++) {
        MutationTesting.Result result = family.test(mutants.get(i));
        switch (result.verdict()) {
          case REPORTED, WRONG_RESULT, REFUSED -> reported = true;
          case NOT_EXECUTED, EQUIVALENT -> {}
          case SURVIVED -> fail(result.toString());
        }
      }
    }
    assertThat(reported || NOT_HERE.contains(name)).as("'%s' is reported", name).isTrue();
  }

  @Test
  void thereAreManyKinds() {
    assertThat(Mutations.ALL).hasSizeGreaterThan(60);
    assertThat(Mutations.ALL.stream().map(Mutation::name).distinct()).hasSameSizeAs(Mutations.ALL);
  }
}
