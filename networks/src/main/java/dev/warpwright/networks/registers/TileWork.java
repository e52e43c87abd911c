package dev.warpwright.networks.registers;

import static dev.warpwright.networks.registers.ChainNumber.LOAD;
import static dev.warpwright.networks.registers.ChainNumber.NARROW_LOAD;
import static dev.warpwright.networks.registers.ChainNumber.NARROW_STORE;
import static dev.warpwright.networks.registers.ChainNumber.PUT;
import static dev.warpwright.networks.registers.ChainNumber.PUT_ELEMENT;
import static dev.warpwright.networks.registers.ChainNumber.STORE;
import static dev.warpwright.networks.registers.ChainNumber.VECTOR;
import static dev.warpwright.networks.registers.ChainNumber.VECTOR_WAIT;
import static dev.warpwright.networks.registers.ChainNumber.WORD_LOAD;
import static dev.warpwright.networks.registers.ChainNumber.WORD_STORE;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.NetworkFunction.Update;
import dev.warpwright.networks.stages.FormulaReads;
import dev.warpwright.networks.stages.FormulaWork;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.target.Calibration;
import java.util.ArrayList;
import java.util.List;

/**
 * What all that is no product takes of one tile of rows that is carried in registers.
 *
 * @param issued slots in which a warp issues an instruction
 * @param functions calls of a warp that function units compute
 * @param code instructions: loops are unrolled, so each stands there for each element of a thread
 * @param loads clocks of an SM's path to memory, by instructions
 * @param bytes from and to memory
 * @param waits clocks in which a warp that is alone waits for what its lanes exchange
 */
