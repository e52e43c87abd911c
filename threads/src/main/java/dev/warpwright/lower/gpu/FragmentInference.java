package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds, for every fragment, which thread holds which element: accumulators from the instruction
 * that writes them, other fragments from the maps and copies that tie them to one with a known
 * layout.
 */
public final class FragmentInference {
  private final Map<Buffer, FragmentLayout> layouts = new HashMap<>();
  private final int threads;

  /** First operands that threads gather from tiles which are MN-major. */
  private final Set<Buffer> gathered = new HashSet<>();

  private FragmentInference(int threads) {
    this.threads = threads;
  }

  /**
   * The layouts of all fragments of a tile program.
   *
   * @param threads in a block
   * @throws LoweringException if a fragment has none, or two that differ
   */
  public static Map<Buffer, FragmentLayout> infer(Stmt body, int threads) {
    FragmentInference inference = new FragmentInference(threads);
    List<Set<Buffer>> ties = new ArrayList<>();
    List<PermutedMap> permuted = new ArrayList<>();
    List<Stmt.TileMap> windows = new ArrayList<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileMap map && RowPairs.gathered(map) instanceof Buffer operand) {
            inference.gathered.add(operand);
          }
        });
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileMma mma) {
            inference.assign(mma.c().buffer(), inference.accumulator(mma));
            inference.operand(mma);
          } else if (s instanceof Stmt.TileMap map
              && PermutedMap.of(map) instanceof PermutedMap found) {
            permuted.add(found);
          } else if (s instanceof Stmt.TileMap || s instanceof Stmt.TileCopy) {
            Set<Buffer> fragments =
                s instanceof Stmt.TileMap map ? FragmentWindow.others(map) : fragments(s);
            if (fragments.size() > 1) {
              ties.add(fragments);
            }
            if (s instanceof Stmt.TileMap map && !FragmentWindow.of(map).isEmpty()) {
              windows.add(map);
            }
          }
        });
    boolean changed = true;
    while (changed) {
      changed = false;
      for (PermutedMap map : permuted) {
        changed |= map.infer(inference.layouts);
      }
      for (Set<Buffer> tie : ties) {
        FragmentLayout known =
            tie.stream()
                .map(inference.layouts::get)
                .filter(l -> l != null)
                .findFirst()
                .orElse(null);
        if (known == null) {
          continue;
        }
        for (Buffer buffer : tie) {
          changed |= inference.assign(buffer, known);
        }
      }
      for (Stmt.TileMap map : windows) {
        changed |= inference.window(map);
      }
    }
    inference.rows(body);
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Alloc(Buffer buffer, Stmt ignored)
              && buffer.scope() == Scope.FRAGMENT
              && !inference.layouts.containsKey(buffer)) {
            throw new LoweringException(
                "fragment "
                    + buffer.name()
                    + " is tied to no matrix product, so no thread holds it");
          }
        });
    return inference.layouts;
  }

  /** Gives fragments of which a map uses a window their layouts; whether it did. */
  private boolean window(Stmt.TileMap map) {
    FragmentLayout known =
        FragmentWindow.others(map).stream()
            .map(layouts::get)
            .filter(l -> l != null)
            .findFirst()
            .orElse(null);
    boolean changed = false;
    if (known != null) {
      for (Buffer buffer : FragmentWindow.of(map).keySet()) {
        changed |= assign(buffer, FragmentWindow.around(known, buffer));
      }
    }
    return changed;
  }

  /** The fragments that a statement touches; vectors of a value a row are not among them. */
  public static Set<Buffer> fragments(Stmt s) {
    Set<Buffer> result = new LinkedHashSet<>();
    Walk.all(
        s,
        inner -> {
          if (inner instanceof Stmt.Store store) {
            add(result, store.buffer());
          } else if (inner instanceof Stmt.TileCopy copy) {
            add(result, copy.to().buffer());
            add(result, copy.from().buffer());
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            add(result, load.buffer());
          }
        });
    return result;
  }

  /** Gives vectors of a value a row the layouts of the matrices that they are used with. */
  private void rows(Stmt body) {
    List<Set<Buffer>> ties = new ArrayList<>();
    Walk.statements(
        body,
        s -> {
          if (!(s instanceof Stmt.TileMap || s instanceof Stmt.TileReduce)) {
            return;
          }
          Set<Buffer> vectors = RowVectors.of(s);
          if (vectors.isEmpty()) {
            return;
          }
          ties.add(vectors);
          for (Buffer matrix : fragments(s)) {
            FragmentLayout known = layouts.get(matrix);
            if (known != null) {
              vectors.forEach(vector -> assign(vector, RowVectors.layout(known)));
            }
          }
        });
    tie(ties);
  }

  private void tie(List<Set<Buffer>> ties) {
    boolean changed = true;
    while (changed) {
      changed = false;
      for (Set<Buffer> tie : ties) {
        FragmentLayout known =
            tie.stream().map(layouts::get).filter(l -> l != null).findFirst().orElse(null);
        if (known != null) {
          for (Buffer buffer : tie) {
            changed |= assign(buffer, known);
          }
        }
      }
    }
  }

  private static void add(Set<Buffer> set, Buffer buffer) {
    if (buffer.scope() == Scope.FRAGMENT && !RowVectors.is(buffer)) {
      set.add(buffer);
    }
  }

  private boolean assign(Buffer buffer, FragmentLayout layout) {
    FragmentLayout old = layouts.putIfAbsent(buffer, layout);
    if (old != null && !old.equals(layout)) {
      throw new LoweringException(
          "fragment " + buffer.name() + " is held in two ways by the statements that use it");
    }
    return old == null;
  }

  /** A fragment that a product takes as its first operand. */
  private void operand(Stmt.TileMma mma) {
    Buffer a = mma.a().buffer();
    if (FragmentOrder.isFor(mma)) {
      require(
          a,
          a.rank() == 2 && a.extent(0) % MmaInstruction.ROWS == 0 && a.extent(1) % 16 == 0,
          "operands in registers are 16 rows, or a multiple, by 16 columns");
      assign(a, ofWarps(a.extent(0), a.extent(1), mma.attrs().getLong("warpsM", 1), 1));
      return;
    }
    if (a.scope() != Scope.FRAGMENT || !WarpgroupInstruction.isNamedBy(mma)) {
      return;
    }
    int consumers = threads / WarpgroupInstruction.THREADS;
    require(
        a,
        a.rank() == 2
            && a.extent(0) == (long) WarpgroupInstruction.ROWS * consumers
            && (a.dtype().bytes() == 2 || a.dtype() == DType.F32)
            && a.extent(1) % 16 == 0,
        "operands in registers are 64 rows of 16-bit elements or f32 for each warpgroup");
    assign(a, WarpgroupInstruction.operand(consumers, a.extent(1), a.dtype().bytes(), rows(mma)));
  }

  private WarpgroupInstruction.Rows rows(Stmt.TileMma mma) {
    return gathered.contains(mma.a().buffer())
        ? WarpgroupInstruction.Rows.PAIRED
        : WarpgroupInstruction.Rows.COUNTED;
  }

  private FragmentLayout accumulator(Stmt.TileMma mma) {
    Buffer c = mma.c().buffer();
    if (c.scope() != Scope.FRAGMENT || c.rank() != 2) {
      throw new LoweringException(
          "accumulator " + c.name() + " is not a fragment of two dimensions");
    }
    long rows = c.extent(0);
    long cols = c.extent(1);
    Attrs attrs = mma.attrs();
    String instr = attrs.getString("instr");
    if (instr == null || instr.equals("fma")) {
      return fma(c, rows, cols, attrs);
    }
    if (WarpgroupInstruction.isNamedBy(mma)) {
      int consumers = threads / WarpgroupInstruction.THREADS;
      return WarpgroupInstruction.of(mma, consumers).accumulator(consumers, rows(mma));
    }
    long warpsM = attrs.getLong("warpsM", 1);
    long warpsN = attrs.getLong("warpsN", 1);
    DType sums = MmaInstruction.parse(instr).sums();
    require(c, c.dtype() == sums, instr + " accumulates in " + sums + ", not in " + c.dtype());
    require(
        c, rows % (warpsM * MmaInstruction.ROWS) == 0, rows + " rows over " + warpsM + " warps");
    require(
        c, cols % (warpsN * MmaInstruction.COLS) == 0, cols + " columns over " + warpsN + " warps");
    require(
        c,
        32 * warpsM * warpsN <= threads,
        warpsM + "x" + warpsN + " warps in " + threads + " threads");
    return ofWarps(rows, cols, warpsM, warpsN);
  }

  /**
   * Accumulators, or a first operand of 16-bit elements: step of K by step of K, that is what a
   * product leaves in its accumulators.
   */
  private static FragmentLayout ofWarps(long rows, long cols, long warpsM, long warpsN) {
    long mi = rows / warpsM / MmaInstruction.ROWS;
    long ni = cols / warpsN / MmaInstruction.COLS;
    // PTX ISA, "Matrix fragments for mma.m16n8k16": lane = 4g + q holds rows g and g + 8, columns
    // 2q and 2q + 1.
    return new FragmentLayout(
        rows,
        cols,
        List.of(
            new Digit(4, 0, 2),
            new Digit(8, 1, 0),
            new Digit(warpsM, mi * MmaInstruction.ROWS, 0),
            new Digit(warpsN, 0, ni * MmaInstruction.COLS)),
        List.of(
            new Digit(2, 0, 1),
            new Digit(2, 8, 0),
            new Digit(ni, 0, MmaInstruction.COLS),
            new Digit(mi, MmaInstruction.ROWS, 0)));
  }

  /**
   * Threads in a grid of threadsM × threadsN, each with runs of {@code vec} columns that a grid
   * width apart repeat, and rows next to each other; or, if {@code spread}, a grid height apart:
   * rows of neighbouring threads, which they read together, then lie in different banks.
   */
  private FragmentLayout fma(Buffer c, long rows, long cols, Attrs attrs) {
    long threadsM = attrs.getLong("threadsM", 1);
    long threadsN = attrs.getLong("threadsN", 1);
    long vec = attrs.getLong("vec", 1);
    require(c, rows % threadsM == 0, rows + " rows over " + threadsM + " threads");
    require(
        c, cols % (threadsN * vec) == 0, cols + " columns over " + threadsN + " threads by " + vec);
    require(
        c, threadsM * threadsN <= threads, threadsM + "x" + threadsN + " threads in " + threads);
    long runs = attrs.getLong("vecM", 1);
    if (runs > 1) {
      return ofLanes(c, rows, cols, attrs);
    }
    long rowsEach = rows / threadsM;
    boolean spread = attrs.getLong("spread", 0) == 1;
    return new FragmentLayout(
        rows,
        cols,
        List.of(new Digit(threadsN, 0, vec), new Digit(threadsM, spread ? 1 : rowsEach, 0)),
        List.of(
            new Digit(vec, 0, 1),
            new Digit(cols / threadsN / vec, 0, threadsN * vec),
            new Digit(rowsEach, spread ? threadsM : 1, 0)));
  }

  /**
   * The same by runs of {@code vecM} rows, too, a grid height apart. Neighbouring lanes share their
   * rows, and those two apart their columns: then half a warp reads 16 bytes a lane of either at
   * once, where only a quarter would.
   */
  private static FragmentLayout ofLanes(Buffer c, long rows, long cols, Attrs attrs) {
    long threadsM = attrs.getLong("threadsM", 1);
    long threadsN = attrs.getLong("threadsN", 1);
    long vec = attrs.getLong("vec", 1);
    long vecM = attrs.getLong("vecM", 1);
    require(
        c,
        threadsM % 2 == 0 && threadsN % 2 == 0 && rows % (threadsM * vecM) == 0,
        rows + " rows by runs of " + vecM + " over " + threadsM + "x" + threadsN + " threads");
    return new FragmentLayout(
        rows,
        cols,
        List.of(
            new Digit(2, 0, vec),
            new Digit(2, vecM, 0),
            new Digit(threadsM / 2, 2 * vecM, 0),
            new Digit(threadsN / 2, 0, 2 * vec)),
        List.of(
            new Digit(vec, 0, 1),
            new Digit(cols / threadsN / vec, 0, threadsN * vec),
            new Digit(vecM, 1, 0),
            new Digit(rows / threadsM / vecM, threadsM * vecM, 0)));
  }

  private static void require(Buffer c, boolean holds, String what) {
    if (!holds) {
      throw new LoweringException("accumulator " + c.name() + " cannot be spread: " + what);
    }
  }
}
