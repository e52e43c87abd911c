package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.kernels.CutlassCsv;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.GemmWorkload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CutlassCsvTest {
  private static final String HEADER =
      "Problem,Provider,OperationKind,Operation,Disposition,Status,gemm_kind,m,n,k,A,B,C,D,Bytes,"
          + "Flops,Flops/Byte,Runtime,GB/s,GFLOPs\n";

  @TempDir private Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("report.gemm.csv"), text);
  }

  private static String row(String operation, String status, String b, String runtime) {
    return String.format(
        Locale.ROOT,
        "1,CUTLASS,gemm,%s,not_verified,%s,universal,512,512,512,bf16:row,bf16:%s,bf16:row,bf16:row,1,2,3,%s,5,6\n",
        operation,
        status,
        b,
        runtime);
  }

  @Test
  void theFastestOfTheSameProductCounts() throws IOException {
    CutlassCsv csv =
        CutlassCsv.read(
            file(
                HEADER
                    + row("slow", "success", "column", "0.02")
                    + row("\"fast, with a comma\"", "success", "column", "0.0067")
                    + row("broken", "error_internal", "column", "0.001")
                    + "\n"
                    + HEADER
                    + row("other_layout", "success", "row", "0.002")));
    var nt = csv.best(GemmWorkload.nt(512, 512, 512, DType.BF16));
    assertThat(nt.orElseThrow().operation()).isEqualTo("fast, with a comma");
    assertThat(nt.orElseThrow().us()).isEqualTo(6.7);
    var nn = csv.best(GemmWorkload.of(512, 512, 512, DType.BF16, GemmWorkload.Layout.NN));
    assertThat(nn.orElseThrow().operation()).isEqualTo("other_layout");
    assertThat(csv.best(GemmWorkload.nt(512, 512, 512, DType.F16))).isEmpty();
    assertThat(csv.best(GemmWorkload.nt(512, 512, 256, DType.BF16))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|is empty; give what",
        "'a,b\n1,2\n'|has no column 'm'",
        "'m,n,k\n1,2,3\n'|has no column 'Runtime'",
        "'m,n,k,Runtime\n'|holds no measurement",
        "'m,n,k,Runtime\n1,2,3,fast\n'|line 2: Runtime is fast, not a number",
        "'m,n,k,Runtime\n1,2\n'|line 2: Runtime is missing, not a number"
      })
  void otherFilesAreRefusedInOneLine(String text, String message) throws IOException {
    Path file = file(text);
    assertThatThrownBy(() -> CutlassCsv.read(file))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith(file.toString())
        .hasMessageContaining(message)
        .message()
        .doesNotContain("\n");
  }

  @Test
  void bytesThatAreNoTextAreRefused() throws IOException {
    Path file = folder.resolve("x.csv");
    Files.write(file, new byte[] {(byte) 0xFF, (byte) 0xFE, 0});
    assertThatThrownBy(() -> CutlassCsv.read(file)).hasMessage(file + ": is no text");
    Path nowhere = folder.resolve("nowhere.csv");
    assertThatThrownBy(() -> CutlassCsv.read(nowhere))
        .hasCauseInstanceOf(NoSuchFileException.class);
  }
}
