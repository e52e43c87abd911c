package dev.warpwright.families;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Scope;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What the families of matrix instructions have in common: tiles of the result, whose sums are
 * fragments, over pipelined steps along K, each with its tiles of the operands in shared memory;
 * the result is computed in registers, staged in shared memory, stored.
 *
 * <pre>{@code
 * for i, j, k { acc[i, j] += A[i, k] * B[j, k] }  for i, j { C[i, j] = f(acc[i, j]) }
 * →
 * for tile_i, tile_j {
 *   acc = 0                                          fragments
 *   pipeline step in K / tileK [stages] {
 *     A_shared <- A[tile_i, step];  B_shared <- B[tile_j, step]
 *     acc += A_shared * B_shared                     to be tensorized
 *   }
 *   C_shared <- f(acc);  C[tile_i, tile_j] <- C_shared
 * }
 * }</pre>
 *
 * <p>Where rows of A are normed, {@code squares += A_shared²} stands behind each product, and
 * {@code norm = 1 / sqrt(squares / K + ε)} in front of the result, whose sums it multiplies.
 *
 * <p>An MN-major operand may go on from shared memory to registers, where it is K-major: {@code
 * A_held[i, k] <- A_shared[k, i]; acc += A_held * B_shared}.
 *
 * @param sums the block of the products
 * @param init the block that makes the sums zero
 * @param result the block that computes the result's tile
 * @param store the block that stores it
 * @param a the block that copies a tile of A
 * @param b the block that copies a tile of B
 * @param held the block that brings a tile of one of them to registers, if one goes there
 * @param normed the blocks that norm rows of A, if they are: sums of squares are made zero, added
 *     up, and become each row's factor
 * @param rows the loop over rows of tiles, those of several products after each other
 * @param columns the loop over columns of tiles
 */
