package dev.warpwright.examples.lowering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvcc;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** What the passes make of the networks, beside the kernels that were written by hand. */
class RegisterChainedNetworkTest {
  private static final Path KERNELS = Path.of("..", "kernels");

  @SuppressWarnings("unused") // By name.
  private static final List<RegisterChainedNetwork> NETWORKS = RegisterChainedNetwork.BY_HAND;

  private static Kernel byHand(RegisterChainedNetwork network) throws IOException {
    Path file = KERNELS.resolve(network.name() + ".kernel");
    return new IrParser(Intrinsics::find).kernel(file.toString(), Files.readString(file));
  }

  private static NdArray result(Kernel kernel, Map<String, Long> scalars) {
    Arguments arguments = Arguments.random(kernel.params(), 5, scalars);
    // So that layers neither grow nor vanish.
    NdArray weights = arguments.get("W");
    double scale = Math.sqrt(6.0 / kernel.buffers().get(1).extent(1));
    for (int i = 0; i < weights.size(); i++) {
      weights.setElement(i, weights.element(i) * scale);
    }
    arguments.get("y").poison();
    assertThat(new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments)).isEmpty();
    return arguments.get("y");
  }

  /** The same instructions on the same numbers: the same bits, odd rows and idle workers too. */
  @ParameterizedTest
  @FieldSource("NETWORKS")
  void computesWhatTheOneByHandComputes(RegisterChainedNetwork network) throws IOException {
    Kernel kernel = network.kernel(PassListener.NONE);
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    // Four tiles and a bit: two rounds of one block, one of which has idle workers.
    Map<String, Long> scalars =
        Map.of("M", network.width() == 64 ? 64L * 7 + 37 : 64L * 3 + 5, "G", 1L);
    NdArray expected = result(byHand(network), scalars);
    NdArray got = result(kernel, scalars);
    assertThat(got.sameBits(expected)).as("first at %s", got.difference(expected)).isTrue();
    assertThat(nonZero(expected)).isGreaterThan(expected.size() / 10);
  }

  private static int nonZero(NdArray array) {
    int count = 0;
    for (int i = 0; i < array.size(); i++) {
      count += array.element(i) != 0 ? 1 : 0;
    }
    return count;
  }

  /** Calls of each intrinsic in the text of a kernel. */
  private static Map<String, Integer> calls(Kernel kernel) {
    Map<String, Integer> calls = new TreeMap<>();
    Walk.expressions(
        kernel.body(),
        e -> {
          if (e instanceof Expr.Call call) {
            calls.merge(call.op().text(), 1, Integer::sum);
          }
        });
    return calls;
  }

  /** No more waits, fences and commits than by hand; registers in which nothing spills. */
  @ParameterizedTest
  @FieldSource("NETWORKS")
  void isAsGoodAsTheOneByHand(RegisterChainedNetwork network) throws IOException {
    Kernel hand = byHand(network);
    Kernel kernel = network.kernel(PassListener.NONE);
    Map<String, Integer> most = calls(hand);
    Map<String, Integer> got = calls(kernel);
    for (String op : List.of("wgmma.fence", "wgmma.commit", "wgmma.wait", "sync_threads")) {
      assertThat(got.getOrDefault(op, 0)).as("%s: %s", op, got).isLessThanOrEqualTo(most.get(op));
    }
    assertThat(got).doesNotContainKey("bar.sync");
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: nothing is compiled");
    Cubin lowered = compiled(nvcc.get(), kernel);
    ResourceUsage usage = lowered.usage(network.name()).orElseThrow();
    assertThat(usage.isClean()).as(lowered.log()).isTrue();
    assertThat(lowered.warnings()).isEmpty();
    // Of the registers that so many threads leave each, where a role takes no others.
    assertThat(usage.registers()).isLessThanOrEqualTo(65_536 / threads(kernel) / 8 * 8);
  }

  private static int threads(Kernel kernel) {
    return Math.toIntExact(((Expr.IntImm) kernel.bindings().getLast().extent()).value());
  }

  private static Cubin compiled(Nvcc nvcc, Kernel kernel) {
    String cuda = CudaPrinter.print(kernel, GpuTarget.SM_90A);
    return nvcc.compile(new CompileRequest(cuda, GpuTarget.SM_90A.name()));
  }
}
