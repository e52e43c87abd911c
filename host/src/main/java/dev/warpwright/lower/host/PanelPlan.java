package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which buffers change their form: the right operands of matrix multiplications become panels of
 * {@code nr} columns, each panel with k outermost, so that a micro-kernel reads them from front to
 * back; rows of scratch buffers and constant vectors are padded to whole vectors.
 *
 * @param panels right operand to its panel
 * @param replaced buffer to the buffer in its place
 */
record PanelPlan(Map<Buffer, Panel> panels, Map<Buffer, Buffer> replaced) {
  private static final long FEW_ROWS = 8;
  private static final long CONFLICTING_BYTES = 2048;

  /**
   * A packed right operand.
   *
   * @param buffer indexed by panel, k and column of the panel
   * @param where offset in {@code buffer} of an element of the original
   * @param columnDimension which dimension of the buffer counts columns, 0 or 1
   * @param nr columns of a panel, a multiple of the lanes
   * @param depth extent of k
   * @param copied whether the kernel packs it at run time
   */
  record Panel(
      Buffer original,
      Buffer buffer,
      Layout where,
      int columnDimension,
      int nr,
      long depth,
      boolean copied) {}

  /**
   * The panels of a right operand.
   *
   * @throws IllegalArgumentException if it has none
   */
  Panel panel(Buffer b) {
    Panel panel = panels.get(b);
    if (panel == null) {
      throw new IllegalArgumentException(b.name() + " is not cut into panels");
    }
    return panel;
  }

  /** The form that a parameter has in the kernel, or null where it stays. */
  HostProgram.@Nullable Packed packed(Buffer param) {
    Panel panel = panels.get(param);
    if (panel != null) {
      return panel.copied() ? null : new HostProgram.Packed(panel.buffer(), panel.where());
    }
    Buffer padded = replaced.get(param);
    return padded == null ? null : new HostProgram.Packed(padded, Layout.rowMajor(param.extent(0)));
  }

