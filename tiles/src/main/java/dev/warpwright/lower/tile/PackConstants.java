package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.FragmentOrder;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets rows move between global memory and the registers of warpgroup products by 16 bytes a
 * thread. A thread of a product's 16-bit operand holds pairs of columns 8 apart; 8 columns next to
 * each other are as good, if the operand's K, or the accumulators' N, is permuted. What is permuted
 * are constants: whoever calls the kernel packs them once.
 *
 * <pre>{@code
 * tile.copy a <- x[…]                              tile.copy a_rows <- x[…]
 *                                             →    tile.map (r, k) { a[r, k] = a_rows[r, p(k)] }
 * tile.copy Ws <- W[…]; tile.mma acc += a * Ws^T   tile.copy Ws <- W'[…]; tile.mma acc += a * Ws^T
 *
 * tile.map (r, n) { h[r, n] = f(acc[r, n], b[n]) } tile.map (r, n) { h[r, p(n)] = f(acc[r, n], b[p(n)]) }
 * tile.copy y[…] <- h                              tile.copy y[…] <- h
 * }</pre>
 *
 * <p>{@code W'[n, k] = W[n, p(k)]}, for the result {@code W'[n, k] = W[p(n), k]}. p exchanges bits
 * of the column inside groups of 32. Where something is added to each row between two products, the
 * columns there are permuted, too: a thread then adds 8 elements next to each other.
 *
 * <p>Weights of products of warps come in the order of their registers ({@link FragmentOrder}): the
 * parameter has the same coordinates, and another layout.
 *
 * <p>Weights of products of warpgroups that come by narrow panels lie in the order of these, so
 * that no tensor map need cut them ({@link PanelPacking}).
 *
 * <p>A thread of an operand in tf32 holds columns 4 apart where accumulators are neighbours. So K
 * is permuted of every product whose operand comes from another one's accumulators; what is packed
 * is rounded to tf32, too, which the instruction would cut off.
 *
 * <p>A copy with {@code prefetch = 1} into an operand gets a fragment of its own in any case, which
 * the next rows can be copied to while these are multiplied; so does an operand of rows of an odd
 * number of columns, which come one by one.
 *
 * <p>Requires nothing: where rows are no multiple of 16 columns, an operand is read by other than
 * products, or what would have to be packed is no constant or has other readers, the columns stay.
 *
 * <p>Guarantees: with its packed constants the program computes what it did. Stands in front of
 * {@link PlanPipes}: weights are still copied from parameters.
 */
public final class PackConstants {
  private final ConstantUses uses;
  private final Set<Buffer> written;
  private final Map<Stmt, Stmt> replaced = new IdentityHashMap<>();
  private final Map<Stmt, Buffer> allocated = new IdentityHashMap<>();

  /** Constants whose columns, or rows, are permuted, and where their bits go. */
  private final Map<Buffer, int[]> permutedColumns = new LinkedHashMap<>();

  private final Map<Buffer, int[]> permutedRows = new LinkedHashMap<>();

  /** Weights in the order of the registers of warps' products. */
  private final Set<Buffer> ordered = new LinkedHashSet<>();

  private PackConstants(PrimFunc func, Set<Buffer> constants) {
    this.uses = new ConstantUses(func, constants);
    this.written = TileFacts.written(func);
  }

  /**
   * A program and the constants that it wants in another form.
   *
   * @param packed a constant of the original program to its form
   */
  public record Packed(PrimFunc func, Map<Buffer, Form> packed) {}

  /**
   * Another form of a constant.
   *
   * @param buffer the program's parameter
   * @param where coordinates of the original to the element offset in {@code buffer}
   * @param tf32 whether its elements are rounded to tf32
   */
  public record Form(Buffer buffer, Layout where, boolean tf32) {}

  /** The program that reads these constants in the forms that it wants, and the forms. */
  public static Packed apply(PrimFunc func, Set<Buffer> constants) {
    return new PackConstants(func, constants).packed(func);
  }

