package dev.warpwright.cli.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.tuning.GemmArguments;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.export.CudaExport;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes the best known kernel of a product. */
final class GemmExport {
  private GemmExport() {}

  static Map<String, byte[]> files(
      ExportRequest request, List<GpuTarget> targets, Progress progress) {
    KeyValues values = request.values();
    String name = request.name();
    GemmWorkload workload = GemmArguments.read(values);
    values.finish(GemmArguments.KEYS);
    if (workload.batch().isGrouped()) {
      throw new UserError("groups: export takes GEMMs whose B is known, not grouped ones");
    }
    if (!workload.leading().equals(GemmWorkload.Leading.DENSE)
        || !workload.batch().strides().equals(Batch.Strides.DENSE)) {
      throw new UserError(
          "lda, ldb, ldc, stridea, strideb, stridec: export takes matrices whose rows follow each"
              + " other; leave them out");
    }
    check("A", workload.m(), workload.k());
    check("B", workload.k(), workload.n());
    check("C", workload.m(), workload.n());
    if (targets.size() > 1) {
      List<CudaExport.Variant> variants = new ArrayList<>();
      for (GpuTarget target : targets) {
        try (GemmKernels kernels = kernels(target)) {
          GemmKernels.Found found = kernels.require(workload);
          progress.say("the kernel for " + target.name() + " is " + origin(found));
          variants.add(new CudaExport.Variant(found.gemm().kernel(), target, found.gemm().trace()));
        }
      }
      return CudaExport.kernels(name == null ? "gemm" : name, variants, about(workload));
    }
    GpuTarget target = targets.getFirst();
    try (GemmKernels kernels = kernels(target)) {
      return files(workload, target, kernels.require(workload), name, request.form(), progress);
    }
  }

  /**
   * At once, for a kernel of such a shape is refused only when it has been chosen and scheduled.
   */
  private static void check(String name, long rows, long columns) {
    if ((double) rows * columns > Integer.MAX_VALUE) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s of %d x %d has more than 2^31 elements, which indices of 32 bits do not reach",
              name,
              rows,
              columns));
    }
  }

  private static GemmKernels kernels(GpuTarget target) {
    return TuningDevice.look()
        .filter(here -> here.target() == target)
        .map(here -> GemmKernels.of(target, here.environment(), here.sms()))
        .orElseGet(() -> GemmKernels.of(target));
  }

  /** The files of a kernel of a product. */
  static Map<String, byte[]> files(
      GemmWorkload workload,
      GpuTarget target,
      GemmKernels.Found found,
      @Nullable String name,
      CudaExport.Form form,
      Progress progress) {
    String origin = origin(found);
    Map<String, byte[]> files =
        CudaExport.kernel(
            found.gemm().kernel(),
            name,
            target,
            form,
            about(workload) + "; " + origin,
            found.gemm().trace());
    progress.say("the kernel is " + origin);
    return files;
  }

  private static String origin(GemmKernels.Found found) {
    return switch (found.origin()) {
      case TUNED -> "tuned for this GEMM";
      case UNTESTED -> "recorded for this GEMM, untested with this compiler, driver or source";
      case TRANSFERRED -> "tuned for a GEMM of the same shape, not for this one";
      case UNTUNED -> "chosen by a model, not measured";
    };
  }

  /** {@code C[64, 64] = gelu(A[64, 32] * transposed B[64, 32] + bias) in bf16, row-major}. */
  private static String about(GemmWorkload workload) {
    Layout layout = workload.layout();
    Epilogue epilogue = workload.epilogue();
    String formula =
        (epilogue.alpha() == 1 ? "" : epilogue.alpha() + " * ")
            + matrix("A", layout.transposedA(), workload.m(), workload.k())
            + " * "
            + matrix("B", layout.transposedB(), workload.k(), workload.n());
    String behind = "";
    for (Epilogue.Operand operand : epilogue.operands()) {
      String name = operand.buffer();
      switch (operand) {
        case ROW_SCALE, COLUMN_SCALE -> formula += " * " + name;
        case ADDEND -> formula += " + " + epilogue.beta() + " * " + name;
        case BIAS -> formula += " + " + name;
        case GATE -> behind += " * " + name;
        case RESIDUAL -> behind += " + " + name;
      }
    }
    if (epilogue.activation() != Activation.NONE) {
      formula = epilogue.activation().text() + "(" + formula + ")";
    } else if (epilogue.gate()) {
      formula = "(" + formula + ")";
    }
    return String.format(
        Locale.ROOT,
        "%sC[%d, %d] = %s in %s, row-major",
        workload.batch().isMany() ? workload.batch().count() + " GEMMs " : "",
        workload.m(),
        workload.n(),
        formula + behind,
        workload.precision() == Precision.TF32 ? "tf32" : workload.operands().text());
  }

  private static String matrix(String name, boolean transposed, long rows, long columns) {
    return transposed
        ? String.format(Locale.ROOT, "transposed %s[%d, %d]", name, columns, rows)
        : String.format(Locale.ROOT, "%s[%d, %d]", name, rows, columns);
  }
}
