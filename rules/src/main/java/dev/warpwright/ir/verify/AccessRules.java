package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.verify.Verifier.Findings;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Vector accesses and layouts. */
final class AccessRules {
  private static final int WIDEST = 16;

  private final Findings findings;
  private final Kernel.@Nullable Kind kind;

  /**
   * Rules.
   *
   * @param kind of the kernel; null above the Kernel level, where vectors need not be consecutive
   */
  AccessRules(Findings findings, Kernel.@Nullable Kind kind) {
    this.findings = findings;
    this.kind = kind;
  }

  void check(Object node, Buffer buffer, List<Expr> indices) {
    if (kind == null || indices.isEmpty() || indices.getLast().type().isScalar()) {
      return;
    }
    Expr last = indices.getLast();
    int lanes = last.type().lanes();
    String name = "'" + buffer.name() + "'";
    if (!(last instanceof Expr.Ramp ramp) || ramp.stride() != 1) {
      vectors(node, "the lanes of a vector access to " + name + " are not consecutive");
      return;
    }
    if (kind == Kernel.Kind.GRID && lanes * buffer.dtype().bytes() > WIDEST) {
      vectors(node, "a vector access to " + name + " is wider than " + WIDEST + " bytes");
    }
    Layout layout = buffer.layout();
    if (layout == null) {
      return;
    }
    Mode fastest = layout.dimensions().getLast().getFirst();
    boolean split = !layout.swizzle().isIdentity() && lanes > 1L << layout.swizzle().base();
    boolean only = layout.dimensions().getLast().size() == 1;
    if (fastest.stride() != 1 || (!only && fastest.extent() % lanes != 0) || split) {
      vectors(node, lanes + " lanes are not consecutive in " + name + " with layout " + layout);
    }
  }

  private void vectors(Object node, String message) {
    findings.add(Rule.VECTORS, node, message);
  }

  /** The layout of a declared buffer. */
  static void layout(Buffer buffer, Findings findings) {
    Layout layout = buffer.layout();
    if (layout == null) {
      return;
    }
    for (int i = 0; i < layout.rank(); i++) {
      if (buffer.shape().get(i) instanceof Expr.IntImm extent
          && layout.extent(i) < extent.value()) {
        findings.add(
            Rule.LAYOUTS,
            buffer,
            String.format(
                Locale.ROOT,
                "dimension %d of '%s' has extent %d, its layout %s only %d",
                i,
                buffer.name(),
                extent.value(),
                layout,
                layout.extent(i)));
      }
      if (layout.dimensions().get(i).stream().anyMatch(mode -> mode.stride() < 0)) {
        findings.add(
            Rule.LAYOUTS,
            buffer,
            "the layout " + layout + " of '" + buffer.name() + "' has a negative stride");
      }
    }
  }
}
