package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A nest that copies, cut into one that loads to registers and one that stores them.
 *
 * @param registers of each thread, to be allocated around both
 */
record StagedCopy(Stmt load, Stmt store, List<Buffer> registers) {
  static StagedCopy of(Stmt nest) {
    List<Buffer> registers = new ArrayList<>();
    Stmt load =
        new Cut(
                (store, at) -> {
                  Buffer staged =
                      Buffer.of(
                          store.buffer().name() + "_next",
                          store.buffer().dtype(),
                          Scope.LOCAL,
                          at.extents);
                  registers.add(staged);
                  return new Stmt.Store(staged, at.indices, store.value());
                })
            .stmt(nest);
    int[] next = {0};
    Stmt store =
        new Cut(
                (s, at) ->
                    new Stmt.Store(
                        s.buffer(),
                        s.indices(),
                        new Expr.Load(registers.get(next[0]++), at.indices)))
            .stmt(nest);
    return new StagedCopy(load, store, registers);
  }

  /**
   * Loads that happen where a condition holds, too; null unless all of them have one already.
   *
   * @param load a nest that loads to registers
   */
  static @Nullable Stmt loadsWhere(Stmt load, Expr condition) {
    boolean[] all = {true};
    Stmt result =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (!(s instanceof Stmt.Store store)) {
              return super.stmt(s);
            }
            Copy copy = Copy.of(store);
            if (copy == null || copy.isUnconditional()) {
              all[0] = false;
              return s;
            }
            return new Stmt.Store(
                store.buffer(),
                store.indices(),
                Exprs.select(
                    Exprs.and(condition, copy.inside()),
                    copy.load(),
                    Exprs.zero(copy.load().type())));
          }
        }.stmt(load);
    return all[0] ? result : null;
  }

  /** Where a store stands in the loops of one thread. */
  private record Place(List<Expr> extents, List<Expr> indices) {}

  private static final class Cut extends Rewriter {
    private final BiFunction<Stmt.Store, Place, Stmt> replace;
    private final List<Stmt.For> loops = new ArrayList<>();

    Cut(BiFunction<Stmt.Store, Place, Stmt> replace) {
      this.replace = replace;
    }

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.For loop && loop.axis() == null) {
        loops.add(loop);
        Stmt result = super.stmt(s);
        loops.removeLast();
        return result;
      }
      return s instanceof Stmt.Store store ? replace.apply(store, place()) : super.stmt(s);
    }

    private Place place() {
      if (loops.isEmpty()) {
        return new Place(List.of(Exprs.i32(1)), List.of(Exprs.i32(0)));
      }
      return new Place(
          loops.stream().map(Stmt.For::extent).toList(),
          loops.stream().map(loop -> Exprs.sub(loop.var(), loop.min())).toList());
    }
  }
}
