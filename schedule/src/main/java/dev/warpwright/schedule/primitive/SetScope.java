package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.schedule.analysis.Mentions;

/**
 * Says where an intermediate lives.
 *
 * <pre>{@code
 * alloc b: f32[n] global  →  alloc b: f32[n] shared
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The buffer exists and is an intermediate.
 *   <li>Iterations that run on different cores do not share it, if it is on chip then.
 * </ol>
 */
public final class SetScope {
  private static final String NAME = "setScope";

  private SetScope() {}

  public static PrimFunc apply(PrimFunc func, String bufferName, Scope scope) {
    Check check = new Check(NAME, func);
    Buffer buffer = check.buffer(1, bufferName);
    check.alloc(1, buffer);
    Buffer scoped = buffer.withScope(scope);
    Stmt body =
        new Rewriter() {
          @Override
          protected Buffer buffer(Buffer b) {
            return b == buffer ? scoped : b;
          }

          @Override
          public Stmt stmt(Stmt s) {
            if (Mentions.isWithout(s, buffer)) {
              return s;
            }
            Stmt allocation = Mentions.inside(s, buffer, this::stmt);
            if (allocation != null) {
              return allocation;
            }
            Stmt sequence = Mentions.rewritten(s, buffer, this::stmt);
            return sequence != null ? sequence : super.stmt(s);
          }
        }.stmt(func.body());
    PrimFunc result = func.withBody(body);
    return check.parallelLoopsIndependent(2, result);
  }
}