  static PanelPlan of(PrimFunc func, Set<Buffer> constants, VectorMachine target) {
    Map<Buffer, Panel> panels = new LinkedHashMap<>();
    Map<Buffer, Buffer> replaced = new HashMap<>();
    Map<Buffer, Boolean> orientation = new LinkedHashMap<>();
    Set<Buffer> unusable = usedElsewhere(func.body());
    Map<Buffer, Integer> accumulators = new HashMap<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileMma mma) {
            Buffer b = mma.b().buffer();
            Boolean before = orientation.put(b, mma.transposeB());
            if ((before != null && before != mma.transposeB())
                || b.rank() != 2
                || b.layout() != null
                || !b.hasConstantShape()
                || mma.c().buffer().dtype() != DType.F32
                || !func.params().contains(b)) {
              unusable.add(b);
            }
          }
        });
    orientation.forEach(
        (b, transposed) -> {
          if (!unusable.contains(b)) {
            panels.put(b, panel(b, transposed, !constants.contains(b), target));
          }
        });
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileMma mma && panels.containsKey(mma.b().buffer())) {
            accumulators.merge(mma.c().buffer(), panels.get(mma.b().buffer()).nr(), Math::max);
          }
        });
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Alloc a) {
            Buffer b = a.buffer();
            int multiple = accumulators.getOrDefault(b, target.lanes());
            replaced.put(b, scratch(b, multiple, accumulators.containsKey(b), target));
          }
        });
    for (Param param : func.params()) {
      if (param instanceof Buffer b
          && constants.contains(b)
          && b.rank() == 1
          && b.layout() == null
          && b.hasConstantShape()) {
        replaced.put(b, padded(b, target.lanes()));
      }
    }
    return new PanelPlan(panels, replaced);
  }

  /** The buffers that are used as anything but the right operand of a multiplication. */
  private static Set<Buffer> usedElsewhere(Stmt body) {
    Set<Buffer> used = new HashSet<>();
    Walk.all(
        body,
        s -> {
          switch (s) {
            case Stmt.Store st -> used.add(st.buffer());
            case Stmt.TileCopy c -> {
              used.add(c.to().buffer());
              used.add(c.from().buffer());
            }
            case Stmt.TileFill f -> used.add(f.to().buffer());
            case Stmt.TileMma m -> {
              used.add(m.c().buffer());
              used.add(m.a().buffer());
            }
            case Stmt.TileReduce r -> used.add(r.to());
            default -> {}
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            used.add(load.buffer());
          }
        });
    return used;
  }

  private static Panel panel(Buffer b, boolean transposed, boolean copied, VectorMachine target) {
    int columnDimension = transposed ? 0 : 1;
    long columns = b.extent(columnDimension);
    long depth = b.extent(1 - columnDimension);
    int nr = panelColumns(columns, target);
    long paddedColumns = roundUp(columns, nr);
    List<Mode> columnModes =
        List.of(new Mode(nr, 1), new Mode(paddedColumns / nr, Math.multiplyExact(depth, nr)));
    List<Mode> depthModes = List.of(new Mode(depth, nr));
    Layout layout =
        new Layout(
            transposed ? List.of(columnModes, depthModes) : List.of(depthModes, columnModes),
            Swizzle.NONE);
    Buffer packed =
        new Buffer(
            copied ? b.name() + "_panels" : b.name(),
            b.dtype(),
            List.of(Exprs.i32(paddedColumns / nr), Exprs.i32(depth), Exprs.i32(nr)),
            copied ? Scope.SHARED : Scope.GLOBAL,
            null,
            Math.max(64, b.alignment()));
    return new Panel(b, packed, layout, columnDimension, nr, depth, copied);
  }

  /**
   * Two vectors wide where that wastes little, otherwise the one or three vectors (where there are
   * registers for it) that waste least.
   */
  private static int panelColumns(long columns, VectorMachine target) {
    int lanes = target.lanes();
    int best = 2 * lanes;
    int[] candidates = target.registers() == 32 ? new int[] {3 * lanes, lanes} : new int[] {lanes};
    for (int nr : candidates) {
      if (roundUp(columns, nr) < roundUp(columns, best)) {
        best = nr;
      }
    }
    return best;
  }

  /** Scratch memory whose rows are whole vectors; single columns stay, unless multiplied into. */
  private static Buffer scratch(Buffer b, int multiple, boolean accumulator, VectorMachine target) {
    Scope scope = b.scope() == Scope.LOCAL ? Scope.LOCAL : Scope.SHARED;
    boolean pads =
        b.rank() > 0
            && b.layout() == null
            && b.shape().getLast() instanceof Expr.IntImm imm
            && (accumulator || imm.value() > 1);
    Buffer wide = pads ? padded(b, multiple) : b;
    return (pads && b.rank() == 2 ? staggered(wide, target) : wide).withScope(scope);
  }

  /**
   * Rows at a distance that is a multiple of a large power of two all fall into the same few sets
   * of the first-level cache; a vector more between them spreads them.
   */
  private static Buffer staggered(Buffer b, VectorMachine target) {
    boolean conflicts =
        b.shape().getFirst() instanceof Expr.IntImm rows
            && rows.value() >= FEW_ROWS
            && b.extent(1) * (b.dtype().bits() / 8) % CONFLICTING_BYTES == 0;
    return conflicts
        ? b.withShape(List.of(b.shape().getFirst(), Exprs.i32(b.extent(1) + target.lanes())))
        : b;
  }

  /** The last extent rounded up. */
  private static Buffer padded(Buffer b, int multiple) {
    List<Expr> shape = new ArrayList<>(b.shape());
    long last = b.extent(b.rank() - 1);
    shape.set(shape.size() - 1, Exprs.i32(roundUp(last, multiple)));
    return b.withShape(shape);
  }

  static long roundUp(long value, long multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }
}