record TileWork(
    double issued, double functions, double code, double loads, double bytes, double waits) {
  private static final int WARP = 32;

  /** Slots of a comparison, or a choice: half of the lanes have units for them. */
  private static final int CHOICE = 2;

  /** What makes an element's reciprocal of the one that it shares. */
  private static final int SHARED = 2;

  /** One instruction rounds two elements and packs them. */
  private static final double ROUNDED = 0.5;

  /** Instructions of a load or a store: addresses, and guards against rows past the end. */
  private static final int LOAD_CODE = 5;

  private static final int WORD = 4;
  private static final int VECTOR_BYTES = 16;

  /** Instructions of a vector that leaves shared memory: its place in rows of any length. */
  private static final int STORED_CODE = 10;

  /** Lanes that share a row, and instructions by which they exchange what each has of it. */
  private static final int LANES = 4;

  private static final int EXCHANGE = 4;

  /** Clocks of an exchange among two lanes, and from an addition to the next to the same sum. */
  private static final double SHUFFLE = 24;

  private static final double ADDITION = 4;

  static final TileWork NONE = new TileWork(0, 0, 0, 0, 0, 0);

  /**
   * Of a network, what stands ahead of its first product, and behind each until the next one.
   *
   * @param fitted for a device
   * @param rows of a tile
   * @param warps that share them
   * @param staged whether results whose rows fill no vectors leave through shared memory
   */
  static List<TileWork> layers(
      Calibration.Numbers<ChainNumber> fitted,
      StageGroup group,
      long rows,
      int warps,
      boolean staged) {
    double lanes = (double) rows / (WARP * warps);
    List<TileWork> layers = new ArrayList<>();
    TileWork all = NONE;
    for (Stage stage : group.stages()) {
      switch (stage) {
        case Load load ->
            all =
                all.plus(
                    moved(
                        load.from(),
                        rows,
                        lanes,
                        warps,
                        fitted.at(vectors(load.from()) ? LOAD : WORD_LOAD),
                        fitted.at(NARROW_LOAD)));
        case Store store ->
            all =
                all.plus(
                    staged && StoredResults.suit(store)
                        ? stored(fitted, store.to(), rows, lanes, warps)
                        : moved(
                            store.to(),
                            rows,
                            lanes,
                            warps,
                            fitted.at(vectors(store.to()) ? STORE : WORD_STORE),
                            fitted.at(NARROW_STORE)));
        case Map map -> {
          // In f32 for rows to be reduced from; tf32, of which none are, is rounded.
          double rounded = map.to().dtype() == DType.F32 && group.reduces() ? 0 : ROUNDED;
          double elements = map.to().extent(1) * lanes;
          all = all.plus(formula(fitted, group, map, elements, rounded));
        }
        case Reduction reduction -> {
          double elements = group.columns(reduction) * lanes;
          all = all.plus(formula(fitted, group, reduction, elements, 0));
          all = all.plus(exchanged(LANES * lanes, group.columns(reduction)));
        }
        case Matmul _ -> {
          layers.add(all);
          all = NONE;
        }
        case Update _ -> {}
      }
    }
    layers.add(all);
    return layers;
  }

  private static TileWork moved(
      Buffer matrix, long rows, double lanes, int warps, double word, double narrow) {
    long bytes = matrix.extent(1) * matrix.dtype().bytes();
    boolean whole = bytes % WORD == 0;
    double moves = lanes * bytes / (whole ? WORD : matrix.dtype().bytes());
    return new TileWork(
        moves,
        0,
        LOAD_CODE * moves,
        moves * warps * (whole ? word : narrow),
        (double) rows * bytes,
        0);
  }

  /** Whether rows are multiples of 16 bytes. */
  private static boolean vectors(Buffer matrix) {
    return matrix.extent(1) * matrix.dtype().bytes() % VECTOR_BYTES == 0;
  }

  /**
   * What leaves through shared memory: a thread's pairs, or elements where rows are no words, there
   * and words back, by vectors.
   */
  private static TileWork stored(
      Calibration.Numbers<ChainNumber> fitted, Buffer matrix, long rows, double lanes, int warps) {
    double bytes = (double) matrix.extent(1) * matrix.dtype().bytes();
    double words = lanes * bytes / WORD;
    boolean pairs = bytes % WORD == 0;
    double put = pairs ? words : 2 * words;
    double vectors = lanes * bytes / VECTOR_BYTES;
    double issued = put + STORED_CODE * vectors;
    return new TileWork(
        issued,
        0,
        2 * put + STORED_CODE * vectors,
        warps * (words * fitted.at(STORE) + put * fitted.at(pairs ? PUT : PUT_ELEMENT)),
        rows * bytes,
        0);
  }

  /**
   * What lanes exchange of their rows.
   *
   * @param rows of a thread
   * @param columns that are reduced, of which a lane has a part
   */
  private static TileWork exchanged(double rows, long columns) {
    double issued = EXCHANGE * rows;
    double own = (double) columns / LANES * ADDITION;
    return new TileWork(issued, 0, issued, 0, 0, own + 2 * (SHUFFLE + ADDITION));
  }

  private static TileWork formula(
      Calibration.Numbers<ChainNumber> fitted,
      StageGroup group,
      Stage stage,
      double elements,
      double rounded) {
    FormulaWork work = FormulaWork.of(group, stage);
    FormulaReads reads = FormulaReads.of(group, stage);
    // Where a choice is all there is, packing makes it: cvt.relu.
    int choices = reads.functions() ? work.choices() : 0;
    double vectors = fitted.at(VECTOR) * reads.columns();
    double shared = rounded > 0 ? work.shared() : 0;
    double functions = work.functions() - shared / 2;
    double simple = work.simple() + SHARED * shared;
    double issued = simple + CHOICE * choices + rounded + functions + vectors;
    double code = simple + choices + rounded + functions + vectors;
    double waits = reads.columns() > 0 ? fitted.at(VECTOR_WAIT) : 0;
    return new TileWork(elements * issued, elements * functions, elements * code, 0, 0, waits);
  }

  TileWork plus(TileWork more) {
    return new TileWork(
        issued + more.issued,
        functions + more.functions,
        code + more.code,
        loads + more.loads,
        bytes + more.bytes,
        waits + more.waits);
  }
}
