package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import dev.warpwright.tune.measure.Outcome;
import dev.warpwright.tune.record.Environment;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import dev.warpwright.tune.record.WorkloadKey;
import dev.warpwright.tune.space.Point;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Kernels and tuning runs. */
final class KernelPageTest extends PageTest {
  @Test
  void kernelsAreShownAsTextOnly() {
    page.navigate(address() + "#kernels");
    page.locator(".list button").first().waitFor();
    page.locator("pre").first().waitFor();
    assertThat(page.locator("pre").first().textContent()).contains("kernel ");
    page.locator(".list").first().locator("button").last().click();
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("CUDA C++")).click();
    assertThat(page.locator("pre").first().textContent()).contains("__global__");
  }

  @Test
  void tuningRunsAreShownWithTheirWinner() {
    page.navigate(address() + "#kernels");
    page.getByText("There are no tuning runs here yet").waitFor();
    var workload = WorkloadKey.parse("gemm dtype=bf16 k=64 layout=nt m=16 n=32");
    var environment = new Environment("sm_90a", "NVIDIA <b>H200", "580", "13.0", "1");
    try (TuningDatabase open = TuningDatabase.open(database())) {
      double[] times = {30, 20, 25};
      for (int i = 0; i < times.length; i++) {
        open.add(
            new TuningRecord(
                workload,
                environment,
                Point.parse("tileM=" + (64 << i) + " order=row"),
                "",
                new Outcome.Measured(times[i], 0.01, 1e-3, 1980, 50),
                Instant.parse("2026-11-20T12:00:0" + i + "Z")));
      }
    }
    // The first kernel, which is shown unasked, is answered only after the run was chosen.
    page.locator("pre").first().waitFor();
    List<Route> late = new ArrayList<>();
    page.route("**/api/kernel?*", late::add);
    page.reload();
    page.waitForCondition(() -> !late.isEmpty());
    page.getByText("gemm dtype=bf16 k=64 layout=nt m=16 n=32").click();
    page.getByText("The winner: 20.0 µs").waitFor();
    page.waitForResponse("**/api/kernel?*", () -> late.removeFirst().resume()).finished();
    page.waitForTimeout(200);
    assertThat(page.locator(".chips").first().textContent()).isEqualTo("tileM=128order=row");
    assertThat(page.locator(".chart circle").count()).isEqualTo(3);
    assertThat(page.locator(".list b").count()).isZero();
  }
}
