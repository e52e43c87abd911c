package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;

/**
 * The operands of a product by {@code mma.sync} in registers: two sets for each warp, so that those
 * of the next instruction's depth are read while the present ones are multiplied.
 *
 * @param tilesM row tiles of 16 of a warp
 * @param tilesN column tiles of 8 of a warp
 * @param acrossA whether A's tile is stored along M: its rows lie across K
 * @param acrossB whether B's tile is stored along N
 */
record MmaOperands(
    MmaInstruction instruction,
    int tilesM,
    int tilesN,
    OperandRing a,
    OperandRing b,
    boolean acrossA,
    boolean acrossB,
    Buffer aRegisters,
    Buffer bRegisters) {

  /**
   * The operands of a product.
   *
   * @throws LoweringException if this instruction cannot multiply these tiles
   */
  static MmaOperands of(Stmt.TileMma mma, FragmentLayout layout, OperandRing a, OperandRing b) {
    MmaInstruction instruction =
        MmaInstruction.parse(String.valueOf(mma.attrs().getString("instr")));
    int tilesM = (int) layout.registerDigits().get(3).extent();
    int tilesN = (int) layout.registerDigits().get(2).extent();
    String name = mma.c().buffer().name();
    boolean acrossB = !mma.transposeB();
    long depth = a.tile().extent(mma.transposeA() ? 0 : 1);
    long bDepth = b.tile().extent(acrossB ? 0 : 1);
    if (a.tile().dtype() != instruction.operand() || b.tile().dtype() != instruction.operand()) {
      throw new LoweringException(
          String.format(
              Locale.ROOT, "the GEMM into %s needs operands of %s", name, instruction.operand()));
    }
    if (depth != bDepth || depth % (2L * instruction.k()) != 0) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "the GEMM into %s has a depth of %d, no multiple of %d",
              name,
              depth,
              2 * instruction.k()));
    }
    if (acrossB && instruction.operand().bytes() == 2 && tilesN % 2 != 0) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "the GEMM into %s needs pairs of columns of tiles from each warp",
              name));
    }
    return new MmaOperands(
        instruction,
        tilesM,
        tilesN,
        a,
        b,
        mma.transposeA(),
        acrossB,
        Buffer.of("a", DType.U32, Scope.LOCAL, 2L * tilesM * instruction.aRegisters()),
        Buffer.of("b", DType.U32, Scope.LOCAL, 2L * tilesN * instruction.bRegisters()));
  }

  /** Instructions along K in one step. */
  long depth() {
    return a.tile().extent(acrossA ? 0 : 1) / instruction.k();
  }

  /**
   * Reads the operands of one depth.
   *
   * @param kk which of a step
   */
  Stmt load(Expr stage, Expr kk, Expr warpRow, Expr warpColumn, Expr lane) {
    Expr set = Exprs.mod(kk, 2);
    return Stmts.seq(loadA(stage, kk, set, warpRow, lane), loadB(stage, kk, set, warpColumn, lane));
  }

  private Stmt loadA(Expr stage, Expr kk, Expr set, Expr warpRow, Expr lane) {
    int count = instruction.aRegisters();
    return Stmts.loop(
        ForKind.UNROLLED,
        "i",
        tilesM,
        i -> {
          Expr row = Exprs.add(warpRow, Exprs.mul(i, MmaInstruction.ROWS));
          Expr k = Exprs.mul(kk, instruction.k());
          Expr first = Exprs.add(Exprs.mul(set, (long) tilesM * count), Exprs.mul(i, count));
          if (acrossA && instruction.operand().bytes() != 2) {
            return gather(
                count,
                aRegisters,
                first,
                a,
                stage,
                lane,
                r -> Exprs.add(k, Exprs.mul(Exprs.div(r, 2), instruction.rowElements())),
                r -> Exprs.add(row, Exprs.mul(Exprs.mod(r, 2), 8)));
          }
          List<Expr> at = acrossA ? mnMajorA(stage, k, row, lane) : rowsOfA(stage, k, row, lane);
          return instruction.rounded(
              read(count, acrossA, aRegisters, first, at, a), aRegisters, first, count);
        });
  }

  /** Lane l gives row l % 16: first the matrices of 16 rows, then the next 16 bytes along K. */
  private List<Expr> rowsOfA(Expr stage, Expr k, Expr row, Expr lane) {
    Expr column =
        instruction.aRegisters() == 4
            ? Exprs.add(k, Exprs.mul(Exprs.div(lane, 16), instruction.rowElements()))
            : k;
    return a.indices(stage, Exprs.add(row, Exprs.mod(lane, 16)), column);
  }

  /** The same registers from a tile whose rows lie along M: each matrix is transposed. */
  private List<Expr> mnMajorA(Expr stage, Expr k, Expr row, Expr lane) {
    Expr at = Exprs.add(k, Exprs.mod(lane, 8));
    if (instruction.aRegisters() == 4) {
      at = Exprs.add(at, Exprs.mul(Exprs.div(lane, 16), 8));
    }
    return a.indices(stage, at, Exprs.add(row, Exprs.mul(Exprs.mod(Exprs.div(lane, 8), 2), 8)));
  }

  /**
   * Registers from single elements of a tile across K: each is of a matrix of 8 rows or columns of
   * the operand by 16 bytes along K, of which a lane has the 4 bytes {@code lane % 4} of row {@code
   * lane / 4} (PTX ISA, fragments of {@code mma.m16n8k8} and {@code mma.m16n8k32}).
   *
   * @param k where the matrix of a register begins along K
   * @param other where it begins along the operand's other dimension
   */
  private Stmt gather(
      int count,
      Buffer registers,
      Expr first,
      OperandRing ring,
      Expr stage,
      Expr lane,
      Function<Expr, Expr> k,
      Function<Expr, Expr> other) {
    int each = Float.BYTES / instruction.operand().bytes();
    return Stmts.loop(
        ForKind.UNROLLED,
        "r",
        count,
        r -> {
          Expr column = Exprs.add(other.apply(r), Exprs.div(lane, 4));
          Expr from = Exprs.add(k.apply(r), Exprs.mul(Exprs.mod(lane, 4), each));
          List<Expr> parts = new ArrayList<>();
          for (int e = 0; e < each; e++) {
            parts.add(new Expr.Load(ring.ring(), ring.indices(stage, Exprs.add(from, e), column)));
          }
          return new Stmt.Store(registers, List.of(Exprs.add(first, r)), packed(parts));
        });
  }

  /** Elements in the bytes of a register, the first in the lowest. */
  private Expr packed(List<Expr> parts) {
    if (instruction == MmaInstruction.TF32_K8) {
      return new Expr.Call(Intrinsics.CVT_RNA_TF32, parts, Type.U32);
    }
    Expr word = null;
    for (int e = 0; e < parts.size(); e++) {
      Expr part = Exprs.cast(DType.U32, new Expr.Bitcast(Type.of(DType.U8), parts.get(e)));
      Expr moved =
          e == 0 ? part : new Expr.Binary(BinaryOp.SHL, part, new Expr.IntImm(Type.U32, 8L * e));
      word = word == null ? moved : new Expr.Binary(BinaryOp.BIT_OR, word, moved);
    }
    return Objects.requireNonNull(word);
  }

  /** Columns that one ldmatrix of four matrices covers, or all there are. */
  private int group() {
    int wanted = 4 / instruction.bRegisters();
    int group = wanted;
    while (tilesN % group != 0) {
      group /= 2;
    }
    return group;
  }

  private Stmt loadB(Expr stage, Expr kk, Expr set, Expr warpColumn, Expr lane) {
    if (acrossB && instruction.operand().bytes() != 2) {
      int perTile = instruction.bRegisters();
      return gather(
          tilesN * perTile,
          bRegisters,
          Exprs.mul(set, (long) tilesN * perTile),
          b,
          stage,
          lane,
          r ->
              Exprs.add(
                  Exprs.mul(kk, instruction.k()),
                  Exprs.mul(Exprs.mod(r, perTile), instruction.rowElements())),
          r -> Exprs.add(warpColumn, Exprs.mul(Exprs.div(r, perTile), MmaInstruction.COLS)));
    }
    int group = group();
    int count = group * instruction.bRegisters();
    return Stmts.loop(
        ForKind.UNROLLED,
        "j",
        tilesN / group,
        j -> {
          Expr n = Exprs.add(warpColumn, Exprs.mul(j, (long) group * MmaInstruction.COLS));
          Expr k = Exprs.mul(kk, instruction.k());
          Expr first =
              Exprs.add(
                  Exprs.mul(set, (long) tilesN * instruction.bRegisters()), Exprs.mul(j, count));
          List<Expr> at = acrossB ? mnMajorB(stage, k, n, lane) : alongK(stage, k, n, lane, count);
          return instruction.rounded(
              read(count, acrossB, bRegisters, first, at, b), bRegisters, first, count);
        });
  }

  /** Lane 8j + r gives row r of matrix j: first along K, then to the next column tile. */
  private List<Expr> alongK(Expr stage, Expr k, Expr n, Expr lane, int count) {
    // Lanes past the matrices must still hold valid addresses on sm_75.
    Expr used = count == 4 ? lane : Exprs.mod(lane, 8L * count);
    int perTile = instruction.bRegisters();
    Expr row =
        Exprs.add(
            Exprs.add(n, Exprs.mul(Exprs.div(used, 8L * perTile), MmaInstruction.COLS)),
            Exprs.mod(lane, 8));
    Expr column =
        Exprs.add(k, Exprs.mul(Exprs.mod(Exprs.div(used, 8), perTile), instruction.rowElements()));
    return b.indices(stage, row, column);
  }

  /** The same registers from a tile whose rows lie along N: each matrix is transposed. */
  private List<Expr> mnMajorB(Expr stage, Expr k, Expr n, Expr lane) {
    int perTile = instruction.bRegisters();
    Expr row = Exprs.add(k, Exprs.mod(lane, 8L * perTile));
    Expr column = Exprs.add(n, Exprs.mul(Exprs.div(lane, 8L * perTile), MmaInstruction.COLS));
    return b.indices(stage, row, column);
  }

  private static Stmt read(
      int count, boolean transposed, Buffer to, Expr first, List<Expr> at, OperandRing ring) {
    TargetIntrinsic intrinsic =
        switch (count) {
          case 1 -> transposed ? Intrinsics.LDMATRIX_X1_TRANS : Intrinsics.LDMATRIX_X1;
          case 2 -> transposed ? Intrinsics.LDMATRIX_X2_TRANS : Intrinsics.LDMATRIX_X2;
          case 4 -> transposed ? Intrinsics.LDMATRIX_X4_TRANS : Intrinsics.LDMATRIX_X4;
          default -> throw new LoweringException("no ldmatrix of " + count + " registers");
        };
    return Exprs.evaluate(
        intrinsic, new Expr.AddressOf(to, List.of(first)), new Expr.AddressOf(ring.ring(), at));
  }

  /** The products of one depth. */
  Stmt multiply(Buffer sums, Expr kk) {
    Intrinsic multiply =
        Intrinsics.find(instruction.text())
            .orElseThrow(() -> new LoweringException("no intrinsic " + instruction.text()));
    int aCount = instruction.aRegisters();
    int bCount = instruction.bRegisters();
    Expr set = Exprs.mod(kk, 2);
    return Stmts.loop(
        ForKind.UNROLLED,
        "i",
        tilesM,
        i ->
            Stmts.loop(
                ForKind.UNROLLED,
                "j",
                tilesN,
                j ->
                    Exprs.evaluate(
                        multiply,
                        address(sums, Exprs.mul(Exprs.add(Exprs.mul(i, tilesN), j), 4)),
                        address(
                            aRegisters,
                            Exprs.add(
                                Exprs.mul(set, (long) tilesM * aCount), Exprs.mul(i, aCount))),
                        address(
                            bRegisters,
                            Exprs.add(
                                Exprs.mul(set, (long) tilesN * bCount), Exprs.mul(j, bCount))))));
  }

  private static Expr address(Buffer registers, Expr index) {
    return new Expr.AddressOf(registers, List.of(index));
  }

  /** First row of a warp in the tile. */
  Expr warpRow(FragmentLayout layout, Var tid) {
    long warpsM = layout.threadDigits().get(2).extent();
    return Exprs.mul(Exprs.mod(Exprs.div(tid, 32), warpsM), (long) tilesM * MmaInstruction.ROWS);
  }

  /** First column of a warp in the tile. */
  Expr warpColumn(FragmentLayout layout, Var tid) {
    long warpsM = layout.threadDigits().get(2).extent();
    return Exprs.mul(Exprs.div(Exprs.div(tid, 32), warpsM), (long) tilesN * MmaInstruction.COLS);
  }
}
