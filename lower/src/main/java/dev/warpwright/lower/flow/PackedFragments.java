package dev.warpwright.lower.flow;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.copy.GlobalPairs;
import dev.warpwright.lower.copy.StoredRows;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.FragmentInference;
import dev.warpwright.lower.gpu.FragmentWindow;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.MapLowering;
import dev.warpwright.lower.gpu.PermutedMap;
import dev.warpwright.lower.gpu.Rectified;
import dev.warpwright.lower.gpu.RowPairs;
import dev.warpwright.lower.gpu.SharedReciprocal;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Fragments of 16-bit elements, two in a register, and, in programs whose products round f32 to
 * tf32, of f32: operands of products in registers, and what comes from or goes to global memory by
 * 16 bytes. Maps that make them round and pack neighbours; maps that only move them rename
 * registers; copies take as many neighbours as a thread holds.
 */
final class PackedFragments {
  private final ThreadCode code;
  private final MapLowering maps;
  private final Map<Buffer, Buffer> registers = new HashMap<>();

  /** Fragments that memory takes and gives by single elements, and so do registers. */
  private final Set<Buffer> single = new HashSet<>();

  /** What products add to, an element in a register. */
  private final Set<Buffer> sums;

  /** First operands in registers of products in tf32. */
  private final Set<Buffer> rounded = new HashSet<>();

