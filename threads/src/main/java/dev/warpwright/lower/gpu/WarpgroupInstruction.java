package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import java.util.ArrayList;
import java.util.List;

/**
 * The warpgroup instruction that a {@code TileMma} names in its attribute {@code instr}, as {@code
 * wgmma.m64n256k16.f32.bf16}: each of the consumer warpgroups computes its rows of the tile, 64 at
 * a time, and all columns.
 *
 * @param intrinsic the instruction
 * @param columns of one product, those of the tile
 * @param depth elements of K of one product
 * @param rows of one product: 64, or fewer in one tile of one warpgroup
 * @param rowTiles products of so many rows that one warpgroup computes
 * @param mnMajorA whether A's tile is MN-major in the tile program
 * @param mnMajorB whether B's tile is MN-major there
 */
public record WarpgroupInstruction(
    TargetIntrinsic intrinsic,
    int columns,
    int depth,
    int rows,
    int rowTiles,
    boolean mnMajorA,
    boolean mnMajorB) {
  public static final int ROWS = WgmmaGemm.ROWS;
  public static final int THREADS = WgmmaGemm.THREADS;
  private static final String PREFIX = "wgmma.";

  /** Whether a product is for warpgroups. */
  public static boolean isNamedBy(Stmt.TileMma mma) {
    String instr = mma.attrs().getString("instr");
    return instr != null && instr.startsWith(PREFIX);
  }

  /**
   * The instruction of a product.
   *
   * @param consumers warpgroups that share the rows
   * @throws LoweringException if there is no such instruction or it does not fit the tile
   */
  public static WarpgroupInstruction of(Stmt.TileMma mma, int consumers) {
    String text = String.valueOf(mma.attrs().getString("instr"));
    Buffer c = mma.c().buffer();
    Intrinsic found = Intrinsics.find(text).orElse(null);
    if (!(found instanceof TargetIntrinsic intrinsic)) {
      throw unknown(text);
    }
    WgmmaGemm product = HopperIntrinsics.wgmma(intrinsic);
    if (product == null) {
      throw unknown(text);
    }
    long rows = c.extent(0);
    require(
        c,
        c.rank() == 2 && c.dtype() == product.accumulators(),
        "it is no matrix of " + product.accumulators() + ", in which " + text + " sums");
    require(
        c,
        c.extent(1) == product.columns(),
        text + " computes " + product.columns() + " columns, not " + c.extent(1));
    require(
        c,
        product.rows() < ROWS
            ? rows == product.rows() && consumers == 1
            : rows % ((long) ROWS * consumers) == 0,
        rows + " rows over " + consumers + " warpgroups are not 64 or a multiple of it each");
    require(
        c,
        product.mnMajorB() != mma.transposeB() || isTransposed(mma, mma.b().buffer()),
        text + " takes B stored along " + (product.mnMajorB() ? "its columns" : "K"));
    boolean fragment = mma.a().buffer().scope() == Scope.FRAGMENT;
    require(
        c,
        product.fromRegisters() == fragment,
        text
            + (fragment
                ? " takes A from shared memory, not from registers"
                : " takes A from registers, not from shared memory"));
    require(
        c,
        product.mnMajorA() == mma.transposeA() || isTransposed(mma, mma.a().buffer()),
        text + " takes A stored along " + (product.mnMajorA() ? "its rows" : "K"));
    return new WarpgroupInstruction(
        intrinsic,
        product.columns(),
        product.depth(),
        product.rows(),
        (int) (rows / product.rows() / consumers),
        mma.transposeA(),
        !mma.transposeB());
  }

  /**
   * Whether an operand has to lie in shared memory as its transpose: its tile is MN-major, and
   * instructions take elements that are not of 16 bits only if they are K-major (PTX ISA, "Strides"
   * of wgmma's shared memory layouts).
   */
  public static boolean isTransposed(Stmt.TileMma mma, Buffer operand) {
    return isNamedBy(mma)
        && operand.dtype().bytes() != 2
        && operand.scope() != Scope.FRAGMENT
        && (mma.a().buffer() == operand ? mma.transposeA() : !mma.transposeB());
  }

  private static LoweringException unknown(String text) {
    return new LoweringException("unknown warpgroup instruction '" + text + "'");
  }

  private static void require(Buffer c, boolean holds, String what) {
    if (!holds) {
      throw new LoweringException("accumulator " + c.name() + " cannot be spread: " + what);
    }
  }

  /**
   * Which thread of the consumers holds which element (PTX ISA, "Register fragments" of wgmma).
   *
   * @param consumers warpgroups
   * @param which of a product's rows a thread has
   */
  FragmentLayout accumulator(int consumers, Rows which) {
    List<Digit> digits =
        which.threads(new Digit(4, 0, 2), new Digit(consumers, (long) ROWS * rowTiles, 0));
    if (rows < ROWS) {
      // Rows are counted: of each warp sixteen.
      digits.set(2, new Digit(rows / 16, 16, 0));
    }
    return new FragmentLayout(
        (long) rows * rowTiles * consumers,
        columns,
        digits,
        List.of(
            new Digit(2, 0, 1),
            which.ofThread(),
            new Digit(columns / 8, 0, 8),
            new Digit(rowTiles, ROWS, 0)));
  }

  /**
   * Which thread of the consumers holds which element of A in registers: 64 rows for each
   * warpgroup, step of K by step of K. Of 16-bit elements it is what a product leaves in its
   * accumulators; of 32-bit elements a thread holds columns 4 apart where accumulators are
   * neighbours.
   *
   * @param consumers warpgroups
   * @param depth columns of the fragment
   * @param bytes of an element
   * @param rows which of a product's rows a thread has
   */
  static FragmentLayout operand(int consumers, long depth, int bytes, Rows rows) {
    boolean pairs = bytes == 2;
    return new FragmentLayout(
        (long) ROWS * consumers,
        depth,
        rows.threads(new Digit(4, 0, pairs ? 2 : 1), new Digit(consumers, ROWS, 0)),
        List.of(
            pairs ? new Digit(2, 0, 1) : rows.ofThread(),
            pairs ? rows.ofThread() : new Digit(2, 0, 4),
            new Digit(depth / 8, 0, 8),
            new Digit(1, ROWS, 0)));
  }

  /**
   * Which rows of 64 the two registers of each of 32 lanes and four warps are. Instructions know
   * rows by registers only; which rows those are is ours to say, if A comes from registers.
   */
  enum Rows {
    /** As PTX counts them: of a lane g and g + 8, of a warp 16 below each other. */
    COUNTED(List.of(new Digit(8, 1, 0), new Digit(4, 16, 0)), new Digit(2, 8, 0)),

    /**
     * Two below each other for each lane, so that an access moves both of an M-major tile; and of
     * the sixteen lanes of half a warp, which read four steps of K, four rows of one chunk of 16
     * bytes and four that are four chunks on. Chunks are exchanged by the lower bits of K, so these
     * meet all 32 banks of a tile in swizzled rows of 128 bytes.
     */
    PAIRED(
        List.of(
            new Digit(2, 2, 0),
            new Digit(2, 16, 0),
            new Digit(2, 4, 0),
            new Digit(2, 8, 0),
            new Digit(2, 32, 0)),
        new Digit(2, 1, 0));

    private final List<Digit> lanes;
    private final Digit ofThread;

    Rows(List<Digit> lanes, Digit ofThread) {
      this.lanes = lanes;
      this.ofThread = ofThread;
    }

    private Digit ofThread() {
      return ofThread;
    }

    private List<Digit> threads(Digit columns, Digit groups) {
      List<Digit> digits = new ArrayList<>();
      digits.add(columns);
      digits.addAll(lanes);
      digits.add(groups);
      return digits;
    }
  }

  /** Elements that a thread holds of 64 rows. */
  public int elementsPerRowTile() {
    return columns / 2;
  }
}
