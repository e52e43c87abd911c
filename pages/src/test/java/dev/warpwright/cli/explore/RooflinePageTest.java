package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import org.junit.jupiter.api.Test;

/** The roofline: points under the roof, what does not fit, models and devices of one's own. */
final class RooflinePageTest extends PageTest {
  @Test
  @VisitsFirst
  void predictedAndMeasuredPointsLieUnderTheRoof() {
    visit(WIDE, "#roofline=kind=gemm&M=8192&N=8192&K=8192&gpus=h200");
    page.getByText("gemm 8192 x 8192 x 8192, bf16").waitFor();
    Locator chart = page.locator(".chart").first();
    assertThat(chart.locator("text.name").allTextContents()).contains("gemm");
    double roof = y(chart.locator("circle.dot"));
    double predicted = y(chart.locator("circle.guess"));
    double measured = y(chart.locator("circle.fact"));
    assertThat(predicted).as("further down").isGreaterThan(roof);
    assertThat(measured).as("further down").isGreaterThan(roof);
    assertThat(chart.locator("circle.fact title").textContent())
        .contains("H200 SXM: gemm, measured 799 T");
  }

  private static double y(Locator circle) {
    return Double.parseDouble(circle.first().getAttribute("cy"));
  }

  /** Its fields are in the link, and a type that the device has not is replaced with a note. */
  @Test
  @VisitsFirst
  void theStaircaseIsInTheLink() {
    visit(WIDE, "#roofline=kind=gemm&M=16&N=256&K=256&gpus=h200&sGpu=v100&sAlong=N&sLast=1000");
    page.getByText("V100 SXM multiplies no bf16, so f16 is shown.").waitFor();
    page.getByText("V100 SXM, f16, 4096 × N × 4096").waitFor();
    Locator stairs = page.locator("[aria-label='Wave staircase']");
    stairs.locator("[data-name='Tile']").selectOption("64x64");
    page.waitForCondition(() -> page.url().contains("sTile=64x64"));
    String url = page.url();
    assertThat(url).contains("sGpu=v100", "sType=f16", "sAlong=N", "sLast=1000");
    // To another view and back: the address says it again.
    page.evaluate("location.hash = '#kernels'");
    page.evaluate("location.hash = '#roofline'");
    page.waitForCondition(() -> page.url().equals(url));
    page.evaluate(
        "location.hash ="
            + " '#roofline=kind=gemm&M=16&N=256&K=256&gpus=h200&sAlong=K&sType=e4m3'");
    page.getByText("H200 SXM, e4m3, 4096 × 4096 × K").waitFor();
  }

  @Test
  @VisitsFirst
  void whatDoesNotFitAndWhatAttentionReadsFromL2IsSaid() {
    visit(WIDE, "#roofline=kind=model%3Dgpt3&M=64&batch=1&S=2048&gpus=a100,h200");
    page.getByText("gpt3, M=64").first().waitFor();
    // 175 billion weights in two bytes each, and 2048 keys and values in 96 layers.
    assertThat(page.locator("caption .wrong").allTextContents())
        .containsExactly(" does not fit: 359 GB of 80.0 GB", " does not fit: 359 GB of 141 GB");
    visit(WIDE, "#roofline=kind=attention&M=4096&S=4096&heads=32&kv=8&d=128&batch=1&gpus=h200");
    page.getByText("attention M=4096").waitFor();
    Locator fused = page.locator("tbody tr").first();
    // 128 tiles of queries for each of 8 heads of keys read 2 x 4096 x 128 x 2 bytes each.
    assertThat(fused.locator("td").nth(10).textContent()).isEqualTo("2.21 GB");
    assertThat(fused.locator("td").nth(9).textContent()).isEqualTo("0.08 GB");
  }

  /** "What does my 13B model's FFN wait for at M = 64?" */
  @Test
  @VisitsFirst
  void modelsAndDevicesOfOnesOwnAreInTheLinkToo() {
    visit(WIDE, "#roofline=kind=file&gpus=a100");
    page.getByText("Write a model, or load its file").waitFor();
    Locator model =
        page.getByLabel(
            "Model", new com.microsoft.playwright.Page.GetByLabelOptions().setExact(true));
    model.fill(
        "{\"name\": \"mine\", \"layers\": [{\"name\": \"up\", \"N\": 13824, \"K\": 5120, \"times\":"
            + " 40}]}");
    model.dispatchEvent("change");
    page.getByText("mine, M=64, bf16").waitFor();
    assertThat(page.locator(".tag").first().textContent()).isEqualTo("memory");
    assertThat(page.getByLabel("What is waited for").textContent())
        .isEqualTo("A100 SXM 80 GB waits for memory 100 % of the least time, in up.");
    Locator device = page.getByLabel("Device of your own");
    device.fill("{\"name\": \"my card\", \"like\": \"a100\", \"GBs\": 1000}");
    device.dispatchEvent("change");
    page.getByText("my card: all parts").waitFor();
    page.getByText("Over M, file, bf16").waitFor();
    page.waitForCondition(() -> page.locator("[aria-label='Over M'] circle").count() == 2 * 13);
    String url = page.url();
    visit(WIDE, url.substring(url.indexOf('#')));
    page.getByText("my card: all parts").waitFor();
    device = page.getByLabel("Device of your own");
    device.fill("{\"name\": \"my card\", \"like\": \"a100\", \"wheels\": 4}");
    device.dispatchEvent("change");
    assertThat(message()).contains("the device: no device has 'wheels'");
  }
}