  private Packed packed(PrimFunc func) {
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileCopy copy) {
            operand(copy);
            result(copy);
          } else if (s instanceof Stmt.TileMap map) {
            hidden(map);
            fromSums(map);
          } else if (s instanceof Stmt.TileMma mma && FragmentOrder.isFor(mma)) {
            order(mma);
          }
        });
    Set<Buffer> ofTf32 = weightsOfTf32(func);
    Map<Buffer, Buffer> panels = PanelPacking.of(func, uses);
    if (replaced.isEmpty() && ordered.isEmpty() && ofTf32.isEmpty() && panels.isEmpty()) {
      return new Packed(func, Map.of());
    }
    Map<Buffer, Form> forms = new LinkedHashMap<>();
    for (Param param : func.params()) {
      if (param instanceof Buffer b
          && (permutedColumns.containsKey(b)
              || permutedRows.containsKey(b)
              || ordered.contains(b)
              || panels.containsKey(b)
              || ofTf32.contains(b))) {
        forms.put(b, form(b, panels.get(b), ofTf32.contains(b)));
      }
    }
    List<Param> params = new ArrayList<>();
    for (Param param : func.params()) {
      Form form = param instanceof Buffer b ? forms.get(b) : null;
      params.add(form == null ? param : form.buffer());
    }
    Stmt body = new Exchange(forms).stmt(func.body());
    return new Packed(new PrimFunc(func.name(), params, body, func.attrs()), forms);
  }

  /** Constants that only products in tf32 read. */
  private Set<Buffer> weightsOfTf32(PrimFunc func) {
    Set<Buffer> weights = new LinkedHashSet<>();
    List<Stmt> products = new ArrayList<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileMma mma
              && ConstantUses.isOfTf32(mma)
              && uses.weight(mma) instanceof Buffer weight) {
            weights.add(weight);
            products.add(mma);
          }
        });
    weights.removeIf(weight -> !uses.isReadBy(weight, products));
    return weights;
  }

  private Form form(Buffer constant, @Nullable Buffer panels, boolean tf32) {
    Buffer dense =
        new Buffer(
            constant.name(),
            constant.dtype(),
            constant.shape(),
            constant.scope(),
            null,
            constant.alignment());
    Buffer packed =
        ordered.contains(constant)
            ? FragmentOrder.of(dense)
            : panels != null ? dense.withLayout(panels.layout()) : dense;
    List<List<Mode>> dimensions = new ArrayList<>();
    for (int d = 0; d < constant.rank(); d++) {
      dimensions.add(
          ColumnOrder.modes(packed, d, (d == 0 ? permutedRows : permutedColumns).get(constant)));
    }
    Swizzle swizzle = packed.layout() == null ? Swizzle.NONE : packed.layout().swizzle();
    return new Form(packed, new Layout(dimensions, swizzle), tf32);
  }

  /** A weight that only products of warps read comes in the order of their registers. */
  private void order(Stmt.TileMma mma) {
    Buffer weight = uses.weight(mma);
    if (weight != null && weight.layout() == null && FragmentOrder.fits(weight)) {
      boolean only = true;
      for (Stmt use : uses.of(weight)) {
        only &=
            use instanceof Stmt.TileMma reads && FragmentOrder.isFor(reads)
                || use instanceof Stmt.TileCopy copy
                    && uses.of(copy.to().buffer()).stream()
                        .allMatch(
                            reader ->
                                reader == copy
                                    || reader instanceof Stmt.TileMma other
                                        && FragmentOrder.isFor(other));
      }
      if (only) {
        ordered.add(weight);
      }
    }
  }

  /** Whether products take elements of its type from registers. */
  private boolean isOperand(Buffer fragment) {
    boolean wide = fragment.dtype() == DType.F32 && uses.rounds() && !uses.isSum(fragment);
    return fragment.scope() == Scope.FRAGMENT
        && (fragment.dtype().bytes() == 2 || wide)
        && fragment.rank() == 2;
  }

  /** Whether whole vectors of a matrix' rows are columns of the tile. */
  private boolean byVectors(Region memory, Buffer fragment) {
    Buffer buffer = memory.buffer();
    int lanes = uses.group(fragment.extent(1)) / 4;
    return fragment.extent(1) % 16 == 0
        && memory.tile().size() == 2
        && memory.ranges().getLast() == memory.tile().getLast()
        && ColumnOrder.isMultiple(memory.ranges().getLast().min(), uses.group(fragment.extent(1)))
        && buffer.layout() == null
        && buffer.extent(buffer.rank() - 1) % lanes == 0
        && buffer.alignment() >= 16;
  }

  private void operand(Stmt.TileCopy copy) {
    Buffer a = copy.to().buffer();
    Buffer x = copy.from().buffer();
    if (!isOperand(a)
        || x.scope() != Scope.GLOBAL
        || written.contains(x)
        || x.dtype() != a.dtype()
        || !TileFacts.isWhole(copy.to())) {
      return;
    }
    List<Stmt> readers = uses.others(a, copy);
    if (readers.stream().noneMatch(s -> s instanceof Stmt.TileMma mma && mma.a().buffer() == a)) {
      return;
    }
    Set<Buffer> weights = new LinkedHashSet<>();
    int group = uses.group(a.extent(1));
    boolean permute = byVectors(copy.from(), a);
    for (Stmt reader : readers) {
      Buffer weight =
          reader instanceof Stmt.TileMma mma && mma.a().buffer() == a && mma.c().buffer() != a
              ? uses.weight(mma, group)
              : null;
      permute &= weight != null && ColumnOrder.inGroups(((Stmt.TileMma) reader).a(), group);
      if (weight != null) {
        weights.add(weight);
      }
    }
    for (Buffer weight : weights) {
      permute &= uses.isReadBy(weight, readers);
    }
    boolean pairs = x.extent(x.rank() - 1) % 2 == 0;
    boolean wide = uses.isRounded(a);
    if (!permute && pairs && !wide && !copy.attrs().has("prefetch")) {
      return;
    }
    if (permute) {
      int[] bits = wide ? ColumnOrder.BITS_OF_ROWS : ColumnOrder.bits(group);
      weights.forEach(weight -> permutedColumns.put(weight, bits));
    }
    Buffer rows = Buffer.of(a.name() + "_rows", a.dtype(), Scope.FRAGMENT, a.shape());
    Var r = Var.index("r");
    Var k = Var.index("k");
    Expr at = wide ? ColumnOrder.columnOfRow(k) : ColumnOrder.column(k, group);
    Expr from = new Expr.Load(rows, List.of(r, permute ? at : k));
    Stmt.Store store = new Stmt.Store(a, List.of(r, k), from);
    Stmt map = new Stmt.TileMap(List.of(r, k), a.shape(), List.of(store), Attrs.NONE);
    Stmt fill = new Stmt.TileCopy(Region.whole(rows), copy.from(), copy.attrs());
    replaced.put(copy, Stmts.seq(fill, map));
    allocated.put(copy, rows);
  }

  private void result(Stmt.TileCopy copy) {
    Buffer h = copy.from().buffer();
    if (!isOperand(h)
        || copy.to().buffer().scope() != Scope.GLOBAL
        || copy.to().buffer().dtype() != h.dtype()
        || !TileFacts.isWhole(copy.from())
        || !byVectors(copy.to(), h)) {
      return;
    }
    List<Stmt> makers = uses.others(h, copy);
    if (makers.size() != 1
        || !(makers.getFirst() instanceof Stmt.TileMap map)
        || map.stores().size() != 1
        || map.vars().size() != 2
        || !map.stores().getFirst().indices().equals(List.copyOf(map.vars()))) {
      return;
    }
    int group = uses.group(h.extent(1));
    if (permuteRows(map, group)) {
      Stmt.Store store = map.stores().getFirst();
      List<Expr> at = List.of(map.vars().get(0), ColumnOrder.column(map.vars().get(1), group));
      Expr value = MapColumns.atColumns(map, store.value(), group);
      replaced.put(map, MapColumns.with(map, new Stmt.Store(h, at, value)));
    }
  }

  /**
   * Between two products nothing moves, but what is added to each row does: of permuted columns it
   * comes by 16 bytes.
   */
  private void hidden(Stmt.TileMap map) {
    Stmt.Store store = map.stores().getFirst();
    Buffer h = store.buffer();
    if (replaced.containsKey(map)
        || !isOperand(h)
        || uses.isRounded(h)
        || h.extent(1) % 16 != 0
        || map.stores().size() != 1
        || map.vars().size() != 2
        || !isWindow(map, store.indices())
        || new MapColumns.Inputs(map, uses.group(MapColumns.columnsOf(map))).rows.isEmpty()) {
      return;
    }
    List<Stmt> readers = uses.others(h, map);
    int group = Math.min(uses.group(h.extent(1)), uses.group(MapColumns.columnsOf(map)));
    Set<Buffer> weights = new LinkedHashSet<>();
    for (Stmt reader : readers) {
      Buffer weight =
          reader instanceof Stmt.TileMma mma && mma.a().buffer() == h && mma.c().buffer() != h
              ? uses.weight(mma, group)
              : null;
      if (weight == null || !ColumnOrder.inGroups(((Stmt.TileMma) reader).a(), group)) {
        return;
      }
      weights.add(weight);
    }
    if (weights.stream().allMatch(w -> uses.isReadBy(w, readers)) && permuteRows(map, group)) {
      weights.forEach(weight -> permutedColumns.put(weight, ColumnOrder.bits(group)));
      Expr value = MapColumns.atColumns(map, store.value(), group);
      replaced.put(map, MapColumns.with(map, new Stmt.Store(h, store.indices(), value)));
    }
  }

  /**
   * An operand in tf32 that is made of accumulators: what a thread has of these stands at other
   * columns, K is permuted alike.
   */
  private void fromSums(Stmt.TileMap map) {
    Stmt.Store store = map.stores().getFirst();
    Buffer h = store.buffer();
    if (!uses.isRounded(h)
        || map.stores().size() != 1
        || map.vars().size() != 2
        || !store.indices().equals(List.copyOf(map.vars()))
        || h.extent(1) % 16 != 0) {
      return;
    }
    boolean[] reads = {false, false};
    Walk.expressions(
        store.value(),
        e -> {
          if (e instanceof Expr.Load load && load.buffer().scope() == Scope.FRAGMENT) {
            reads[uses.isSum(load.buffer()) ? 0 : 1] = true;
          }
        });
    List<Stmt> readers = uses.others(h, map);
    Set<Buffer> weights = new LinkedHashSet<>();
    for (Stmt reader : readers) {
      Buffer weight =
          reader instanceof Stmt.TileMma mma && mma.a().buffer() == h ? uses.weight(mma) : null;
      if (weight == null || !ColumnOrder.inGroups(((Stmt.TileMma) reader).a(), 16)) {
        return;
      }
      weights.add(weight);
    }
    if (reads[0] && !reads[1] && weights.stream().allMatch(w -> uses.isReadBy(w, readers))) {
      weights.forEach(weight -> permutedColumns.put(weight, ColumnOrder.BITS_OF_SUMS));
      Var column = map.vars().get(1);
      Expr value =
          Substitution.ofVars(Map.of(column, ColumnOrder.columnOfSum(column))).expr(store.value());
      replaced.put(map, MapColumns.with(map, new Stmt.Store(h, store.indices(), value)));
    }
  }

  /** Whether a map goes over whole groups of columns. */
  private boolean isWindow(Stmt.TileMap map, List<Expr> indices) {
    Expr first = MapColumns.first(map, indices.getLast());
    int group = uses.group(MapColumns.columnsOf(map));
    return indices.size() == 2
        && indices.getFirst() == map.vars().getFirst()
        && first != null
        && ColumnOrder.isMultiple(first, group)
        && MapColumns.columnsOf(map) % group == 0;
  }

  /**
   * Permutes the columns of the accumulators that a map reads, if nobody else minds.
   *
   * @param group among how many
   */
  private boolean permuteRows(Stmt.TileMap map, int group) {
    MapColumns.Inputs inputs = new MapColumns.Inputs(map, uses.group(MapColumns.columnsOf(map)));
    if (!inputs.fits) {
      return false;
    }
    Buffer acc = inputs.accumulator;
    if (acc == null) {
      return true;
    }
    List<Stmt> products = new ArrayList<>();
    Set<Buffer> weights = new LinkedHashSet<>();
    for (Stmt use : uses.of(acc)) {
      if (use instanceof Stmt.TileMma mma && mma.c().buffer() == acc) {
        Buffer weight = uses.weight(mma);
        if (weight == null || weight.extent(0) % acc.extent(1) != 0 || acc.extent(1) % group != 0) {
          return false;
        }
        products.add(mma);
        weights.add(weight);
      } else if (use != map && !(use instanceof Stmt.TileFill)) {
        return false;
      }
    }
    if (products.isEmpty() || !weights.stream().allMatch(w -> uses.isReadBy(w, products))) {
      return false;
    }
    weights.forEach(weight -> permutedRows.put(weight, ColumnOrder.bits(group)));
    return true;
  }

  /** Puts packed constants in place of the originals, and what was replaced. */
  private final class Exchange extends Rewriter {
    private final Map<Buffer, Form> forms;

    Exchange(Map<Buffer, Form> forms) {
      this.forms = forms;
    }

    @Override
    protected Buffer buffer(Buffer buffer) {
      Form form = forms.get(buffer);
      return form == null ? buffer : form.buffer();
    }

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.Alloc alloc) {
        Stmt body = super.stmt(s);
        for (Map.Entry<Stmt, Buffer> rows : allocated.entrySet()) {
          if (((Stmt.TileCopy) rows.getKey()).to().buffer() == alloc.buffer()) {
            return new Stmt.Alloc(rows.getValue(), body);
          }
        }
        return body;
      }
      Stmt other = replaced.get(s);
      return super.stmt(other == null ? s : other);
    }
  }
}
