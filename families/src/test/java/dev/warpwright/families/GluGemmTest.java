package dev.warpwright.families;

import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Gated linear units: a product of interleaved columns, and a result of half as many. */
class GluGemmTest {
  private static final BlockOrder ROW = new BlockOrder.Row();

  static Stream<ArgumentSet> hopper() {
    Epilogue swiglu = Epilogue.glu(false, Activation.SILU);
    return Stream.of(
        // By bulk stores, through shared memory.
        hopper(100, 144, 72, Layout.NT, swiglu, HopperConfig.pairs(64, 64, 3, 1, 2)),
        hopper(
            136,
            224,
            72,
            Layout.NN,
            Epilogue.glu(true, Activation.GELU),
            HopperConfig.pairs(128, 112, 2, 2, 2).withCluster(1, 2)),
        // Straight from registers.
        hopper(
            100,
            240,
            72,
            Layout.NT,
            Epilogue.glu(true, Activation.RELU),
            HopperConfig.pairs(64, 96, 3, 1, 2).withCluster(1, 1).fromRegisters()),
        // One group of each.
        hopper(
            70,
            48,
            72,
            Layout.NT,
            swiglu,
            new HopperConfig(64, 16, 64, 3, 1, 1, 1, ROW, 0, 1, false)),
        // Swapped operands: pairs are rows of the product.
        hopper(
            13,
            144,
            136,
            Layout.NT,
            new Epilogue(0.5, 0, true, Activation.SILU, true, true, false, true, true),
            new HopperConfig(16, 128, 64, 3, 2, 1, 1, ROW, 0, 1, true)),
        hopper(
            5,
            80,
            640,
            Layout.NN,
            swiglu,
            new HopperConfig(8, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true)
                .withDivision(new WorkDivision.Parts(2))),
        hopper(
            20,
            272,
            200,
            Layout.NT,
            swiglu,
            new HopperConfig(24, 128, 64, 2, 2, 1, 1, ROW, 2, 1, true)
                .withDivision(new WorkDivision.Stream(1))));
  }

  private static ArgumentSet hopper(
      long m, long n, long k, Layout layout, Epilogue epilogue, HopperConfig config) {
    GemmWorkload workload = new GemmWorkload(m, n, k, DType.BF16, DType.BF16, layout, epilogue);
    return Arguments.argumentSet(workload.text() + " " + config, workload, config);
  }

  @ParameterizedTest
  @MethodSource
  void hopper(GemmWorkload workload, HopperConfig config) {
    Simulated.assertSame(HopperGemm.schedule(workload, config));
  }

  static Stream<ArgumentSet> ampere() {
    Epilogue geglu = Epilogue.glu(true, Activation.GELU_TANH);
    return Stream.of(
        ampere(
            100, 208, 72, Layout.NT, geglu, new AmpereConfig(64, 64, 32, 3, 2, 2, 1, ROW, false)),
        ampere(70, 176, 65, Layout.NN, geglu, new AmpereConfig(32, 96, 32, 2, 2, 1, 1, ROW, false)),
        ampere(21, 160, 72, Layout.NT, geglu, new AmpereConfig(32, 64, 32, 3, 2, 2, 1, ROW, true)));
  }

  private static ArgumentSet ampere(
      long m, long n, long k, Layout layout, Epilogue epilogue, AmpereConfig config) {
    GemmWorkload workload = new GemmWorkload(m, n, k, DType.F16, DType.F16, layout, epilogue);
    return Arguments.argumentSet(workload.text() + " " + config, workload, config);
  }

  @ParameterizedTest
  @MethodSource
  void ampere(GemmWorkload workload, AmpereConfig config) {
    Simulated.assertSame(AmpereGemm.schedule(workload, config, GpuTarget.SM_80));
  }
}
