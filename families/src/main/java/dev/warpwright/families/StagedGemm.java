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
    if (workload.epilogue().isNormed()) {
      return normed(s, tileM, columns, tileK, stages);
    }
    return of(s, names, workload.batch().isMany(), null, tileM, columns, tileK, stages);
  }

  /**
   * Tiles a product of which one operand goes on to registers.
   *
   * @param held the name of that operand, which is MN-major in memory
   */
  public static StagedGemm holding(
      Schedule s, GemmWorkload workload, String held, int tileM, int tileN, int tileK, int stages) {
    return of(s, Names.GEMM, workload.batch().isMany(), held, tileM, tileN, tileK, stages);
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
    return of(s, names, false, null, tileM, tileN, tileK, stages);
  }

  /**
   * Tiles a product whose rows of A are normed: their squares are added up of the tiles that are
   * multiplied.
   *
   * <pre>{@code
   * pipeline step in K / tileK [stages] { …; acc += A_shared * B_shared; squares += A_shared² }
   * norm = 1 / sqrt(squares / K + ε);  C_shared <- f(acc * norm)
   * }</pre>
   */
  private static StagedGemm normed(Schedule s, int tileM, int tileN, int tileK, int stages) {
    BlockRef squares = s.block("squares");
    BlockRef norm = s.block("norm");
    BlockRef sums = s.block("acc");
    BlockRef result = s.block("C");
    BlockRef store = s.cacheWrite(result, Scope.SHARED).copy();
    List<LoopRef> loops = s.loops(store);
    Schedule.Halves m = s.split(loops.getFirst(), tileM);
    Schedule.Halves n = s.split(loops.getLast(), tileN);
    s.reorder(m.outer(), n.outer(), m.inner(), n.inner());
    for (BlockRef each : List.of(result, sums, norm, squares)) {
      s.computeAt(each, n.outer());
    }
    List<LoopRef> inner = s.loops(sums);
    Schedule.Halves k = s.split(inner.getLast(), tileK);
    s.reorder(k.outer(), inner.get(inner.size() - 3), inner.get(inner.size() - 2), k.inner());
    List<LoopRef> ofRows = s.loops(squares);
    Schedule.Halves step = s.split(ofRows.getLast(), tileK);
    s.reorder(step.outer(), ofRows.get(ofRows.size() - 2), step.inner());
    s.merge(k.outer(), step.outer());
    BlockRef a = s.cacheRead(s.buffer("A"), Scope.SHARED, sums, squares);
    BlockRef b = s.cacheRead(s.buffer("B"), Scope.SHARED, sums);
    s.computeAt(a, step.outer());
    s.computeAt(b, step.outer());
    s.setScope(s.buffer("acc"), Scope.FRAGMENT);
    s.setScope(s.buffer("squares"), Scope.SHARED);
    s.setScope(s.buffer("norm"), Scope.SHARED);
    s.compactAll();
    BlockRef init = s.decomposeReduction(sums, step.outer());
    BlockRef zero = s.decomposeReduction(squares, step.outer());
    s.pipeline(step.outer(), stages);
    return new StagedGemm(
        sums, init, result, store, a, b, null, List.of(zero, squares, norm), m.outer(), n.outer());
  }

  /**
   * Tiles a product, or many of the same shape.
   *
   * @param held the operand that goes on to registers, or null
   * @param tileN columns of a tile of the result
   */
  private static StagedGemm of(
      Schedule s,
      Names names,
      boolean many,
      @Nullable String held,
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
    BlockRef a = s.cacheRead(s.buffer(names.a()), Scope.SHARED, sums);
    BlockRef b = s.cacheRead(s.buffer(names.b()), Scope.SHARED, sums);
    BlockRef registers = null;
    if (held == null) {
      s.computeAt(a, k.outer());
      s.computeAt(b, k.outer());
    } else {
      boolean first = held.equals(names.a());
      registers = s.cacheRead(s.buffer(held + "_shared"), Scope.LOCAL, sums);
      int planes = s.loops(registers).size() - 2;
      List<Integer> order = new ArrayList<>(List.of(planes + 1, planes));
      IntStream.range(0, planes).forEach(plane -> order.add(plane, plane));
      s.transformLayout(s.buffer(registers.name()), order);
      // Both tiles are copied before one is read.
      s.computeAt(first ? b : a, k.outer());
      s.computeAt(registers, k.outer());
      s.computeAt(first ? a : b, k.outer());
    }
    s.setScope(s.buffer(names.sums()), Scope.FRAGMENT);
    s.compactAll();
    if (many) {
      s.squeeze();
    }
    if (registers != null) {
      s.setScope(s.buffer(registers.name()), Scope.FRAGMENT);
    }
    BlockRef init = s.decomposeReduction(sums, k.outer());
    s.pipeline(k.outer(), stages);
    LoopRef rows = many ? s.fuse(loops.getFirst(), m.outer()) : m.outer();
    return new StagedGemm(sums, init, result, store, a, b, registers, List.of(), rows, n.outer());
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
