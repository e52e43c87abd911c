package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A map in which one fragment is used at its own point's row, but another column:
 *
 * <pre>{@code
 * tile.map (r in 64, k in 128) { a[r, k] = next[r, perm(k)] }
 * }</pre>
 *
 * <p>If perm is chosen well, each thread has both elements: threads that hold 16 bytes of a row
 * next to each other move them by one access from or to global memory, and a renaming of registers
 * makes an operand of them.
 *
 * @param map the map
 * @param permuted the fragment
 * @param column its column, in terms of the map's second variable
 * @param direct the fragments at the map's own point
 */
public record PermutedMap(Stmt.TileMap map, Buffer permuted, Expr column, Set<Buffer> direct) {
  private static final int VECTOR = 16;

  /**
   * The map as such a one; null if all fragments are at its own point, or at it in a {@linkplain
   * FragmentWindow window}.
   */
  public static @Nullable PermutedMap of(Stmt.TileMap map) {
    if (map.vars().size() != 2) {
      return null;
    }
    Set<Buffer> direct = new HashSet<>();
    List<PermutedMap> found = new ArrayList<>();
    Walk.all(
        map,
        s -> {
          if (s instanceof Stmt.Store store) {
            visit(map, store.buffer(), store.indices(), direct, found);
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            visit(map, load.buffer(), load.indices(), direct, found);
          }
        });
    // A fragment beside itself is read in groups, not permuted.
    return found.size() == 1 && !direct.contains(found.getFirst().permuted())
        ? found.getFirst()
        : null;
  }

  private static void visit(
      Stmt.TileMap map,
      Buffer buffer,
      List<Expr> indices,
      Set<Buffer> direct,
      List<PermutedMap> found) {
    if (buffer.scope() != Scope.FRAGMENT || buffer.rank() != 2) {
      return;
    }
    boolean whole = Exprs.isConst(map.extents().get(1), buffer.extent(1));
    if (whole && indices.equals(List.of(map.vars().get(0), map.vars().get(1)))) {
      direct.add(buffer);
    } else if (indices.get(0) == map.vars().get(0)
        && FragmentWindow.first(map, buffer, indices) == null) {
      boolean again =
          found.stream().anyMatch(f -> f.permuted == buffer && f.column.equals(indices.get(1)));
      if (!again) {
        found.add(new PermutedMap(map, buffer, indices.get(1), direct));
      }
    }
  }

  /** Gives the permuted fragment its layout, if a direct one's is known; whether it did. */
  boolean infer(Map<Buffer, FragmentLayout> layouts) {
    FragmentLayout known =
        direct.stream().map(layouts::get).filter(l -> l != null).findFirst().orElse(null);
    boolean changed = false;
    for (Buffer each : direct) {
      changed |= known != null && layouts.putIfAbsent(each, known) == null;
    }
    if (known == null) {
      return changed;
    }
    if (!layouts.containsKey(permuted)) {
      layouts.put(permuted, vectors(known));
      changed = true;
    }
    check(known, layouts.get(permuted));
    return changed;
  }

  /**
   * Each thread has 16 bytes, or 8, next to each other of the rows of which it has some columns by
   * the known layout, whose first digit are the four threads that share a row.
   */
  private FragmentLayout vectors(FragmentLayout known) {
    long rows = permuted.extent(0);
    long columns = permuted.extent(1);
    long lanes = VECTOR / permuted.dtype().bytes();
    if (columns % (4 * lanes) != 0) {
      lanes /= 2;
    }
    Digit first = known.threadDigits().getFirst();
    boolean shared = first.extent() == 4 && first.rowStep() == 0 && known.rows() == rows;
    if (!shared || columns % (4 * lanes) != 0) {
      throw refusal("its rows are no multiple of 32 bytes");
    }
    List<Digit> threads = new ArrayList<>(known.threadDigits());
    threads.set(0, new Digit(4, 0, lanes));
    threads.removeIf(digit -> digit.extent() == 1);
    List<Digit> registers = new ArrayList<>();
    registers.add(new Digit(lanes, 0, 1));
    registers.add(new Digit(columns / (4 * lanes), 0, 4 * lanes));
    known.registerDigits().stream().filter(d -> d.rowStep() != 0).forEach(registers::add);
    return new FragmentLayout(rows, columns, threads, registers);
  }

  private LoweringException refusal(String why) {
    return new LoweringException(
        "fragment " + permuted.name() + " is used at column " + column + ": " + why);
  }

  /** Whether each thread has what it needs, in a register that does not depend on the thread. */
  private void check(FragmentLayout own, @Nullable FragmentLayout other) {
    if (other == null || own.threads() != other.threads()) {
      throw refusal("its elements are other threads'");
    }
    for (int r = 0; r < own.registers(); r++) {
      int register = Math.toIntExact(register(other, own.row(0, r), at(own.col(0, r))));
      for (int t = 0; t < own.threads(); t++) {
        if (other.row(t, register) != own.row(t, r)
            || other.col(t, register) != at(own.col(t, r))) {
          throw refusal("its elements are other threads'");
        }
      }
    }
  }

  private long at(long k) {
    return ScalarEval.eval(column, Map.of(map.vars().get(1), k));
  }

  private static long register(FragmentLayout layout, long row, long col) {
    long register = 0;
    long weight = 1;
    for (Digit digit : layout.registerDigits()) {
      long place = digit.colStep() != 0 ? col / digit.colStep() : row / digit.rowStep();
      register += place % digit.extent() * weight;
      weight *= digit.extent();
    }
    return register;
  }

  /**
   * The register of the permuted fragment for a point that thread 0 holds; for the other threads it
   * is the same.
   */
  public Expr register(FragmentLayout layout, Expr row, Expr col) {
    Expr at = Substitution.ofVars(Map.of(map.vars().get(1), col)).expr(column);
    Expr register = Exprs.i32(0);
    long weight = 1;
    for (Digit digit : layout.registerDigits()) {
      if (digit.extent() > 1) {
        Expr place =
            digit.colStep() != 0 ? Exprs.div(at, digit.colStep()) : Exprs.div(row, digit.rowStep());
        register = Exprs.add(register, Exprs.mul(Exprs.mod(place, digit.extent()), weight));
      }
      weight *= digit.extent();
    }
    return register;
  }

  /** Whether pairs of columns stay pairs. */
  public boolean keepsPairs() {
    for (long k = 0; k < permuted.extent(1); k += 2) {
      if (at(k) % 2 != 0 || at(k + 1) != at(k) + 1) {
        return false;
      }
    }
    return true;
  }
}