  PackedFragments(ThreadCode code, Stmt body, Set<Buffer> sums) {
    this.code = code;
    this.sums = sums;
    this.maps = new MapLowering(code, this::element);
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileMma mma
              && mma.a().buffer().scope() == Scope.FRAGMENT
              && mma.a().buffer().dtype() == DType.F32
              && !sums.contains(mma.a().buffer())) {
            rounded.add(mma.a().buffer());
          }
        });
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileCopy copy) {
            Set<Buffer> fragments = FragmentInference.fragments(copy);
            if (fragments.size() == 1
                && isOperand(fragments.iterator().next())
                && !StoredRows.are(copy)
                && !fits(copy, fragments.iterator().next())) {
              single.addAll(fragments);
            }
          }
        });
  }

  /** Elementwise statements that read such fragments. */
  MapLowering maps() {
    return maps;
  }

  /** Whether products take elements of its type from registers. */
  private boolean isOperand(Buffer buffer) {
    return buffer.scope() == Scope.FRAGMENT
        && !sums.contains(buffer)
        && (buffer.dtype() == DType.F16
            || buffer.dtype() == DType.BF16
            || buffer.dtype() == DType.F32 && buffer.rank() == 2 && !rounded.isEmpty());
  }

  boolean isPacked(Buffer buffer) {
    return isOperand(buffer) && !single.contains(buffer);
  }

  /** Elements in a register. */
  private static int perRegister(Buffer fragment) {
    return 4 / fragment.dtype().bytes();
  }

  /** Whether a copy moves such a fragment. */
  boolean concerns(Stmt.TileCopy copy) {
    return FragmentInference.fragments(copy).stream().anyMatch(this::isPacked);
  }

  /** Whether a map makes such a fragment. */
  boolean concerns(Stmt.TileMap map) {
    return map.stores().stream().anyMatch(store -> isPacked(store.buffer()));
  }

  /** An element of such a fragment as f32; null of others. */
  private @Nullable Expr element(Buffer fragment, Expr element) {
    if (!isPacked(fragment)) {
      return null;
    }
    if (perRegister(fragment) == 1) {
      return new Expr.Bitcast(Type.F32, new Expr.Load(registers(fragment), List.of(element)));
    }
    Expr pair = new Expr.Load(registers(fragment), List.of(Exprs.div(element, 2)));
    boolean half = fragment.dtype() == DType.F16;
    TargetIntrinsic low = half ? Intrinsics.UNPACK_LOW_F16X2 : Intrinsics.UNPACK_LOW_BF16X2;
    TargetIntrinsic high = half ? Intrinsics.UNPACK_HIGH_F16X2 : Intrinsics.UNPACK_HIGH_BF16X2;
    return Exprs.select(
        Exprs.eq(Exprs.mod(element, 2), Exprs.i32(0)),
        new Expr.Call(low, List.of(pair), Type.F32),
        new Expr.Call(high, List.of(pair), Type.F32));
  }

  /** The registers of a thread. */
  Buffer registers(Buffer fragment) {
    return registers.computeIfAbsent(
        fragment,
        f -> {
          FragmentLayout layout = code.layout(f);
          if (run(layout) % perRegister(f) != 0) {
            throw new LoweringException("fragment " + f.name() + " is not held by pairs");
          }
          return Buffer.of(f.name(), DType.U32, Scope.LOCAL, layout.registers() / perRegister(f));
        });
  }

  private static long run(FragmentLayout layout) {
    FragmentLayout.Digit inner = layout.registerDigits().getFirst();
    return inner.colStep() == 1 && inner.rowStep() == 0 ? inner.extent() : 1;
  }

  /** Whether all that a thread holds next to each other is next to each other in memory. */
  private boolean fits(Stmt.TileCopy copy, Buffer fragment) {
    Region global = copy.to().buffer() == fragment ? copy.from() : copy.to();
    Buffer memory = global.buffer();
    FragmentLayout layout = code.layout(fragment);
    int lanes = (int) run(layout);
    int rank = memory.rank();
    return memory.scope() == Scope.GLOBAL
        && memory.dtype() == fragment.dtype()
        && global.tile().size() == 2
        && global.ranges().getLast() == global.tile().getLast()
        && Guards.extent(global.tile().get(0)) == layout.rows()
        && Guards.extent(global.tile().get(1)) == layout.cols()
        && memory.extent(rank - 1) % lanes == 0
        && (memory.layout() == null || MatrixRows.are(memory))
        && MatrixRows.leadingDimension(memory) % lanes == 0
        && memory.alignment() >= lanes * memory.dtype().bytes()
        && CopyLowering.multipleOf(global.ranges().getLast().min(), lanes);
  }

  /** A copy between global memory and such a fragment. */
  Stmt copy(Stmt.TileCopy copy) {
    boolean loads = isPacked(copy.to().buffer());
    Buffer fragment = loads ? copy.to().buffer() : copy.from().buffer();
    Region global = loads ? copy.from() : copy.to();
    Buffer memory = global.buffer();
    FragmentLayout layout = code.layout(fragment);
    int lanes = (int) run(layout);
    if (!fits(copy, fragment)) {
      throw new LoweringException(
          "no copy between "
              + memory.name()
              + " and fragment "
              + fragment.name()
              + " by "
              + lanes * memory.dtype().bytes()
              + " bytes at once");
    }
    Buffer held = registers(fragment);
    int per = perRegister(fragment);
    int count = lanes / per;
    Type words = count == 1 ? Type.U32 : Type.U32.withLanes(count);
    return code.overFragment(
        layout,
        true,
        run -> {
          List<Expr> at = Guards.indices(global, List.of(run.row(), run.col()));
          Expr inside = Guards.inside(global, at);
          List<Expr> place = ThreadCode.ramped(at, lanes);
          List<Expr> word = ThreadCode.ramped(List.of(Exprs.div(run.register(), per)), count);
          if (loads) {
            Expr value = new Expr.Bitcast(words, new Expr.Load(memory, place));
            Expr zero = Exprs.zero(Type.U32);
            Expr nothing = count == 1 ? zero : new Expr.Broadcast(zero, count);
            return new Stmt.Store(held, word, Exprs.select(inside, value, nothing));
          }
          Type one = Type.of(memory.dtype());
          Type elements = lanes == 1 ? one : one.withLanes(lanes);
          return Stmts.when(
              inside,
              new Stmt.Store(memory, place, new Expr.Bitcast(elements, new Expr.Load(held, word))));
        });
  }

  /** A map whose stores are to such fragments. */
  Stmt map(Stmt.TileMap map, Stmt wait) {
    PermutedMap permuted = PermutedMap.of(map);
    Set<Buffer> own = FragmentWindow.others(map);
    if (permuted != null) {
      own = new HashSet<>(permuted.direct());
    }
    if (map.stores().size() != 1 || own.isEmpty()) {
      throw new LoweringException(
          "a map that makes a fragment of operands makes nothing else: " + map.stores());
    }
    Stmt.Store store = map.stores().getFirst();
    int per = perRegister(store.buffer());
    FragmentLayout layout = code.layout(own.iterator().next());
    if (per == 1 && RowPairs.gathered(map) != null && RowPairs.are(layout)) {
      return Stmts.seq(wait, gathered(map, layout));
    }
    if (map.vars().size() != 2
        || !Exprs.isConst(map.extents().get(0), layout.rows())
        || !Exprs.isConst(map.extents().get(1), layout.cols())
        || (permuted != null && per > 1 && !permuted.keepsPairs())) {
      throw new LoweringException(
          "the map to fragment " + store.buffer().name() + " does not go over it by pairs");
    }
    RowInputs rows = new RowInputs(map, layout, inside(store.value(), map));
    List<Stmt> parts = new ArrayList<>();
    for (ColumnVectors.Part part : ColumnVectors.parts(map, layout)) {
      parts.add(pairs(map, permuted, layout, part, rows));
    }
    return Stmts.seq(wait, rows.around(code, Stmts.seq(parts)));
  }

  /** The points of a map in some columns of its fragment, a register at a time. */
  private Stmt pairs(
      Stmt.TileMap map,
      @Nullable PermutedMap permuted,
      FragmentLayout layout,
      ColumnVectors.Part part,
      RowInputs rows) {
    Stmt.Store store = map.stores().getFirst();
    int per = perRegister(store.buffer());
    ColumnVectors vectors = new ColumnVectors(map, part);
    Stmt points =
        code.overFragment(
            part.layout(),
            true,
            run ->
                Stmts.loop(
                    ForKind.UNROLLED,
                    "pair",
                    run.length() / per,
                    pair -> {
                      Expr element = Exprs.mul(pair, per);
                      Point at =
                          new Point(
                              map,
                              permuted,
                              run.row(),
                              Exprs.add(Exprs.add(run.col(), element), part.column()),
                              Exprs.add(Exprs.add(run.register(), element), part.register()),
                              layout,
                              vectors,
                              rows);
                      SharedReciprocal shared = new SharedReciprocal();
                      return shared.around(
                          new Stmt.Store(
                              registers(store.buffer()),
                              List.of(word(at, store.buffer(), store.indices())),
                              value(at, store.buffer(), store.value(), shared)));
                    }));
    return vectors.around(code, points);
  }

  /** A fragment of words of a tile that is MN-major in shared memory, two of them at a time. */
  private Stmt gathered(Stmt.TileMap map, FragmentLayout layout) {
    Stmt.Store store = map.stores().getFirst();
    Expr.Load load = (Expr.Load) store.value();
    Buffer held = registers(store.buffer());
    boolean rounds = rounded.contains(store.buffer());
    return RowPairs.over(
        layout,
        code,
        pair ->
            ThreadCode.withTemporary(
                "both",
                load.buffer().dtype(),
                RowPairs.ROWS,
                both -> {
                  Substitution at =
                      Substitution.ofVars(
                          Map.of(map.vars().get(0), pair.row(), map.vars().get(1), pair.col()));
                  return Stmts.seq(
                      ThreadCode.move(
                          both,
                          List.of(Exprs.i32(0)),
                          load.buffer(),
                          load.indices().stream().map(at::expr).toList(),
                          RowPairs.ROWS),
                      Stmts.loop(
                          ForKind.UNROLLED,
                          "v",
                          RowPairs.ROWS,
                          v -> {
                            Expr word = new Expr.Load(both, List.of(v));
                            return new Stmt.Store(
                                held,
                                List.of(pair.register(v)),
                                rounds
                                    ? new Expr.Call(
                                        Intrinsics.CVT_RNA_TF32, List.of(word), Type.U32)
                                    : new Expr.Bitcast(Type.U32, word));
                          }));
                }));
  }

  /** A pair of neighbouring points, the first one's place and register. */
  private record Point(
      Stmt.TileMap map,
      @Nullable PermutedMap permuted,
      Expr row,
      Expr column,
      Expr register,
      FragmentLayout layout,
      ColumnVectors vectors,
      RowInputs rows) {}

  /** Where a map has rows: what it computes behind the last of them is zero. */
  private static Expr inside(Expr value, Stmt.TileMap map) {
    if (value instanceof Expr.Select(Expr condition, Expr then, Expr otherwise)
        && Exprs.zero(then.type()).equals(otherwise)) {
      boolean[] ofRows = {true};
      Walk.expressions(
          condition, e -> ofRows[0] &= e != map.vars().get(1) && !(e instanceof Expr.Load));
      return ofRows[0] ? condition : Exprs.bool(true);
    }
    return Exprs.bool(true);
  }

  /** The register in which a packed fragment has the pair. */
  private Expr word(Point at, Buffer fragment, List<Expr> indices) {
    PermutedMap permuted = at.permuted();
    boolean other = permuted != null && permuted.permuted() == fragment;
    Expr first = FragmentWindow.first(at.map(), fragment, indices);
    if (first != null) {
      FragmentLayout layout = code.layout(fragment);
      return Exprs.div(
          FragmentWindow.register(fragment, layout, at.layout(), first, at.register()),
          perRegister(fragment));
    }
    if (!other && indices.equals(List.copyOf(at.map().vars()))) {
      return Exprs.div(at.register(), perRegister(fragment));
    }
    if (permuted == null || permuted.permuted() != fragment) {
      throw new LoweringException(
          "fragment " + fragment.name() + " is used at " + indices + ", not at its map's point");
    }
    // Of thread 0, whose part of row and column is nothing: the registers' own.
    Expr row = inThread(at, true);
    Expr column = inThread(at, false);
    return Exprs.div(permuted.register(code.layout(fragment), row, column), perRegister(fragment));
  }

  /** Row or column of the point in thread 0. */
  private static Expr inThread(Point at, boolean row) {
    Expr sum = Exprs.i32(0);
    long weight = 1;
    for (FragmentLayout.Digit digit : at.layout().registerDigits()) {
      long step = row ? digit.rowStep() : digit.colStep();
      if (step != 0 && digit.extent() > 1) {
        Expr place = Exprs.mod(Exprs.div(at.register(), weight), digit.extent());
        sum = Exprs.add(sum, Exprs.mul(place, step));
      }
      weight *= digit.extent();
    }
    return sum;
  }

  private Expr value(Point at, Buffer to, Expr value, SharedReciprocal shared) {
    DType dtype = to.dtype();
    if (value instanceof Expr.Load(Buffer buffer, List<Expr> indices)
        && isPacked(buffer)
        && buffer.dtype() == dtype
        && (!rounded.contains(to) || rounded.contains(buffer))) {
      return new Expr.Load(registers(buffer), List.of(word(at, buffer, indices)));
    }
    Expr both =
        at.permuted() == null && GlobalPairs.beginEven(at.layout())
            ? GlobalPairs.word(at.map(), to.dtype(), value, at.row(), at.column())
            : null;
    if (both != null) {
      return both;
    }
    Expr inside = inside(value, at.map());
    if (value instanceof Expr.Select(Expr condition, Expr then, Expr otherwise)
        && condition == inside
        && at.rows().areAll()) {
      // Both of the pair are of one row; a mask, for a choice between values becomes a branch.
      Expr there = maps.valueAt(at.map(), inside, at.row(), at.column(), at.register());
      Expr ones = new Expr.IntImm(Type.U32, 0xffffffffL);
      Expr mask = Exprs.select(there, ones, Exprs.zero(Type.U32));
      return Exprs.fold(BinaryOp.BIT_AND, value(at, to, then, shared), mask);
    }
    if (perRegister(to) == 1) {
      Expr whole = element(at, value, 0);
      return rounded.contains(to)
          ? new Expr.Call(Intrinsics.CVT_RNA_TF32, List.of(whole), Type.U32)
          : new Expr.Bitcast(Type.U32, whole);
    }
    Expr inner = unrounded(value);
    Expr positive = Rectified.of(inner);
    boolean half = dtype == DType.F16;
    TargetIntrinsic pack =
        positive == null
            ? half ? Intrinsics.PACK_F16X2 : Intrinsics.PACK_BF16X2
            : half ? Intrinsics.PACK_RELU_F16X2 : Intrinsics.PACK_RELU_BF16X2;
    Expr each = positive == null ? inner : positive;
    if (half
        && each instanceof Expr.Cast(Type _, Expr accumulator)
        && accumulator.type().equals(Type.F16)) {
      // Accumulators that were f16 need no rounding.
      return new Expr.Call(
          positive == null ? Intrinsics.JOIN_F16X2 : Intrinsics.JOIN_RELU_F16X2,
          List.of(element(at, accumulator, 0), element(at, accumulator, 1)),
          Type.U32);
    }
    SharedReciprocal.Pair pair = shared.of(element(at, each, 0), element(at, each, 1));
    return new Expr.Call(pack, List.of(pair.first(), pair.second()), Type.U32);
  }

  /**
   * The value in f32, as packing rounds it: what is zero elsewhere is so before it is rounded, for
   * rounding alone would take an instruction for each of the pair.
   */
  private static Expr unrounded(Expr value) {
    return switch (value) {
      case Expr.Cast(Type _, Expr wide) when wide.type().equals(Type.F32) -> wide;
      case Expr.Select(Expr condition, Expr then, Expr otherwise)
          when Exprs.zero(then.type()).equals(otherwise) && then instanceof Expr.Cast ->
          Exprs.select(condition, unrounded(then), Exprs.f32(0));
      default -> Exprs.cast(DType.F32, value);
    };
  }

  /** The value of one of the pair's elements. */
  private Expr element(Point at, Expr value, int number) {
    Expr register = Exprs.add(at.register(), Exprs.i32(number));
    Expr own = at.rows().of(at.vectors().of(value, register), register);
    PermutedMap permuted = at.permuted();
    return maps.valueAt(
        at.map(),
        permuted == null ? own : elsewhere(at, permuted).expr(own),
        at.row(),
        Exprs.add(at.column(), number),
        register);
  }

  /** Elements of the permuted fragment in the registers that have them. */
  private Rewriter elsewhere(Point at, PermutedMap permuted) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (!(e instanceof Expr.Load(Buffer buffer, List<Expr> indices))
            || buffer != permuted.permuted()) {
          return super.expr(e);
        }
        Expr row = inThread(at, true);
        Expr column = inThread(at, false);
        Expr register = permuted.register(code.layout(buffer), row, column);
        Expr element = PackedFragments.this.element(buffer, register);
        return element != null
            ? Exprs.cast(buffer.dtype(), element)
            : new Expr.Load(code.registers(buffer), List.of(register));
      }
    };
  }
}
