package dev.warpwright.families.simt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Folding;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Products of threads: what their schedules make computes what they were made of. */
class SimtGemmTest {
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU);

  /** Along K, two by two warps of eight by four lanes. */
  private static final SimtConfig FOUR_WARPS =
      new SimtConfig(32, 64, 16, 16, 32, 8, 1, 3, false, true, true, 1);

  /** Along K, all lanes of two warps beside each other. */
  private static final SimtConfig ONE_ROW =
      new SimtConfig(2, 64, 32, 2, 32, 1, 1, 2, false, false, true, 1);

  static Stream<ArgumentSet> cases() {
    SimtConfig small = new SimtConfig(32, 64, 8, 16, 32, 4, 1, 2, true, true, false, 1);
    SimtConfig async = new SimtConfig(32, 64, 8, 32, 32, 4, 1, 4, true, true, false, 1);
    SimtConfig low = new SimtConfig(4, 64, 8, 4, 64, 1, 1, 3, false, false, false, 1);
    SimtConfig sliced = new SimtConfig(4, 32, 32, 4, 32, 1, 4, 3, false, false, false, 1);
    SimtConfig alongK = new SimtConfig(2, 32, 32, 2, 32, 1, 2, 3, true, true, true, 1);
    SimtConfig alongK2 = new SimtConfig(8, 64, 32, 8, 32, 2, 1, 2, false, false, true, 1);
    SimtConfig odd = new SimtConfig(28, 112, 16, 28, 112, 2, 2, 3, false, true, true, 1);
    SimtConfig parts = new SimtConfig(32, 64, 16, 32, 64, 2, 4, 2, false, true, false, 1);
    SimtConfig tall = new SimtConfig(56, 64, 8, 56, 64, 2, 1, 3, false, true, false, 1);
    SimtConfig wide = new SimtConfig(64, 40, 16, 64, 40, 16, 1, 2, false, true, false, 1);
    return Stream.of(
        set(of(50, 62, 22, Layout.NN, ALL), tall, GpuTarget.SM_80),
        set(of(55, 61, 90, Layout.TT, Epilogue.NONE), tall.shared(3, 1), GpuTarget.SM_80),
        set(of(66, 38, 34, Layout.NT, ALL), wide, GpuTarget.SM_75),
        set(of(34, 66, 40, Layout.NT, ALL), small.shared(3, 1), GpuTarget.SM_80),
        set(of(64, 64, 32, Layout.NT, Epilogue.NONE), async.shared(2, 2), GpuTarget.SM_80),
        set(of(50, 70, 50, Layout.TN, Epilogue.NONE), async.shared(4, 2), GpuTarget.SM_80),
        set(of(7, 67, 250, Layout.NT, ALL), alongK2.shared(5, 1), GpuTarget.SM_75),
        set(of(40, 100, 200, Layout.NT, ALL), FOUR_WARPS.shared(3, 1), GpuTarget.SM_80),
        set(of(5, 70, 130, Layout.NT, Epilogue.NONE), ONE_ROW.shared(2, 1), GpuTarget.SM_80),
        set(of(7, 67, 250, Layout.TT, ALL), alongK2.shared(5, 1), GpuTarget.SM_75),
        set(of(8, 72, 96, Layout.TT, Epilogue.NONE), alongK2, GpuTarget.SM_80),
        set(of(2, 70, 128, Layout.TT, ALL), alongK, GpuTarget.SM_80),
        set(of(66, 7, 52, Layout.NN, ALL), FOUR_WARPS.shared(2, 1), GpuTarget.SM_80),
        set(of(96, 130, 19, Layout.NN, Epilogue.NONE), small.shared(1, 3), GpuTarget.SM_75),
        set(of(37, 129, 131, Layout.NT, ALL), odd.with(2, 1), GpuTarget.SM_75),
        set(of(28, 90, 64, Layout.NT, Epilogue.NONE), odd, GpuTarget.SM_80),
        set(of(17, 127, 33, Layout.NT, ALL), parts, GpuTarget.SM_75),
        set(of(1, 130, 96, Layout.NT, Epilogue.NONE), alongK, GpuTarget.SM_80),
        set(of(7, 67, 50, Layout.NT, ALL), alongK2, GpuTarget.SM_75),
        set(of(7, 67, 50, Layout.NT, ALL), alongK2.storedByRows(), GpuTarget.SM_75),
        set(of(1, 130, 96, Layout.NT, Epilogue.NONE), sliced, GpuTarget.SM_80),
        set(of(64, 128, 32, Layout.NT, Epilogue.NONE), small, GpuTarget.SM_75),
        set(of(64, 128, 32, Layout.NN, Epilogue.NONE), small, GpuTarget.SM_75),
        set(of(64, 128, 32, Layout.TN, Epilogue.NONE), async, GpuTarget.SM_80),
        set(of(36, 68, 20, Layout.TT, ALL), async, GpuTarget.SM_80),
        set(of(37, 67, 19, Layout.TN, Epilogue.NONE).with(Precision.TF32), async, GpuTarget.SM_80),
        set(of(37, 67, 19, Layout.NT, ALL), async, GpuTarget.SM_80),
        set(of(37, 67, 19, Layout.NT, ALL), async.storedByRows(), GpuTarget.SM_80),
        set(of(65, 130, 8, Layout.TT, Epilogue.NONE), small.storedByRows(), GpuTarget.SM_75),
        set(of(3, 1, 17, Layout.NN, ALL), small.storedByRows().shared(1, 1), GpuTarget.SM_75),
        set(of(1, 1, 1, Layout.NN, Epilogue.NONE), small, GpuTarget.SM_75),
        set(of(1, 130, 40, Layout.NT, Epilogue.NONE), low, GpuTarget.SM_80),
        set(of(5, 65, 17, Layout.TN, Epilogue.NONE), low, GpuTarget.SM_80));
  }

  private static GemmWorkload of(long m, long n, long k, Layout layout, Epilogue epilogue) {
    return new GemmWorkload(m, n, k, DType.F32, DType.F32, layout, epilogue);
  }

  private static ArgumentSet set(GemmWorkload workload, SimtConfig config, GpuTarget target) {
    return org.junit.jupiter.params.provider.Arguments.argumentSet(
        workload + " " + config + " " + target.name(), workload, config, target);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void computesWhatItWasMadeOf(GemmWorkload workload, SimtConfig config, GpuTarget target) {
    ScheduledGemm gemm = SimtGemm.schedule(workload, config, target);
    Simulated.assertComputes(gemm, 2e-6);
    // What decides whether a configuration fits must not be less than what the kernel takes.
    KernelResources resources = KernelResources.of(gemm.kernel());
    assertThat((long) resources.sharedBytes())
        .as("%s", resources.offsets())
        .isLessThanOrEqualTo(SimtLimits.sharedBytes(workload, config));
  }

  /** A thread's columns lie apart, and what the threads of a block store lies side by side. */
  @Test
  void partialSumsAlongKLieInTheOrderOfThreads() {
    for (SimtConfig config : List.of(FOUR_WARPS, ONE_ROW)) {
      Kernel kernel =
          SimtGemm.schedule(
                  of(64, 64, 256, Layout.NT, Epilogue.NONE), config.shared(2, 1), GpuTarget.SM_80)
              .kernel();
      Var thread = kernel.binding(ThreadAxis.THREAD_X).orElseThrow().var();
      List<Stmt.Store> stores = new ArrayList<>();
      Walk.statements(
          kernel.body(),
          s -> {
            if (s instanceof Stmt.Store store && store.buffer().name().equals("acc_rf")) {
              stores.add(store);
            }
          });
      assertThat(stores).hasSize(1);
      Stmt.Store store = stores.getFirst();
      for (int t = 0; t < config.threads(); t++) {
        Map<Var, Expr> place = new HashMap<>();
        Walk.expressions(
            store,
            e -> {
              if (e instanceof Var v) {
                place.put(v, Exprs.i32(0));
              }
            });
        place.put(thread, Exprs.i32(t));
        Stmt.Store at = (Stmt.Store) Folding.stmt(Substitution.ofVars(place).stmt(store));
        assertThat(at.indices().getLast()).isEqualTo(Exprs.i32(t));
      }
    }
  }
}
