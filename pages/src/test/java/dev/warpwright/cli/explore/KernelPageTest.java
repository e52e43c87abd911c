package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Kernels and tuning runs. */
final class KernelPageTest extends PageTest {
  @Test
  @VisitsFirst
  void kernelsAreShownAsTextOnly() {
    visit(WIDE, "#kernels");
    page.locator(".list button").first().waitFor();
    page.locator("pre").first().waitFor();
    assertThat(page.locator("pre").first().textContent()).contains("kernel ");
    page.locator(".list").first().locator("button").last().click();
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("CUDA C++")).click();
    assertThat(page.locator("pre").first().textContent()).contains("__global__");
  }

  private void record(WorkloadKey workload, String device, List<String> points) {
    var environment = new Environment("sm_90a", device, "580", "13.0", "1");
    try (TuningDatabase open = TuningDatabase.open(database())) {
      double[] times = {30, 20, 25};
      for (int i = 0; i < times.length; i++) {
        open.add(
            new TuningRecord(
                workload,
                environment,
                Point.parse(points.get(i)),
                "",
                new Outcome.Measured(times[i], 0.01, 1e-3, 1980, 50),
                Instant.parse("2026-11-20T12:00:0" + i + "Z")));
      }
    }
  }

  @Test
  @VisitsFirst
  void tuningRunsAreShownWithTheirRecords() throws IOException {
    visit(WIDE, "#kernels");
    page.getByText("These come with Warpwright").waitFor();
    assertThat(page.locator(".list").last().locator("button").count()).isGreaterThan(20);
    assertThat(page.locator(".list").last().locator("button").first().textContent())
        .as("whole runs come first")
        .contains("239 candidates");
    record(
        WorkloadKey.parse("gemm dtype=bf16 k=64 layout=nt m=16 n=32"),
        "NVIDIA <b>H200",
        List.of("tileM=64 order=row", "tileM=128 order=row", "tileM=256 order=row"));
    String point =
        "sketch=wgmma tileM=64 tileN=32 tileK=64 minBlocks=%d stages=%d cluster=1x1 persistent=no";
    record(
        GemmWorkload.nt(512, 512, 512, DType.BF16).key(),
        "NVIDIA H200",
        List.of(
            String.format(Locale.ROOT, point, 2, 4),
            String.format(Locale.ROOT, point, 2, 8),
            String.format(Locale.ROOT, point, 1, 8)));
    // The first kernel, which is shown unasked, is answered only after the run was chosen.
    page.locator("pre").first().waitFor();
    List<Route> late = new ArrayList<>();
    page.route("**/api/kernel?*", late::add);
    page.reload();
    page.waitForCondition(() -> !late.isEmpty());
    page.getByText("gemm dtype=bf16 k=64 layout=nt m=16 n=32").click();
    page.getByText("20.0 µs, relative error 1.0e-3").waitFor();
    page.waitForResponse("**/api/kernel?*", () -> late.removeFirst().resume()).finished();
    page.waitForTimeout(200);
    assertThat(page.locator(".chips").first().textContent()).isEqualTo("tileM=128order=row");
    assertThat(page.locator(".chart circle").count()).isEqualTo(3);
    assertThat(page.locator(".list b").count()).isZero();
    page.getByText("this record is of a form that is not read any more").waitFor();
    page.getByText("m=512 n=512").click();
    page.getByText("split(").first().waitFor();
    for (String view : List.of("Tile program", "Kernel", "CUDA C++")) {
      button(view).click();
      page.waitForCondition(
          () ->
              page.locator("pre")
                  .first()
                  .textContent()
                  .contains(
                      switch (view) {
                        case "CUDA C++" -> "__global__";
                        case "Kernel" -> "kernel gemm";
                        default -> "func gemm";
                      }));
    }
    // In one form and in the other: what is pointed at, and what another record has otherwise.
    button("Side by side").click();
    page.locator(".levels .linked").first().waitFor();
    Locator word =
        page.locator(".levels .linked")
            .nth(1)
            .locator("b", new Locator.LocatorOptions().setHasText("A_shared"))
            .first();
    word.click();
    assertThat(page.locator(".levels .linked").nth(1).locator(".lit-line").count()).isPositive();
    assertThat(page.locator(".levels .linked").nth(0).locator(".lit-line").count()).isPositive();
    // After every pass that changes something, in between; and what each pass changed.
    List<String> forms = page.getByLabel("Form on the right").locator("option").allTextContents();
    assertThat(forms.subList(0, 2)).containsExactly("Schedule", "Tile program");
    assertThat(forms).contains("2. after PlanPipes", "5. after LowerPipes");
    page.getByLabel("Form on the right").selectOption("2. after PlanPipes");
    assertThat(page.locator(".levels .linked").nth(1).textContent()).contains("pipe ");
    button("Passes").click();
    page.getByText("What DistributeWork makes of what the schedule left.").waitFor();
    button("Later pass").click();
    page.getByText("What PlanPipes makes of what DistributeWork left.").waitFor();
    assertThat(page.locator(".difference .come").allTextContents())
        .anyMatch(line -> line.contains("pipe "));
    // All of that is in the address.
    page.reload();
    page.getByText("What PlanPipes makes of what DistributeWork left.").waitFor();
    assertThat(
            page.getByLabel("Record", new Page.GetByLabelOptions().setExact(true))
                .locator("option:checked")
                .textContent())
        .startsWith("the winner: 20.0 µs");
    Download table = page.waitForDownload(() -> button("CSV").click());
    assertThat(Files.readAllLines(table.path())).hasSize(4);
    Download picture = page.waitForDownload(() -> button("SVG").click());
    assertThat(Files.readString(picture.path())).startsWith("<svg");
    button("Difference to…").click();
    page.getByText("Decided otherwise there: minBlocks=1.").waitFor();
    assertThat(page.locator(".difference .gone").count()).isPositive();
    assertThat(page.locator(".difference .come").count()).isPositive();
    page.getByLabel("Filter tuning runs").fill("h200 k=64");
    assertThat(page.locator(".list").last().locator("button:visible").count()).isEqualTo(1);
    page.getByLabel("Filter tuning runs").fill("");
    button("Simulator counters").click();
    page.getByText("Statements of the kernel by what they ask").waitFor();
  }
}
