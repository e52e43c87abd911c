package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.FlowSites;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The rules for computations and tile programs, and for parameters in general. */
final class PrimFuncRules {
  private PrimFuncRules() {}

  static void check(PrimFunc f, Findings findings) {
    new AttributeRules(findings).check(f, f.attrs(), f.body());
    StmtRules rules = new StmtRules(findings, null);
    rules.check(f.body(), params(f.params(), rules, findings));
    if (FlowSites.isIn(f.body())) {
      new FlowRules(f, findings).check();
      new SharingRules(findings).check(f.body());
      LaunchOrderRules.check(f, findings);
    }
  }

  /** Checks parameters and says what is known behind them. */
  static Place params(List<? extends Param> params, StmtRules rules, Findings findings) {
    Place place = Place.OUTSIDE.with(Simplify.ofParams(params));
    for (Param param : params) {
      if (param instanceof ScalarParam scalar) {
        if (place.vars().contains(scalar.var())) {
          findings.add(
              Rule.DECLARED_ONCE, scalar, "parameter '" + scalar.name() + "' is there twice");
        }
        place = place.with(scalar.var());
      }
    }
    Place scalars = place;
    Set<Buffer> buffers = new HashSet<>();
    for (Param param : params) {
      if (param instanceof Buffer buffer) {
        if (!buffers.add(buffer)) {
          findings.add(
              Rule.DECLARED_ONCE, buffer, "parameter '" + buffer.name() + "' is there twice");
        }
        buffer.shape().forEach(e -> rules.exprs().check(e, scalars));
        AccessRules.layout(buffer, findings);
        if (buffer.scope() != Scope.GLOBAL) {
          findings.add(
              Rule.SCOPES,
              buffer,
              String.format(
                  Locale.ROOT,
                  "parameter '%s' has scope %s, not global",
                  buffer.name(),
                  buffer.scope()));
        }
      }
    }
    return place.with(buffers);
  }
}
