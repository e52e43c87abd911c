package dev.warpwright.lower.block;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.MMajor;
import dev.warpwright.lower.gpu.MmaInstruction;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Matrix products of tiles in shared memory into accumulators in registers: by {@code mma.sync}
 * with operands read by ldmatrix, of 16 bits also with the first one in registers and the second
 * one's rows across K ({@link HeldOperand}), or by fma.
 */
final class MmaLowering {
  /** So many steps along K of a product of threads are written out. */
  private static final long UNROLLED_STEPS = 16;

  private final ThreadCode code;

  MmaLowering(ThreadCode code) {
    this.code = code;
  }

  Stmt mma(Stmt.TileMma mma) {
    String instr = mma.attrs().getString("instr");
    FragmentLayout layout = code.layout(mma.c().buffer());
    Stmt body =
        MMajor.isFor(mma)
            ? new MMajorProducts(code).product(mma)
            : instr == null || instr.equals("fma")
                ? fma(mma, layout)
                : matrix(mma, layout, MmaInstruction.parse(instr));
    return code.onThreads(layout.threads(), body);
  }

  private static long depth(Stmt.TileMma mma) {
    require(mma, !mma.transposeA(), "needs A with K contiguous");
    return Guards.extent(mma.a().tile().get(1));
  }

  // --- tensor cores
  // -------------------------------------------------------------------------------------------------

  private Stmt matrix(Stmt.TileMma mma, FragmentLayout layout, MmaInstruction instruction) {
    long depth = depth(mma);
    require(
        mma,
        mma.transposeB() || instruction.operand().bytes() == 2,
        "needs B with K contiguous, or of 16 bits");
    require(
        mma,
        depth % instruction.k() == 0,
        "has a depth of " + depth + ", no multiple of " + instruction.k());
    HeldOperand held = HeldOperand.of(mma, instruction, layout, code);
    for (Region operand : held == null ? List.of(mma.a(), mma.b()) : List.of(mma.b())) {
      require(
          mma,
          operand.buffer().scope() == Scope.SHARED
              && operand.buffer().dtype() == instruction.operand(),
          "needs " + operand.buffer().name() + " in shared memory as " + instruction.operand());
    }
    List<Digit> digits = layout.registerDigits();
    int tilesN = (int) digits.get(2).extent();
    int tilesM = (int) digits.get(3).extent();
    Expr warpRow = Exprs.mul(warpM(layout), tilesM * (long) MmaInstruction.ROWS);
    Expr warpCol = Exprs.mul(warpN(layout), tilesN * (long) MmaInstruction.COLS);
    Var lane = Var.index("lane");
    Var row = Var.index("warp_row");
    Var col = Var.index("warp_col");
    Buffer a =
        Buffer.of("a_frag", DType.U32, Scope.LOCAL, (long) tilesM * instruction.aRegisters());
    Stmt steps =
        Stmts.loop(
            ForKind.UNROLLED,
            "ks",
            depth / instruction.k(),
            step -> {
              Expr k = Exprs.mul(step, instruction.k());
              List<Stmt> body = new ArrayList<>();
              body.add(
                  Stmts.loop(
                      ForKind.UNROLLED,
                      "mi",
                      tilesM,
                      mi ->
                          held == null
                              ? loadA(mma.a(), instruction, a, mi, row, k, lane)
                              : held.load(a, mi, step)));
              int pair = tilesN % 2 == 0 ? 2 : 1;
              body.add(
                  Stmts.loop(
                      ForKind.UNROLLED,
                      "nj",
                      tilesN / pair,
                      nj -> columns(mma, instruction, a, tilesM, tilesN, pair, nj, col, k, lane)));
              return new Stmt.Alloc(a, Stmts.seq(body));
            });
    return new Stmt.Let(
        lane, code.lane(), new Stmt.Let(row, warpRow, new Stmt.Let(col, warpCol, steps)));
  }

