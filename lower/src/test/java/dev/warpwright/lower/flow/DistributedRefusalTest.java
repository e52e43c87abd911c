package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import org.junit.jupiter.api.Test;

/** Pipelined tile programs that cannot be lowered are refused by one line that says why. */
class DistributedRefusalTest {
  private static final String GOOD =
      IrPrinter.text(
          DistributedGemmTest.gemm(
              256,
              256,
              128,
              128,
              128,
              64,
              3,
              2,
              "clusterM = 2, clusterN = 1, consumers = 2, producers = 1"));

  private static void refused(String what, String by, String why) {
    if (!GOOD.contains(what)) {
      throw new IllegalArgumentException("'" + what + "' is not in " + GOOD);
    }
    PrimFunc func = new IrParser(Intrinsics::find).primFunc("test", GOOD.replace(what, by));
    assertThatThrownBy(() -> Lowering.lower(func, GpuTarget.SM_90A))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining(why)
        .hasMessageNotContaining("\n");
  }

  @Test
  void refusals() {
    refused("blocks = 2", "blocks = 3", "multiple of 2");
    refused("wgmma.m64n128k16", "wgmma.m64n64k16", "computes 64 columns, not 128");
    refused("wgmma.m64n128k16", "wgmma.m64n128k99", "unknown warpgroup instruction");
    refused("f32.bf16\"", "f32.bf16.tb\"", "takes B stored along its columns");
    refused("f32.bf16\"", "f32.bf16.ra\"", "takes A from registers");
    refused("consumers = 2", "consumers = 3", "128 rows over 3 warpgroups");
    refused("clusterN = 1", "clusterN = 2", "multiple of 4");
    refused("clusterM = 2", "clusterM = 4", "does not fit C");
    refused("persistent t in 4", "persistent t in 5", "does not count the 2 x 2 tiles of C");
  }
}
