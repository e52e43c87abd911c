package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Schedules for Hopper: what they make computes what they were made of, without findings. */
class HopperGemmTest {
  private static final BlockOrder ROW = new BlockOrder.Row();
  private static final Epilogue SCALES =
      new Epilogue(1, 0, true, Activation.SILU, true, true, true, true);
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU_TANH);

  /** Every second case, the others the next day. */
  static Stream<ArgumentSet> today() {
    List<ArgumentSet> all = cases().toList();
    int first = (int) (Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()) % 2);
    return IntStream.range(0, all.size()).filter(i -> i % 2 == first).mapToObj(all::get);
  }

  static Stream<ArgumentSet> cases() {
    return Stream.of(
        set(GemmWorkload.nt(200, 264, 136, DType.BF16), HopperConfig.pairs(64, 64, 3, 1, 2)),
        set(
            GemmWorkload.nt(136, 200, 72, DType.F16),
            HopperConfig.pairs(128, 112, 2, 2, 2).withCluster(1, 2)),
        set(
            new GemmWorkload(100, 72, 64, DType.BF16, DType.F32, Layout.NT, Epilogue.NONE),
            HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1)),
        set(
            new GemmWorkload(100, 77, 64, DType.F16, DType.F16, Layout.NT, ALL),
            HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1)),
        set(
            new GemmWorkload(100, 72, 64, DType.BF16, DType.BF16, Layout.NT, ALL),
            HopperConfig.pairs(128, 48, 3, 2, 2).withCluster(1, 1)),
        set(
            new GemmWorkload(136, 200, 136, DType.BF16, DType.BF16, Layout.NN, Epilogue.NONE),
            HopperConfig.pairs(64, 128, 3, 1, 2)),
        set(
            new GemmWorkload(136, 264, 72, DType.F16, DType.F16, Layout.NN, Epilogue.NONE),
            HopperConfig.pairs(128, 112, 2, 2, 2).withCluster(1, 2)),
        set(
            GemmWorkload.nt(70, 72, 136, DType.BF16).times(Batch.of(3)),
            HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1)),
        set(
            GemmWorkload.nt(70, 72, 136, DType.BF16).times(Batch.grouped(5, 3)),
            HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1)),
        set(
            GemmWorkload.of(130, 264, 72, DType.F16, GemmWorkload.Layout.NN)
                .times(Batch.grouped(3, 2)),
            HopperConfig.pairs(128, 112, 2, 2, 4).withCluster(1, 2)),
        set(
            GemmWorkload.nt(13, 200, 136, DType.BF16).times(Batch.grouped(4, 2)),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, new BlockOrder.Row(), 0, 2, true)),
        set(
            GemmWorkload.nt(130, 200, 72, DType.F16).times(new Batch(2, true, false)),
            HopperConfig.pairs(128, 112, 2, 2, 4).withCluster(1, 2)),
        set(
            new GemmWorkload(100, 72, 64, DType.BF16, DType.BF16, GemmWorkload.Layout.NN, ALL)
                .times(Batch.of(3).with(new Batch.Strides(6408, 4616, 7216))),
            HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1)),
        set(
            GemmWorkload.nt(70, 72, 136, DType.F16)
                .with(new GemmWorkload.Leading(3 * 136, 0, 3 * 72))
                .times(Batch.of(3).with(new Batch.Strides(136, 0, 72))),
            HopperConfig.pairs(64, 72, 3, 1, 4).withCluster(1, 1)),
        set(
            GemmWorkload.nt(13, 200, 136, DType.BF16)
                .times(Batch.grouped(4, 2).with(new Batch.Strides(13 * 136 + 8, 27208, 2601))),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, new BlockOrder.Row(), 0, 2, true)),
        set(
            new GemmWorkload(100, 72, 64, DType.BF16, DType.BF16, GemmWorkload.Layout.NT, ALL)
                .times(new Batch(3, false, true)),
            HopperConfig.pairs(64, 64, 3, 1, 4)
                .withCluster(1, 1)
                .withDivision(new WorkDivision.Stream(0))),
        set(
            GemmWorkload.nt(13, 200, 136, DType.BF16).times(Batch.of(2)),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, new BlockOrder.Row(), 0, 2, true)),
        set(
            GemmWorkload.nt(13, 200, 264, DType.BF16),
            new HopperConfig(16, 64, 128, 3, 1, 1, 1, ROW, 0, 2, true)),
        set(
            GemmWorkload.nt(37, 129, 128, DType.BF16),
            new HopperConfig(32, 128, 64, 3, 2, 1, 1, ROW, 0, 1, true)),
        set(
            new GemmWorkload(100, 72, 64, DType.F8E4M3, DType.F16, Layout.NT, SCALES),
            HopperConfig.pairs(128, 48, 3, 2, 2).withCluster(1, 1)),
        set(
            new GemmWorkload(20, 77, 64, DType.BF16, DType.BF16, Layout.NT, SCALES),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true)),
        // Swapped operands whose results go through shared memory.
        set(
            GemmWorkload.nt(37, 136, 128, DType.BF16),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true).transposing()),
        set(
            new GemmWorkload(100, 72, 136, DType.BF16, DType.BF16, Layout.NT, ALL),
            new HopperConfig(48, 128, 64, 3, 2, 1, 1, ROW, 0, 1, true).transposing()),
        set(
            new GemmWorkload(200, 264, 136, DType.F16, DType.F16, Layout.NN, Epilogue.NONE),
            new HopperConfig(112, 128, 64, 3, 1, 2, 1, ROW, 2, 1, true).transposing()),
        set(
            new GemmWorkload(136, 264, 136, DType.BF16, DType.BF16, Layout.TT, ALL),
            new HopperConfig(80, 256, 64, 2, 2, 2, 2, ROW, 0, 1, true).transposing()),
        set(
            new GemmWorkload(90, 200, 264, DType.F16, DType.F16, Layout.TN, ALL),
            new HopperConfig(96, 64, 64, 3, 1, 1, 1, ROW, 4, 1, true)
                .transposing()
                .withDivision(new WorkDivision.Parts(3))),
        set(
            new GemmWorkload(90, 200, 264, DType.F16, DType.F16, Layout.NT, ALL)
                .times(new Batch(3, false, true)),
            new HopperConfig(64, 192, 64, 3, 3, 1, 1, ROW, 4, 1, true)
                .transposing()
                .withDivision(new WorkDivision.Stream(0))),
        set(
            GemmWorkload.nt(40, 200, 392, DType.BF16).times(Batch.of(2)),
            new HopperConfig(32, 128, 64, 3, 2, 1, 1, ROW, 0, 1, true)
                .transposing()
                .withDivision(new WorkDivision.Parts(2))),
        set(
            new GemmWorkload(70, 72, 40, DType.BF16, DType.BF16, Layout.NT, ALL)
                .with(new GemmWorkload.Leading(48, 56, 80)),
            new HopperConfig(48, 64, 64, 3, 1, 1, 2, ROW, 0, 1, true).transposing()),
        set(
            new GemmWorkload(100, 72, 64, DType.F8E4M3, DType.F16, Layout.NT, SCALES),
            new HopperConfig(80, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true).transposing()),
        set(
            new GemmWorkload(150, 72, 64, DType.BF16, DType.BF16, Layout.NT, ALL),
            new HopperConfig(72, 64, 64, 3, 1, 2, 1, ROW, 2, 1, true).transposing()),
        set(
            GemmWorkload.nt(230, 136, 136, DType.F16),
            new HopperConfig(216, 128, 64, 2, 2, 1, 1, ROW, 0, 1, true).transposing()),
        // Fewer rows than an instruction has.
        set(
            GemmWorkload.nt(16, 144, 264, DType.BF16),
            new HopperConfig(16, 48, 128, 3, 1, 1, 1, ROW, 0, 1, false).fromRegisters()),
        set(
            new GemmWorkload(13, 72, 136, DType.F16, DType.F16, Layout.NT, ALL),
            new HopperConfig(16, 40, 64, 3, 1, 1, 1, ROW, 0, 2, false).fromRegisters()),
        set(
            new GemmWorkload(33, 130, 136, DType.BF16, DType.F32, Layout.NT, ALL),
            new HopperConfig(48, 24, 64, 4, 1, 1, 2, ROW, 0, 1, false).fromRegisters()),
        set(
            GemmWorkload.nt(70, 136, 136, DType.BF16),
            new HopperConfig(32, 56, 64, 3, 1, 1, 1, ROW, 3, 1, false).fromRegisters()),
        // The last cluster's second block has no columns of the result, or no rows, left.
        set(
            new GemmWorkload(80, 96, 136, DType.BF16, DType.BF16, Layout.NT, ALL),
            new HopperConfig(64, 32, 64, 3, 1, 1, 2, ROW, 0, 1, false)),
        set(
            new GemmWorkload(192, 64, 136, DType.BF16, DType.BF16, Layout.NT, ALL),
            new HopperConfig(64, 64, 64, 3, 1, 2, 1, ROW, 0, 1, false)),
        set(
            GemmWorkload.nt(40, 72, 136, DType.F16).with(Precision.F16_ACCUMULATORS),
            HopperConfig.pairs(64, 48, 3, 1, 2).withCluster(1, 2)),
        set(
            new GemmWorkload(100, 72, 136, Precision.F16_ACCUMULATORS, DType.F16, Layout.TN, ALL),
            HopperConfig.pairs(128, 64, 3, 1, 2).withCluster(1, 1)),
        set(
            GemmWorkload.nt(13, 130, 72, DType.F16).with(Precision.F16_ACCUMULATORS),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 2, true)),
        set(
            GemmWorkload.nt(136, 120, 144, DType.I8),
            HopperConfig.pairs(64, 48, 3, 1, 2).withTileK(128)),
        set(
            new GemmWorkload(100, 72, 80, DType.I8, DType.F32, Layout.NT, ALL),
            HopperConfig.pairs(128, 80, 3, 2, 2).withCluster(1, 1).withTileK(64)),
        set(
            GemmWorkload.nt(77, 45, 67, DType.I8),
            new HopperConfig(64, 24, 32, 3, 1, 1, 1, ROW, 0, 1, false)),
        set(
            GemmWorkload.nt(13, 136, 656, DType.I8),
            new HopperConfig(16, 64, 128, 3, 1, 1, 1, ROW, 4, 1, true)
                .withDivision(new WorkDivision.Parts(3))),
        set(
            new GemmWorkload(72, 76, 40, DType.BF16, DType.BF16, Layout.NT, ALL)
                .with(new GemmWorkload.Leading(48, 56, 80)),
            HopperConfig.pairs(64, 48, 3, 1, 2)),
        set(
            GemmWorkload.of(24, 76, 40, DType.F16, Layout.TN)
                .with(new GemmWorkload.Leading(32, 80, 77)),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true)),
        set(
            GemmWorkload.of(136, 200, 72, DType.BF16, Layout.TN),
            HopperConfig.pairs(64, 64, 3, 1, 2)),
        set(
            GemmWorkload.of(136, 104, 72, DType.F16, Layout.TT),
            HopperConfig.pairs(128, 40, 3, 2, 2).withCluster(1, 2)),
        set(
            GemmWorkload.of(13, 200, 72, DType.BF16, Layout.NN),
            new HopperConfig(16, 128, 64, 3, 2, 1, 1, ROW, 0, 2, true)),
        set(
            GemmWorkload.of(24, 136, 72, DType.F16, Layout.TT),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true)),
        set(
            GemmWorkload.of(24, 136, 72, DType.BF16, Layout.TN),
            new HopperConfig(32, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true)),
        set(
            GemmWorkload.nt(136, 120, 44, DType.F32).with(Precision.TF32),
            HopperConfig.pairs(128, 48, 3, 2, 2).withTileK(32)),
        set(
            GemmWorkload.nt(24, 72, 44, DType.F32).with(Precision.TF32),
            new HopperConfig(24, 64, 32, 3, 1, 1, 1, ROW, 0, 2, true)),
        set(
            GemmWorkload.nt(136, 120, 144, DType.F8E4M3),
            HopperConfig.pairs(64, 48, 3, 1, 2).withTileK(128)),
        set(
            new GemmWorkload(
                72,
                136,
                80,
                DType.F8E5M2,
                DType.F32,
                Layout.NT,
                new Epilogue(0.25, 0, true, Activation.RELU)),
            HopperConfig.pairs(128, 64, 3, 2, 2).withCluster(1, 2).withTileK(64)),
        set(
            GemmWorkload.nt(200, 200, 136, DType.BF16),
            new HopperConfig(64, 64, 64, 3, 1, 2, 2, ROW, 4, 1, false)),
        set(
            GemmWorkload.of(200, 264, 72, DType.F16, Layout.TN),
            new HopperConfig(64, 128, 64, 3, 1, 2, 2, new BlockOrder.Grouped(2), 4, 1, false)),
        set(
            GemmWorkload.nt(264, 120, 136, DType.BF16),
            new HopperConfig(64, 64, 64, 3, 1, 4, 1, ROW, 4, 1, false)),
        // A block for each tile, in clusters, without a table.
        set(
            GemmWorkload.nt(200, 200, 136, DType.BF16),
            new HopperConfig(64, 88, 64, 3, 1, 1, 2, ROW, 0, 1, false).fromRegisters()),
        set(
            GemmWorkload.nt(130, 200, 72, DType.F16).times(new Batch(2, true, false)),
            new HopperConfig(128, 64, 64, 2, 2, 2, 2, ROW, 0, 1, false)),
        // The blocks of a cluster copy parts of rows that are no multiples of 8.
        set(
            GemmWorkload.nt(264, 300, 328, DType.BF16),
            new HopperConfig(128, 88, 64, 3, 2, 2, 2, ROW, 0, 1, false).fromRegisters()),
        set(
            GemmWorkload.nt(520, 200, 264, DType.BF16),
            new HopperConfig(128, 112, 64, 3, 2, 4, 2, ROW, 0, 1, false)),
        set(
            GemmWorkload.nt(200, 200, 200, DType.F16),
            new HopperConfig(192, 40, 64, 2, 3, 1, 3, ROW, 0, 1, false).fromRegisters()),
        set(
            GemmWorkload.nt(200, 264, 136, DType.BF16),
            new HopperConfig(56, 64, 64, 3, 1, 2, 2, ROW, 0, 1, true)),
        set(
            GemmWorkload.nt(264, 120, 136, DType.BF16),
            new HopperConfig(64, 48, 64, 3, 1, 4, 1, ROW, 4, 1, false)),
        set(
            GemmWorkload.of(200, 264, 72, DType.F16, Layout.TN),
            new HopperConfig(64, 64, 80, 3, 1, 2, 2, ROW, 0, 1, false)),
        // Two blocks share a tile's steps.
        set(
            GemmWorkload.nt(200, 200, 328, DType.BF16),
            new HopperConfig(128, 88, 64, 3, 2, 1, 1, ROW, 0, 1, false)
                .fromRegisters()
                .withDivision(new WorkDivision.Parts(2))),
        set(
            new GemmWorkload(100, 72, 256, DType.BF16, DType.BF16, Layout.NT, ALL),
            new HopperConfig(64, 64, 64, 3, 1, 1, 1, ROW, 0, 1, false)
                .withDivision(new WorkDivision.Parts(2))),
        set(
            GemmWorkload.nt(13, 200, 392, DType.BF16).times(Batch.of(2)),
            new HopperConfig(16, 128, 64, 3, 2, 1, 1, ROW, 0, 1, true)
                .withDivision(new WorkDivision.Parts(2))),
        set(
            GemmWorkload.nt(300, 72, 264, DType.F32).with(Precision.TF32),
            new HopperConfig(256, 32, 32, 3, 4, 1, 1, ROW, 0, 1, false)
                .withDivision(new WorkDivision.Parts(2))),
        // Threads copy what TMA copies cannot.
        set(
            GemmWorkload.nt(200, 136, 342, DType.BF16),
            new HopperConfig(128, 72, 64, 3, 2, 1, 1, ROW, 0, 1, false).fromRegisters()),
        set(
            GemmWorkload.nt(136, 136, 1098, DType.BF16),
            new HopperConfig(64, 128, 64, 8, 1, 1, 1, ROW, 2, 1, false)),
        set(
            GemmWorkload.nt(127, 72, 331, DType.F8E4M3),
            new HopperConfig(64, 72, 128, 3, 1, 1, 1, ROW, 0, 1, false)),
        set(
            GemmWorkload.nt(13, 129, 264, DType.F8E5M2),
            new HopperConfig(16, 128, 128, 3, 2, 1, 1, ROW, 2, 1, true)),
        set(
            GemmWorkload.nt(13, 77, 331, DType.F16),
            new HopperConfig(16, 64, 64, 4, 1, 1, 1, ROW, 2, 1, true).withVectors()),
        set(
            GemmWorkload.nt(77, 70, 201, DType.I8),
            new HopperConfig(64, 48, 128, 3, 1, 1, 1, ROW, 0, 1, false).withVectors()),
        set(
            GemmWorkload.of(129, 77, 65, DType.BF16, Layout.TN),
            new HopperConfig(128, 80, 64, 2, 2, 1, 1, ROW, 0, 1, false).withVectors()),
        set(
            GemmWorkload.of(130, 75, 136, DType.F16, Layout.NN),
            new HopperConfig(64, 48, 64, 3, 1, 1, 1, ROW, 0, 1, false).withVectors()),
        set(
            GemmWorkload.nt(136, 72, 75, DType.F32).with(Precision.TF32),
            new HopperConfig(128, 72, 32, 3, 2, 1, 1, ROW, 0, 1, false)),
        set(
            GemmWorkload.nt(136, 72, 78, DType.F32).with(Precision.TF32),
            new HopperConfig(64, 72, 32, 3, 1, 1, 1, ROW, 0, 1, false).fromRegisters()));
  }

  private static ArgumentSet set(GemmWorkload workload, HopperConfig config) {
    return argumentSet(workload + " " + config, workload, config);
  }

  @Test
  void sumsOfPairsWaitForTheOtherBlock() {
    ScheduledGemm gemm =
        HopperGemm.schedule(
            GemmWorkload.nt(128, 64, 256, DType.BF16),
            new HopperConfig(128, 64, 64, 2, 2, 1, 1, ROW, 0, 1, false)
                .withDivision(new WorkDivision.Parts(2)));
    Kernel hasty =
        gemm.kernel()
            .withBody(
                new Rewriter() {
                  @Override
                  public Stmt stmt(Stmt s) {
                    return s instanceof Stmt.Evaluate e
                            && e.call().op() == HopperIntrinsics.CLUSTER_MEET
                        ? Stmt.Seq.EMPTY
                        : super.stmt(s);
                  }
                }.stmt(gemm.kernel().body()));
    assertThat(new GridInterpreter(hasty, GridOptions.DEFAULT).check(Simulated.arguments(gemm, 1)))
        .isNotEmpty();
  }

  /** Results whose rows TMA copies refuse, by panels of one to several warps' rows. */
  static Stream<ArgumentSet> ragged() {
    return Stream.of(
        set(GemmWorkload.nt(200, 154, 136, DType.BF16), HopperConfig.pairs(128, 80, 2, 2, 2)),
        set(
            new GemmWorkload(150, 77, 64, DType.BF16, DType.F32, Layout.NT, Epilogue.NONE),
            new HopperConfig(64, 64, 64, 2, 1, 1, 1, ROW, 0, 1, false)),
        set(
            GemmWorkload.of(130, 19, 72, DType.F16, Layout.NN),
            HopperConfig.pairs(64, 16, 2, 1, 1).withCluster(1, 1)),
        set(
            GemmWorkload.nt(66, 33, 64, DType.F16).times(Batch.of(3)),
            new HopperConfig(64, 48, 64, 2, 1, 1, 1, ROW, 0, 1, false)));
  }

  @ParameterizedTest
  @MethodSource("ragged")
  void threadsStoreRowsThatTmaCopiesRefuse(GemmWorkload workload, HopperConfig config) {
    ScheduledGemm gemm = HopperGemm.schedule(workload, config);
    String text = gemm.kernel().toString();
    assertThat(text.contains("C_shared")).isTrue();
    assertThat(text.contains("bulk.store")).isFalse();
    Simulated.assertSame(gemm);
  }

  @Test
  void vectorsTakeThePlaceOfElementsOnly() {
    HopperConfig config = new HopperConfig(64, 64, 64, 3, 1, 1, 1, ROW, 0, 1, false).withVectors();
    // Rows of B, of 75 elements, begin anywhere; those of A at multiples of 4 bytes.
    String text =
        HopperGemm.schedule(GemmWorkload.of(64, 75, 66, DType.F16, Layout.NN), config)
            .kernel()
            .toString();
    assertThat(text.contains("B_shared_next") && text.contains("cp.async.4")).isTrue();
    assertThat(text.contains("A_shared_next")).isFalse();
    assertThat(text.contains("ld.global.around.x4")).isTrue();
  }

  /** All of them each day: what is refused fails before its day comes. */
  @ParameterizedTest
  @MethodSource("cases")
  void isPossible(GemmWorkload workload, HopperConfig config) {
    assertThat(HopperLimits.problem(workload, config)).isNull();
  }

  @ParameterizedTest
  @MethodSource("today")
  void computesWhatItWasMadeOf(GemmWorkload workload, HopperConfig config) {
    Simulated.assertSame(HopperGemm.schedule(workload, config));
  }
}