  private Expr warpM(FragmentLayout layout) {
    long warpsM = layout.threadDigits().get(2).extent();
    return layout.threadDigits().get(3).extent() == 1
        ? code.warp()
        : Exprs.mod(code.warp(), warpsM);
  }

  private Expr warpN(FragmentLayout layout) {
    return Exprs.div(code.warp(), layout.threadDigits().get(2).extent());
  }

  /**
   * The 16 rows of A from {@code row + 16 mi} on: lane l addresses row l % 16 of the 16-byte column
   * l / 16.
   */
  private static Stmt loadA(
      Region region, MmaInstruction instruction, Buffer a, Expr mi, Expr row, Expr k, Expr lane) {
    Expr tileRow =
        Exprs.add(Exprs.add(row, Exprs.mul(mi, MmaInstruction.ROWS)), Exprs.mod(lane, 16));
    Expr column =
        instruction.aRegisters() == 4
            ? Exprs.add(k, Exprs.mul(Exprs.div(lane, 16), instruction.rowElements()))
            : k;
    Stmt load =
        Exprs.evaluate(
            instruction.aRegisters() == 4 ? Intrinsics.LDMATRIX_X4 : Intrinsics.LDMATRIX_X2,
            address(a, Exprs.mul(mi, instruction.aRegisters())),
            address(region, tileRow, column));
    return instruction.rounded(
        load, a, Exprs.mul(mi, instruction.aRegisters()), instruction.aRegisters());
  }

  /**
   * One or two neighbouring column tiles: their B registers, then the products with every row tile.
   */
  private Stmt columns(
      Stmt.TileMma mma,
      MmaInstruction instruction,
      Buffer a,
      int tilesM,
      int tilesN,
      int pair,
      Expr nj,
      Expr col,
      Expr k,
      Expr lane) {
    int registers = pair * instruction.bRegisters();
    Buffer b = Buffer.of("b_frag", DType.U32, Scope.LOCAL, registers);
    Expr n = Exprs.add(col, Exprs.mul(nj, (long) pair * MmaInstruction.COLS));
    // The 8×16-byte matrices in the order of the registers: first along K, then to the next column
    // tile.
    Expr matrix = Exprs.div(lane, 8);
    Expr tileRow =
        Exprs.add(
            Exprs.add(n, Exprs.mod(lane, 8)),
            Exprs.mul(Exprs.div(matrix, instruction.bRegisters()), 8));
    Expr column =
        Exprs.add(
            k, Exprs.mul(Exprs.mod(matrix, instruction.bRegisters()), instruction.rowElements()));
    if (registers < 4) {
      // Lanes past the matrices must still hold valid addresses on sm_75.
      Expr used = Exprs.mod(lane, 8L * registers);
      Expr usedMatrix = Exprs.div(used, 8);
      tileRow =
          Exprs.add(
              Exprs.add(n, Exprs.mod(lane, 8)),
              Exprs.mul(Exprs.div(usedMatrix, instruction.bRegisters()), 8));
      column =
          Exprs.add(
              k,
              Exprs.mul(
                  Exprs.mod(usedMatrix, instruction.bRegisters()), instruction.rowElements()));
    }
    boolean across = !mma.transposeB();
    if (across) {
      // The same registers from a tile that is MN-major: each matrix is transposed.
      int rowsOfK = 8 * instruction.bRegisters();
      tileRow = Exprs.add(k, Exprs.mod(lane, rowsOfK));
      column =
          Exprs.add(
              n,
              Exprs.mul(Exprs.div(Exprs.mod(lane, 8L * registers), rowsOfK), MmaInstruction.COLS));
    }
    TargetIntrinsic load =
        switch (registers) {
          case 1 -> across ? Intrinsics.LDMATRIX_X1_TRANS : Intrinsics.LDMATRIX_X1;
          case 2 -> across ? Intrinsics.LDMATRIX_X2_TRANS : Intrinsics.LDMATRIX_X2;
          case 4 -> across ? Intrinsics.LDMATRIX_X4_TRANS : Intrinsics.LDMATRIX_X4;
          default -> throw new LoweringException("no ldmatrix of " + registers + " registers");
        };
    Stmt loadB =
        instruction.rounded(
            Exprs.evaluate(load, address(b, Exprs.i32(0)), address(mma.b(), tileRow, column)),
            b,
            Exprs.i32(0),
            registers);
    Buffer c = code.registers(mma.c().buffer());
    Intrinsic multiply =
        Intrinsics.find(instruction.text())
            .orElseThrow(() -> new LoweringException("no intrinsic " + instruction.text()));
    Stmt products =
        Stmts.loop(
            ForKind.UNROLLED,
            "ni",
            pair,
            ni ->
                Stmts.loop(
                    ForKind.UNROLLED,
                    "mi",
                    tilesM,
                    mi ->
                        Exprs.evaluate(
                            multiply,
                            address(
                                c,
                                Exprs.mul(
                                    Exprs.add(
                                        Exprs.add(Exprs.mul(nj, pair), ni), Exprs.mul(mi, tilesN)),
                                    4)),
                            address(a, Exprs.mul(mi, instruction.aRegisters())),
                            address(b, Exprs.mul(ni, instruction.bRegisters())))));
    return new Stmt.Alloc(b, Stmts.seq(loadB, products));
  }

