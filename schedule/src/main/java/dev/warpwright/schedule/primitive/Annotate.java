package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.attribute.Attribute;
import dev.warpwright.schedule.analysis.Tree;
import org.jspecify.annotations.Nullable;

/**
 * Adds an attribute to a loop, a block or the function, or replaces the one of that name.
 * Attributes carry decisions, never meaning.
 *
 * <pre>{@code
 * for i in n { S }  →  for i in n [key = value] { S }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop or the block exists.
 *   <li>The value is a {@code Long} or a {@code String}.
 *   <li>There is such an {@link Attribute}, it may stand there, and the value is of its type.
 * </ol>
 */
public final class Annotate {
  private static final String NAME = "annotate";

  private Annotate() {}

  public static PrimFunc loop(PrimFunc func, Var loopVar, String key, Object value) {
    Check check = new Check(NAME, func);
    Stmt.For loop = (Stmt.For) check.loop(1, loopVar).getLast();
    return Tree.replace(
        func,
        loop,
        loop.withAttrs(with(check, loop, loop.attrs(), key, value, Attribute.Place.LOOP)));
  }

  public static PrimFunc block(PrimFunc func, String name, String key, Object value) {
    Check check = new Check(NAME, func);
    Stmt.Block b = (Stmt.Block) check.block(1, name).getLast();
    return Tree.replace(
        func,
        b,
        new Stmt.Block(
            b.name(),
            b.iterVars(),
            b.predicate(),
            b.reads(),
            b.writes(),
            b.init(),
            b.body(),
            with(check, b, b.attrs(), key, value, Attribute.Place.TILE)));
  }

  public static PrimFunc function(PrimFunc func, String key, Object value) {
    Check check = new Check(NAME, func);
    return func.withAttrs(with(check, null, func.attrs(), key, value, Attribute.Place.FUNCTION));
  }

  private static Attrs with(
      Check check,
      @Nullable Stmt at,
      Attrs attrs,
      String key,
      Object value,
      Attribute.Place place) {
    boolean typed = value instanceof Long || value instanceof String;
    String problem = typed ? Attribute.problem(key, value, place) : null;
    if (problem != null) {
      throw check.error(3, problem, at);
    }
    return switch (value) {
      case Long number -> attrs.with(key, number);
      case String text -> attrs.with(key, text);
      default ->
          throw check.error(
              2, "the value of " + key + " is neither an integer nor a string: " + value, at);
    };
  }
}