public record StagedGemm(
    BlockRef sums,
    BlockRef init,
    BlockRef result,
    BlockRef store,
    BlockRef a,
    BlockRef b,
    @Nullable BlockRef held,
    List<BlockRef> normed,
    LoopRef rows,
    LoopRef columns) {

  /**
   * What a product's parts are called.
   *
   * @param a the left operand
   * @param b the right operand
   * @param sums the block and the buffer of the sums
   * @param result the block of the result
   */
  public record Names(String a, String b, String sums, String result) {
    /** In functions of one product. */
    public static final Names GEMM = new Names("A", "B", "acc", "C");
  }

  /** Tiles a product. */
  public static StagedGemm of(
      Schedule s, GemmWorkload workload, int tileM, int tileN, int tileK, int stages) {
    return of(s, Names.GEMM, workload, tileM, tileN, tileK, stages);
  }

  /** Tiles a product whose operands are called so. */
  public static StagedGemm of(
      Schedule s, Names names, GemmWorkload workload, int tileM, int tileN, int tileK, int stages) {
    int columns = Math.toIntExact(workload.epilogue().columns(tileN));
    boolean normed = workload.epilogue().isNormed();
    return of(s, names, workload.batch().isMany(), null, normed, tileM, columns, tileK, stages);
  }

  /**
   * Tiles a product of which one operand goes on to registers.
   *
   * @param held the name of that operand, which is MN-major in memory
   */
  public static StagedGemm holding(
      Schedule s, GemmWorkload workload, String held, int tileM, int tileN, int tileK, int stages) {
    return of(s, Names.GEMM, workload.batch().isMany(), held, false, tileM, tileN, tileK, stages);
  }

  /**
   * Tiles one product of a function.
   *
   * @param tileM rows of a tile
   * @param tileN columns of a tile
   * @param tileK length of a step along K
   * @param stages tiles of an operand that are in shared memory at once
   */
  public static StagedGemm of(
      Schedule s, Names names, int tileM, int tileN, int tileK, int stages) {
    return of(s, names, false, null, false, tileM, tileN, tileK, stages);
  }

  /**
   * Tiles a product, or many of the same shape.
   *
   * @param held the operand that goes on to registers, or null
   * @param normed whether rows of A are normed: their squares are added up of the tiles that are
   *     multiplied
   * @param tileN columns of a tile of the result
   */
  private static StagedGemm of(
      Schedule s,
      Names names,
      boolean many,
      @Nullable String held,
      boolean normed,
      int tileM,
      int tileN,
      int tileK,
      int stages) {
    BlockRef sums = s.block(names.sums());
    BlockRef result = s.block(names.result());
    BlockRef store = s.cacheWrite(result, Scope.SHARED).copy();
    List<LoopRef> loops = s.loops(store);
    Schedule.Halves m = s.split(loops.get(loops.size() - 2), tileM);
    Schedule.Halves n = s.split(loops.getLast(), tileN);
    s.reorder(m.outer(), n.outer(), m.inner(), n.inner());
    s.computeAt(result, n.outer());
    s.computeAt(sums, n.outer());
    List<LoopRef> inner = s.loops(sums);
    Schedule.Halves k = s.split(inner.getLast(), tileK);
    s.reorder(k.outer(), inner.get(inner.size() - 3), inner.get(inner.size() - 2), k.inner());
    LoopRef steps = k.outer();
    List<BlockRef> norm = new ArrayList<>();
    List<BlockRef> readers = new ArrayList<>(List.of(sums));
    if (normed) {
      for (String name : List.of("norm", "squares")) {
        norm.addFirst(s.block(name));
        s.computeAt(norm.getFirst(), n.outer());
        s.setScope(s.buffer(name), Scope.SHARED);
      }
      BlockRef squares = norm.getFirst();
      List<LoopRef> ofRows = s.loops(squares);
      Schedule.Halves step = s.split(ofRows.getLast(), tileK);
      s.reorder(step.outer(), ofRows.get(ofRows.size() - 2), step.inner());
      s.merge(steps, step.outer());
      steps = step.outer();
      readers.add(squares);
    }
    BlockRef a = s.cacheRead(s.buffer(names.a()), Scope.SHARED, readers);
    BlockRef b = s.cacheRead(s.buffer(names.b()), Scope.SHARED, sums);
    BlockRef registers = null;
    if (held == null) {
      s.computeAt(a, steps);
      s.computeAt(b, steps);
    } else {
      boolean first = held.equals(names.a());
      registers = s.cacheRead(s.buffer(held + "_shared"), Scope.LOCAL, sums);
      int planes = s.loops(registers).size() - 2;
      List<Integer> order = new ArrayList<>(List.of(planes + 1, planes));
      IntStream.range(0, planes).forEach(plane -> order.add(plane, plane));
      s.transformLayout(s.buffer(registers.name()), order);
      // Both tiles are copied before one is read.
      s.computeAt(first ? b : a, steps);
      s.computeAt(registers, steps);
      s.computeAt(first ? a : b, steps);
    }
    s.setScope(s.buffer(names.sums()), Scope.FRAGMENT);
    s.compactAll();
    if (many) {
      s.squeeze();
    }
    if (registers != null) {
      s.setScope(s.buffer(registers.name()), Scope.FRAGMENT);
    }
    BlockRef init = s.decomposeReduction(sums, steps);
    if (normed) {
      norm.addFirst(s.decomposeReduction(norm.getFirst(), steps));
    }
    s.pipeline(steps, stages);
    LoopRef rows = many ? s.fuse(loops.getFirst(), m.outer()) : m.outer();
    return new StagedGemm(sums, init, result, store, a, b, registers, norm, rows, n.outer());
  }

  /** Makes tile statements of the blocks; the product's has these attributes. */
  public void tensorize(Schedule s, Attrs product) {
    for (BlockRef block : List.of(init, a, b)) {
      s.tensorize(block, Attrs.NONE);
    }
    if (held != null) {
      s.tensorize(held, Attrs.NONE);
    }
    s.tensorize(sums, product);
    for (BlockRef block : normed) {
      s.tensorize(block, Attrs.NONE);
    }
    s.tensorize(result, Attrs.NONE);
    s.tensorize(store, Attrs.NONE);
  }
}