  private static Expr address(Buffer registers, Expr index) {
    return new Expr.AddressOf(registers, List.of(index));
  }

  private static Expr address(Region region, Expr row, Expr col) {
    return new Expr.AddressOf(region.buffer(), Guards.indices(region, List.of(row, col)));
  }

  // --- fma
  // ----------------------------------------------------------------------------------------------------------

  private Stmt fma(Stmt.TileMma mma, FragmentLayout layout) {
    List<Digit> digits = layout.registerDigits();
    int vec = (int) digits.get(0).extent();
    int runs = (int) digits.get(1).extent();
    int rows = (int) digits.get(2).extent();
    Buffer b = Buffer.of("b_frag", DType.F32, Scope.LOCAL, (long) runs * vec);
    Buffer c = code.registers(mma.c().buffer());
    Var row = Var.index("row");
    Var col = Var.index("col");
    Var k = Var.index("k");
    long depth = depth(mma);
    int along = alongK(mma, depth);
    Buffer a = Buffer.of("a_frag", DType.F32, Scope.LOCAL, (long) rows * along);
    List<Stmt> products = new ArrayList<>();
    products.add(
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            rows,
            r -> {
              Expr at = Exprs.add(row, Exprs.mul(r, digits.get(2).rowStep()));
              return along == 1
                  ? new Stmt.Store(a, List.of(r), element(mma.a(), at, k))
                  : ThreadCode.move(
                      a,
                      List.of(Exprs.mul(r, along)),
                      mma.a().buffer(),
                      Guards.indices(mma.a(), List.of(at, Exprs.mul(k, along))),
                      along);
            }));
    Function<Expr, Stmt> one =
        j -> {
          Expr depthOfB = along == 1 ? k : Exprs.add(Exprs.mul(k, along), j);
          Stmt load =
              Stmts.loop(
                  ForKind.UNROLLED,
                  "s",
                  runs,
                  s -> {
                    Expr first = Exprs.add(col, Exprs.mul(s, digits.get(1).colStep()));
                    return loadRun(mma, b, s, vec, first, depthOfB);
                  });
          Stmt multiply =
              Stmts.loop(
                  ForKind.UNROLLED,
                  "r",
                  rows,
                  r ->
                      Stmts.loop(
                          ForKind.UNROLLED,
                          "n",
                          (long) runs * vec,
                          n -> {
                            Expr column = along == 1 ? n : toAndFro(r, n, (long) runs * vec);
                            List<Expr> at =
                                List.of(Exprs.add(Exprs.mul(r, (long) runs * vec), column));
                            Expr left = Exprs.load(a, Exprs.add(Exprs.mul(r, along), j));
                            Expr right = Exprs.load(b, column);
                            return new Stmt.Store(
                                c, at, Exprs.fma(left, right, new Expr.Load(c, at)));
                          }));
          return Stmts.seq(load, multiply);
        };
    products.add(
        along == 1 ? one.apply(Exprs.i32(0)) : Stmts.loop(ForKind.UNROLLED, "j", along, one));
    Stmt step = Stmts.alloc(List.of(a, b), Stmts.seq(products));
    // Said here, so that it does not depend on the compiler's taste: registers do.
    Stmt steps =
        Stmt.For.of(ForKind.SERIAL, k, Exprs.i32(depth / along), step)
            .withAttrs(Attrs.NONE.with("unroll", UNROLLED_STEPS / along));
    return new Stmt.Let(
        row,
        layout.rowOfThread(code.thread()),
        new Stmt.Let(col, layout.colOfThread(code.thread()), steps));
  }

  /** The columns of odd rows backwards: where one row ends, the next has the operand at hand. */
  private static Expr toAndFro(Expr row, Expr column, long columns) {
    Expr back = Exprs.eq(Exprs.mod(row, 2), Exprs.i32(1));
    return Exprs.select(back, Exprs.sub(Exprs.i32(columns - 1), column), column);
  }

  /**
   * Elements of a row of A that one access takes: as many as the product's attribute {@code vecK}
   * says, where they are contiguous in shared memory.
   */
  private static int alongK(Stmt.TileMma mma, long depth) {
    int wanted = Math.toIntExact(mma.attrs().getLong("vecK", 1));
    Buffer from = mma.a().buffer();
    boolean vectors =
        from.dtype() == DType.F32
            && from.scope() == Scope.SHARED
            && from.rank() == 2
            && mma.a().tile().size() == 2
            && (from.layout() == null ? from.extent(1) : from.layout().offset(1, 0)) % wanted == 0
            && depth % wanted == 0
            && CopyLowering.multipleOf(mma.a().ranges().get(1).min(), wanted);
    return vectors ? wanted : 1;
  }

  /**
   * {@code vec} neighbouring columns of B at depth k, in one access where they are contiguous and
   * of the right type.
   */
  private static Stmt loadRun(Stmt.TileMma mma, Buffer b, Expr s, int vec, Expr col, Expr k) {
    Buffer from = mma.b().buffer();
    Expr at = Exprs.mul(s, vec);
    long pitch = from.layout() == null ? from.extent(1) : from.layout().offset(1, 0);
    if (!mma.transposeB()
        && from.dtype() == DType.F32
        && from.scope() == Scope.SHARED
        && pitch % vec == 0
        && Long.bitCount(vec) == 1
        && vec <= 4) {
      List<Expr> indices = Guards.indices(mma.b(), List.of(k, col));
      return ThreadCode.move(b, List.of(at), from, indices, vec);
    }
    return Stmts.loop(
        ForKind.UNROLLED,
        "v",
        vec,
        v -> {
          Expr n = Exprs.add(col, v);
          return new Stmt.Store(
              b,
              List.of(Exprs.add(at, v)),
              mma.transposeB() ? element(mma.b(), n, k) : element(mma.b(), k, n));
        });
  }

  private static Expr element(Region region, Expr row, Expr col) {
    List<Range> tile = region.tile();
    if (tile.size() != 2 && region.buffer().rank() != 2) {
      throw new LoweringException("operand " + region.buffer().name() + " is not a matrix");
    }
    List<Expr> indices = new ArrayList<>();
    List<Range> ranges = region.ranges();
    indices.add(Exprs.add(ranges.get(0).min(), row));
    indices.add(Exprs.add(ranges.get(1).min(), col));
    return Exprs.cast(DType.F32, new Expr.Load(region.buffer(), indices));
  }

  static void require(Stmt.TileMma mma, boolean holds, String what) {
    if (!holds) {
      throw new LoweringException("the GEMM into " + mma.c().buffer().name() + " " + what);
    }
  }
}
