package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Substitution;
import java.util.Map;

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
    PrimFunc result =
        func.withBody(
            Substitution.ofBuffers(Map.of(buffer, buffer.withScope(scope))).stmt(func.body()));
    return check.parallelLoopsIndependent(2, result);
  }
}
