package dev.warpwright.ir.verify;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.verify.Verifier.Findings;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** The rules for kernels. */
final class KernelRules {
  private static final long THREADS = 1024;
  private static final long THREADS_Z = 64;
  private static final long MOST_TOLD = 1 << 20;

  private KernelRules() {}

  static void check(Kernel k, Findings findings) {
    new AttributeRules(findings).check(k, k.attrs(), k.body());
    StmtRules rules = new StmtRules(findings, k);
    Place place = PrimFuncRules.params(k.params(), rules, findings);
    Place params = place;
    Set<ThreadAxis> axes = EnumSet.noneOf(ThreadAxis.class);
    long threads = 1;
    for (ThreadBinding binding : k.bindings()) {
      ThreadAxis axis = binding.axis();
      if (!axes.add(axis)) {
        findings.add(Rule.LAUNCH, binding, "the launch has two indices " + axis.text());
      }
      if (!binding.var().type().equals(Type.I32) || !binding.extent().type().equals(Type.I32)) {
        findings.add(
            Rule.LAUNCH,
            binding,
            String.format(
                Locale.ROOT,
                "the index %s has type %s, its extent %s",
                axis.text(),
                binding.var().type(),
                binding.extent().type()));
      }
      rules.exprs().check(binding.extent(), params);
      place = place.with(binding.var());
      if (axis.isBlock()) {
        continue;
      }
      if (binding.extent() instanceof Expr.IntImm extent) {
        if (extent.value() < 1 || (axis == ThreadAxis.THREAD_Z && extent.value() > THREADS_Z)) {
          findings.add(
              Rule.LAUNCH, binding, "the extent of " + axis.text() + " is " + extent.value());
        } else {
          // Three of them stay within 64 bits.
          threads *= Math.min(extent.value(), MOST_TOLD);
        }
      } else {
        findings.add(Rule.LAUNCH, binding, "the extent of " + axis.text() + " is not constant");
      }
    }
    if (threads > THREADS) {
      findings.add(Rule.LAUNCH, k, "a block has " + threads + " threads, at most " + THREADS);
    }
    place = place.with(Simplify.ofKernel(k));
    for (ThreadBinding binding : k.bindings()) {
      // Threads of a constant launch all run; of a symbolic one there may be none.
      place = binding.extent() instanceof Expr.IntImm ? place.withEveryValue(binding.var()) : place;
    }
    boolean launched = k.bindings().stream().allMatch(b -> b.extent() instanceof Expr.IntImm);
    rules.check(k.body(), launched ? place : place.uncertain());
    LaunchOrderRules.check(k, findings);
  }
}
