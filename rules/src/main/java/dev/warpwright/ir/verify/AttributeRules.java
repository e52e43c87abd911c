package dev.warpwright.ir.verify;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.attribute.Attribute;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.Walk;

/** Attributes are those of {@link Attribute}. */
final class AttributeRules {
  private final Findings findings;

  AttributeRules(Findings findings) {
    this.findings = findings;
  }

  /** Checks a function, of which {@code attrs} are the attributes, and all in it. */
  void check(Object function, Attrs attrs, Stmt body) {
    check(function, attrs, Attribute.Place.FUNCTION);
    Walk.statements(body, this::check);
  }

  private void check(Stmt s) {
    switch (s) {
      case Stmt.For f -> check(f, f.attrs(), Attribute.Place.LOOP);
      case Stmt.Block b -> check(b, b.attrs(), Attribute.Place.TILE);
      case Stmt.TileCopy c -> check(c, c.attrs(), Attribute.Place.TILE);
      case Stmt.TileFill f -> check(f, f.attrs(), Attribute.Place.TILE);
      case Stmt.TileMma m -> check(m, m.attrs(), Attribute.Place.TILE);
      case Stmt.TileMap m -> check(m, m.attrs(), Attribute.Place.TILE);
      case Stmt.TileReduce r -> check(r, r.attrs(), Attribute.Place.TILE);
      case Stmt.Flow.Roles r ->
          r.roles().forEach(role -> check(role, role.attrs(), Attribute.Place.ROLE));
      case Stmt.Flow.Combine c -> check(c, c.attrs(), Attribute.Place.TILE);
      case Stmt.Flow _,
          Stmt.Seq _,
          Stmt.While _,
          Stmt.If _,
          Stmt.Let _,
          Stmt.Alloc _,
          Stmt.Store _,
          Stmt.Evaluate _,
          Stmt.Comment _ -> {}
    }
  }

  private void check(Object node, Attrs attrs, Attribute.Place place) {
    attrs
        .values()
        .forEach(
            (key, value) -> {
              String problem = Attribute.problem(key, value, place);
              if (problem != null) {
                findings.add(Rule.ATTRIBUTES, node, problem);
              }
            });
  }
}
