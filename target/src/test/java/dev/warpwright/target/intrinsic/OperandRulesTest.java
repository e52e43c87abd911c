package dev.warpwright.target.intrinsic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Rule;
import dev.warpwright.ir.verify.Verifier;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The verifier asks the intrinsics about the operands of calls. */
class OperandRulesTest {
  private static List<Problem> problems(String call) {
    return Verifier.verify(
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                String.format(
                    Locale.ROOT,
                    """
                    kernel k(A: bf16[512, 512], n: i32 in 1..9) grid(bx = 1) block(tid = 160) {
                      alloc As: bf16[2, 64, 64] shared layout (2:4096),(64:64),(64:1)^<3,3,3> align 1024
                      alloc Bs: bf16[2, 64, 64] shared align 1024
                      alloc full: mbarrier[4] shared
                      alloc acc: f32[32] local
                      if tid < 128 {
                        %s
                      }
                    }
                    """,
                    call)));
  }

  private static void refused(String call, String message) {
    assertThat(problems(call)).extracting(Problem::rule).containsExactly(Rule.INTRINSICS);
    assertThat(problems(call).getFirst().message()).isEqualTo(message);
    assertThat(problems(call).getFirst().line()).as("line").isPositive();
  }

  private static void accepted(String call) {
    assertThat(problems(call)).isEmpty();
  }

  @Test
  void waitsAndRegisterCountsAreConstants() {
    refused("wgmma.wait(n)", "wgmma.wait needs a constant, not n");
    refused("bulk.wait.read(n + 1)", "bulk.wait.read needs a constant, not n + 1");
    refused("setmaxnreg.inc(n * 8)", "setmaxnreg.inc needs a constant, not n * 8");
    refused("cp.async.wait(n)", "cp.async.wait needs a constant, not n");
    accepted("cp.async.wait(1)");
    accepted("wgmma.wait(7)");
    refused("wgmma.wait(8)", "operand 'n' of wgmma.wait is 8, not from 0 to 7");
    refused("bulk.wait(-1)", "operand 'n' of bulk.wait is -1, not from 0 to 2147483647");
  }

  @Test
  void registersComeInEights() {
    accepted("setmaxnreg.dec(24)");
    accepted("setmaxnreg.inc(256)");
    String range = ", not a multiple of 8 from 24 to 256";
    refused("setmaxnreg.inc(100)", "operand 'n' of setmaxnreg.inc is 100" + range);
    refused("setmaxnreg.dec(16)", "operand 'n' of setmaxnreg.dec is 16" + range);
    refused("setmaxnreg.inc(264)", "operand 'n' of setmaxnreg.inc is 264" + range);
  }

  @Test
  void namedBarriersHaveIdsAndWholeWarps() {
    accepted("bar.sync(15, 128)");
    accepted("bar.sync(1 + tid / 128, 128)");
    refused("bar.sync(0, 128)", "operand 'id' of bar.sync is 0, not from 1 to 15");
    refused("bar.sync(16, 128)", "operand 'id' of bar.sync is 16, not from 1 to 15");
    refused(
        "bar.sync(1, 100)",
        "operand 'threads' of bar.sync is 100, not a multiple of 32 from 32 to 1024");
  }

  @Test
  void barriersCountArrivals() {
    accepted("mbarrier.init(&full[1], n)");
    refused(
        "mbarrier.init(&full[1], 0)",
        "operand 'arrivals' of mbarrier.init is 0, not from 1 to 1048575");
  }

  @Test
  void copiesHaveATensorMap() {
    accepted("bulk.load.2d(&As[n % 2, 0, 0], &A[0, 64], &full[0], 64, 64)");
    refused(
        "bulk.load.2d(&As[0, 0, 0], &A[0, 64], &full[0], n, 64)",
        "bulk.load.2d needs a constant number of rows");
    refused(
        "bulk.store.2d(&A[0, 64], &As[1, 0, 0], 64, 32)",
        "TMA copy of 32 columns of A: its rows take 64 bytes, those of As 128");
  }

  @Test
  void linearCopiesMoveSixteensOfOneType() {
    accepted("bulk.load.linear(&As[n % 2, 0, 0], &A[n, 0], &full[0], 64, 64)");
    refused(
        "bulk.load.linear(&As[0, 0, 0], &A[0, 0], &full[0], n, 64)",
        "bulk.load.linear needs a constant number of rows and columns");
    refused(
        "bulk.load.linear(&As[0, 0, 0], &A[0, 0], &full[0], 1, 4)",
        "bulk.load.linear of 8 bytes from A, aligned to 16, to As, aligned to 1024: all must be"
            + " multiples of 16");
  }

  @Test
  void operandsOfProductsHaveADescriptor() {
    String product = "wgmma.m64n64k16.f32.bf16(&acc[0], &%s, &%s, 1)";
    accepted(String.format(Locale.ROOT, product, "As[0, 0, 48]", "As[n % 2, 0, n % 4 * 16]"));
    refused(
        String.format(Locale.ROOT, product, "As[0, 0, 0]", "Bs[0, 0, 0]"),
        "shared buffer Bs is not swizzled; operands of wgmma need rows of 32, 64 or 128 bytes"
            + " with the swizzle of that width");
    String must =
        " it must begin at multiples of 8 rows and 32 bytes and stay within 64 rows of 128 bytes";
    refused(
        String.format(Locale.ROOT, product, "As[0, 8, 0]", "As[0, 0, 0]"),
        "operand 'a' of wgmma.m64n64k16.f32.bf16 reads 64 rows of 32 bytes from row 8, byte 0 of As"
            + " on;"
            + must);
    refused(
        String.format(Locale.ROOT, product, "As[0, 0, 0]", "As[0, 0, 8]"),
        "operand 'b' of wgmma.m64n64k16.f32.bf16 reads 64 rows of 32 bytes from row 0, byte 16 of"
            + " As on;"
            + must);
  }

  @Test
  void aWarpgroupStaysTogether() {
    List<Problem> problems = problems("if tid % 2 == 0 { wgmma.commit() }");
    assertThat(problems).extracting(Problem::rule).containsExactly(Rule.CONVERGENCE);
    accepted("if n == 2 { wgmma.commit() }");
    accepted("if tid == 7 { mbarrier.arrive(&full[0]) bulk.commit() fence.proxy.async() }");
  }
}
