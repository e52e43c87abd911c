package dev.warpwright.cuda;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import java.util.List;

/** Prints stores, and the variables that hold what they load on the way. */
final class Stores {
  private final Lines lines;
  private final ExprPrinter exprs;
  private final Names names;
  private final AccessSummary accesses;

  Stores(Lines lines, ExprPrinter exprs, Names names, AccessSummary accesses) {
    this.lines = lines;
    this.exprs = exprs;
    this.names = names;
    this.accesses = accesses;
  }

  /** A store, as one access or lane by lane. */
  void store(Stmt.Store store) {
    Buffer buffer = store.buffer();
    Expr value = store.value();
    Expr.Select guarded = GuardedLoads.of(store, accesses);
    if (guarded != null && exprs.isWhole(guarded, buffer, store.indices())) {
      lines.line(
          exprs.whole(buffer, store.indices(), value.type()) + " = " + exprs.loadIf(guarded) + ";");
      return;
    }
    if (value.type().isScalar()) {
      assign(buffer, store.indices(), value);
      return;
    }
    if (exprs.isVectorAccess(buffer, store.indices())) {
      // Bits that are stored as another type need no unpacking and packing.
      Expr source =
          value instanceof Expr.Bitcast(Type to, Expr a) && !exprs.isMemory(value) ? a : value;
      holdLoadsInside(source);
      String text =
          source.type().isScalar() ? exprs.print(source).string() : exprs.vector(source).string();
      lines.line(exprs.vectorElement(buffer, store.indices(), source.type()) + " = " + text + ";");
      return;
    }
    holdLoads(value);
    boolean[] reads = new boolean[1];
    Walk.expressions(value, e -> reads[0] |= e instanceof Expr.Load l && l.buffer() == buffer);
    if (reads[0] && !exprs.isHeld(value)) {
      // All lanes are read before the first is written.
      String text = exprs.vector(value).string();
      String all = names.declare(buffer.name() + "_new");
      lines.line("const " + exprs.vecType(value.type()) + " " + all + " = " + text + ";");
      exprs.hold(value, all);
    }
    for (int lane = 0; lane < value.type().lanes(); lane++) {
      Text element = exprs.element(buffer, FlatIndex.lane(store.indices(), lane));
      lines.line(element + " = " + exprs.lane(value, lane) + ";");
    }
  }

  /** {@code x += y} where a variable or element is added to itself. */
  private void assign(Buffer buffer, List<Expr> indices, Expr value) {
    Text target = exprs.element(buffer, indices);
    if (value instanceof Expr.Binary b
        && (b.op() == BinaryOp.ADD || b.op() == BinaryOp.MUL)
        && b.type().dtype().bits() >= 32
        && b.a() instanceof Expr.Load l
        && l.buffer() == buffer
        && l.indices().equals(indices)) {
      lines.line(target + " " + b.op().text() + "= " + exprs.print(b.b()) + ";");
      return;
    }
    lines.line(target + " = " + exprs.print(value) + ";");
  }

  /** Holds the loads of a value that is printed lane by lane, unless it is one load itself. */
  void holdLoadsInside(Expr value) {
    if (!exprs.isMemory(value)) {
      holdLoads(value);
    }
  }

  /**
   * Puts every load of several elements into a variable, so that it happens once. Loads in a select
   * stay where they are, for they may not happen at all.
   */
  private void holdLoads(Expr e) {
    if (exprs.isWorthHolding(e)) {
      String text = exprs.vector(e).string();
      String name = names.declare(holderName(e));
      lines.line("const " + exprs.vecType(e.type()) + " " + name + " = " + text + ";");
      exprs.hold(e, name);
      return;
    }
    switch (e) {
      case Expr.Binary b -> {
        holdLoads(b.a());
        holdLoads(b.b());
      }
      case Expr.Unary u -> holdLoads(u.a());
      case Expr.Cast c -> holdLoads(c.a());
      case Expr.Bitcast b -> holdLoads(b.a());
      case Expr.Call c -> c.args().forEach(this::holdLoads);
      case Expr.Select s -> holdLoads(s.condition());
      case Var v -> {}
      case Expr.IntImm imm -> {}
      case Expr.FloatImm imm -> {}
      case Expr.Load l -> {}
      case Expr.AddressOf a -> {}
      case Expr.Ramp r -> {}
      case Expr.Broadcast b -> {}
    }
  }

  private static String holderName(Expr e) {
    String[] name = {"loaded"};
    Walk.expressions(
        e,
        inner -> {
          if (inner instanceof Expr.Load l && !l.type().isScalar()) {
            name[0] = l.buffer().name() + "_vec";
          }
        });
    return name[0];
  }
}
