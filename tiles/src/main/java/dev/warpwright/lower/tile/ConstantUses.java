package dev.warpwright.lower.tile;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.FragmentOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who reads what in a program, and which constants only products read: those may be packed. */
final class ConstantUses {
  private final Set<Buffer> constants;
  private final Map<Buffer, List<Stmt>> uses = new HashMap<>();

  /** Operands in registers of products in tf32. */
  private final Set<Buffer> rounded = new HashSet<>();

  /** What products add to. */
  private final Set<Buffer> sums = new HashSet<>();

  ConstantUses(PrimFunc func, Set<Buffer> constants) {
    this.constants = constants;
    Set<Stmt> ofMaps = Collections.newSetFromMap(new IdentityHashMap<>());
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileMap map) {
            ofMaps.addAll(map.stores());
          } else if (s instanceof Stmt.TileMma mma) {
            sums.add(mma.c().buffer());
            if (isOfTf32(mma)) {
              rounded.add(mma.a().buffer());
            }
          }
        });
    Walk.statements(
        func.body(),
        s -> {
          if (ofMaps.contains(s)) {
            return;
          }
          Leaves leaves = Leaves.of(s);
          Set<Buffer> touched = new HashSet<>(leaves.reads());
          touched.addAll(leaves.writes());
          touched.forEach(b -> uses.computeIfAbsent(b, x -> new ArrayList<>()).add(s));
        });
  }

  /** Whether a product takes f32 from registers, and rounds or cuts them off to tf32. */
  static boolean isOfTf32(Stmt.TileMma mma) {
    String instr = mma.attrs().getString("instr");
    return mma.a().buffer().scope() == Scope.FRAGMENT
        && mma.a().buffer().dtype() == DType.F32
        && instr != null
        && instr.contains("tf32");
  }

  /** All statements that touch a buffer. */
  List<Stmt> of(Buffer buffer) {
    return uses.getOrDefault(buffer, List.of());
  }

  /** The same, but for one. */
  List<Stmt> others(Buffer buffer, Stmt one) {
    return of(buffer).stream().filter(s -> s != one).toList();
  }

  /** Whether any product takes such operands. */
  boolean rounds() {
    return !rounded.isEmpty();
  }

  /** Whether a buffer is an operand in registers of products in tf32. */
  boolean isRounded(Buffer buffer) {
    return rounded.contains(buffer);
  }

  /** Whether products add to a buffer. */
  boolean isSum(Buffer buffer) {
    return sums.contains(buffer);
  }

  /** Columns that are permuted among each other: a thread has a quarter of them, 16 bytes. */
  int group(long columns) {
    return columns % 32 == 0 && rounded.isEmpty() ? 32 : 16;
  }

  private int groupOf(Buffer weight, int group) {
    return group == 0 ? group(weight.extent(1)) : group;
  }

  /** The constant whose tiles are the product's second operand, [N, K]; null if there is none. */
  @Nullable Buffer weight(Stmt.TileMma mma) {
    return weight(mma, 0);
  }

  /**
   * The same, if the tiles have whole groups of so many columns.
   *
   * @param group 0 for what the constant's own number of columns asks for, 1 where any slices do
   */
  @Nullable Buffer weight(Stmt.TileMma mma, int group) {
    Buffer tile = mma.b().buffer();
    if (!mma.transposeB() || mma.transposeA()) {
      return null;
    }
    if (tile.scope() == Scope.GLOBAL && FragmentOrder.isFor(mma)) {
      return constants.contains(tile)
              && tile.rank() == 2
              && ColumnOrder.inGroups(mma.b(), groupOf(tile, group))
          ? tile
          : null;
    }
    if (tile.scope() != Scope.SHARED) {
      return null;
    }
    Buffer weight = null;
    for (Stmt use : of(tile)) {
      if (use instanceof Stmt.TileCopy copy && copy.to().buffer() == tile) {
        Buffer from = copy.from().buffer();
        boolean same = weight == null || weight == from;
        if (!same
            || !constants.contains(from)
            || from.rank() != 2
            || !ColumnOrder.inGroups(copy.from(), groupOf(from, group))) {
          return null;
        }
        weight = from;
      } else if (use != mma) {
        return null;
      }
    }
    return weight;
  }

  /** Whether a constant's tiles go to these products alone. */
  boolean isReadBy(Buffer constant, List<Stmt> products) {
    for (Stmt use : of(constant)) {
      if (!(use instanceof Stmt.TileCopy copy)) {
        if (use instanceof Stmt.TileMma && products.contains(use)) {
          continue;
        }
        return false;
      }
      for (Stmt reader : of(copy.to().buffer())) {
        if (reader != use && !products.contains(reader) && !(reader instanceof Stmt.TileCopy)) {
          return false;
        }
      }
    }
    return true;
  }
}
