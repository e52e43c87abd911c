package dev.warpwright.families.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.KernelFamily;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.families.plain.PlainSketch;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The steps of docs/extending/kernel-family.md, taken. */
final class AddedFamilyTest {
  private static final Path PAGE = Path.of("../docs/extending/kernel-family.md");
  private static final GemmWorkload WORKLOAD = GemmWorkload.nt(33, 50, 20, DType.F32);

  /** Step 1: a thread computes {@code height} results of a column, {@code width} are beside it. */
  record Strips(int height, int width) {}

  /** Step 2. */
  private static ScheduledGemm schedule(GemmWorkload workload, Strips strips) {
    PrimFunc func = workload.func();
    Schedule s = new Schedule(func);
    BlockRef sums = s.block("acc");
    List<LoopRef> loops = s.loops(s.block("C"));
    Schedule.Halves m = s.split(loops.get(0), strips.height());
    Schedule.Halves n = s.split(loops.get(1), strips.width());
    s.reorder(m.outer(), n.outer(), n.inner(), m.inner());
    s.computeAt(sums, n.inner());
    s.setScope(s.buffer("acc"), Scope.LOCAL);
    s.compactAll();
    s.bind(m.outer(), ThreadAxis.BLOCK_Y);
    s.bind(n.outer(), ThreadAxis.BLOCK_X);
    s.bind(n.inner(), ThreadAxis.THREAD_X);
    workload.description().forEach(s::annotate);
    return new ScheduledGemm(func, s.trace(), s.func(), SimtLowering.lower(s.func()), List.of());
  }

  /** Step 3. */
  static final class StripSketch extends GemmSketch<Strips> {
    static final KernelFamily FAMILY =
        new KernelFamily(
            (workload, target) -> workload.k() > 0 && workload.operands() == DType.F32,
            StripSketch::new);

    StripSketch(GemmWorkload workload, GpuTarget target, int sms) {
      super(workload, target, sms);
    }

    @Override
    public String name() {
      return "strips";
    }

    @Override
    protected Strips config(Decisions d) {
      return new Strips(number(d, "height", 1, 2, 4, 64), number(d, "width", 32, 64));
    }

    @Override
    protected @Nullable String problem(Strips strips) {
      return strips.height() > 16 ? strips.height() + " results of a thread spill" : null;
    }

    @Override
    protected Features features(Strips strips) {
      double us = workload.flops() / 1e6 / strips.height();
      return new Features(List.of("height"), new double[] {strips.height()}, us);
    }

    @Override
    protected ScheduledGemm schedule(Strips strips) {
      return AddedFamilyTest.schedule(workload, strips);
    }
  }

  /** Step 4: what the registration does. */
  private static List<GemmSketch<?>> sketches(GemmWorkload workload) {
    return GemmSpace.sketches(
        List.of(StripSketch.FAMILY, PlainSketch.FAMILY), List.of(), workload, GpuTarget.SM_80, 4);
  }

  @Test
  void theFirstFamilyThatSupportsAGemmComputesIt() {
    assertThat(sketches(WORKLOAD)).extracting(GemmSketch::name).containsExactly("strips");
    assertThat(sketches(GemmWorkload.nt(8, 8, 8, DType.F64)))
        .extracting(GemmSketch::name)
        .containsExactly(PlainSketch.NAME);
  }

  /** Step 5. */
  @Test
  void whatIsDrawnComputesTheGemm() {
    Space space = new Space(List.copyOf(sketches(WORKLOAD)));
    GemmSketch<?> sketch = sketches(WORKLOAD).getFirst();
    SplittableRandom random = new SplittableRandom(1);
    Set<String> made = new HashSet<>();
    Set<String> rejected = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      Space.Drawn drawn = space.draw((name, options) -> random.nextInt(options.size()));
      if (drawn.candidate() == null) {
        rejected.add(String.valueOf(drawn.rejection()));
      } else if (made.add(drawn.point().toString())) {
        ScheduledGemm gemm =
            sketch.schedule((name, options) -> options.indexOf(drawn.point().option(name)));
        assertThat(IrPrinter.text(gemm.kernel()))
            .isEqualTo(IrPrinter.text(drawn.candidate().kernel().get()));
        Simulated.assertComputes(gemm, 1e-6);
      }
    }
    assertThat(made).hasSize(6);
    assertThat(rejected).hasSize(1).first().asString().contains("64 results of a thread spill");
    assertThatThrownBy(() -> sketch.plan((name, options) -> options.size() - 1))
        .isInstanceOf(Rejected.class);
  }

  /** The page names what there is: its links lead somewhere, and no method to write is left out. */
  @Test
  void thePageIsTrue() throws IOException {
    String page = Files.readString(PAGE);
    assertThat(Pattern.compile("\\]\\(([^)]+)\\)").matcher(page).results().map(m -> m.group(1)))
        .isNotEmpty()
        .allSatisfy(link -> assertThat(PAGE.resolveSibling(link)).exists());
    assertThat(
            Arrays.stream(GemmSketch.class.getDeclaredMethods())
                .filter(m -> Modifier.isAbstract(m.getModifiers()))
                .map(m -> '`' + m.getName() + '`'))
        .hasSize(4)
        .allSatisfy(name -> assertThat(page).contains(name));
  }
}
