package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Intrinsic.Access;
import dev.warpwright.ir.Intrinsic.Collective;
import dev.warpwright.ir.Intrinsic.Operand;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.ir.type.Type;
import dev.warpwright.target.intrinsic.MatrixMeanings.Input;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Computes;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Drives;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Effect;
import dev.warpwright.target.intrinsic.TargetIntrinsic.SyncKind;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Synchronises;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Unit;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The table of intrinsics. Where an operand takes any element type, its elements are counted in
 * bytes.
 *
 * <p>Fragments of 16-bit and tf32 inputs are {@code u32} registers, accumulators {@code f32}.
 */
public final class Intrinsics {
  private static final Map<String, TargetIntrinsic> BY_NAME = new LinkedHashMap<>();

  private static final Set<Scope> LOCAL = Set.of(Scope.LOCAL);
  private static final Set<Scope> SHARED = Set.of(Scope.SHARED);
  private static final Set<Scope> GLOBAL = Set.of(Scope.GLOBAL);

  /** All threads of the block wait for each other. */
  public static final TargetIntrinsic SYNC_THREADS =
      sync("sync_threads", Collective.BLOCK, SyncKind.BLOCK_BARRIER, "__syncthreads", "bar.sync");

  /** All threads of the warp wait for each other. */
  public static final TargetIntrinsic SYNC_WARP =
      sync("sync_warp", Collective.WARP, SyncKind.WARP_BARRIER, "__syncwarp", "bar.warp.sync");

  /** {@code (dst[1], row)}: one 8×8 matrix of 16-bit elements; lanes 0 to 7 give its rows. */
  public static final TargetIntrinsic LDMATRIX_X1 = ldmatrix(1, false);

  /** {@code (dst[2], row)}: two matrices; lanes 0 to 15 give their rows. */
  public static final TargetIntrinsic LDMATRIX_X2 = ldmatrix(2, false);

  /** {@code (dst[4], row)}: four matrices; lane 8j + r gives row r of matrix j. */
  public static final TargetIntrinsic LDMATRIX_X4 = ldmatrix(4, false);

  /** As {@link #LDMATRIX_X1}, the matrix transposed on the way. */
  public static final TargetIntrinsic LDMATRIX_X1_TRANS = ldmatrix(1, true);

  /** As {@link #LDMATRIX_X2}, each matrix transposed on the way. */
  public static final TargetIntrinsic LDMATRIX_X2_TRANS = ldmatrix(2, true);

  /** As {@link #LDMATRIX_X4}, each matrix transposed on the way. */
  public static final TargetIntrinsic LDMATRIX_X4_TRANS = ldmatrix(4, true);

  /** {@code (row, src[4])}: the inverse of {@link #LDMATRIX_X4}. */
  public static final TargetIntrinsic STMATRIX_X4 = stmatrix(4, false);

  /** {@code (row, src[4])}: the inverse of {@link #LDMATRIX_X4_TRANS}. */
  public static final TargetIntrinsic STMATRIX_X4_TRANS = stmatrix(4, true);

  /** The same of two matrices. */
  public static final TargetIntrinsic STMATRIX_X2_TRANS = stmatrix(2, true);

  /** {@code (d[4], a[4], b[2])}: D = A·B + D of 16×16 by 16×8, f16 into f32. */
  public static final TargetIntrinsic MMA_M16N8K16_F16 = mma(16, Input.F16, 80);

  /** {@code (d[4], a[4], b[2])}: D = A·B + D of 16×16 by 16×8, f16 into f16. */
  public static final TargetIntrinsic MMA_M16N8K16_F16_F16 = halfMma(16, 80);

  /** {@code (d[4], a[2], b[1])}: D = A·B + D of 16×8 by 8×8, f16 into f16. */
  public static final TargetIntrinsic MMA_M16N8K8_F16_F16 = halfMma(8, 75);

  /** {@code (d[4], a[4], b[2])}: D = A·B + D of 16×16 by 16×8, bf16 into f32. */
  public static final TargetIntrinsic MMA_M16N8K16_BF16 = mma(16, Input.BF16, 80);

  /** {@code (d[4], a[2], b[1])}: D = A·B + D of 16×8 by 8×8, f16 into f32. */
  public static final TargetIntrinsic MMA_M16N8K8_F16 = mma(8, Input.F16, 75);

  /** {@code (d[4], a[4], b[2])}: D = A·B + D of 16×8 by 8×8, tf32 into f32. */
  public static final TargetIntrinsic MMA_M16N8K8_TF32 = mma(8, Input.TF32, 80);

  /** {@code (d[4], a[4], b[2])}: D = A·B + D of 16×32 by 32×8, 8-bit floats into f32. */
  public static final TargetIntrinsic MMA_M16N8K32_E4M3 = mma(32, Input.E4M3, 89);

  /** {@code (d[4], a[4], b[2])}: the same of e5m2. */
  public static final TargetIntrinsic MMA_M16N8K32_E5M2 = mma(32, Input.E5M2, 89);

  /** {@code (d[4], a[4], b[2])}: D = A·B + D of 16×32 by 32×8, signed bytes into i32. */
  public static final TargetIntrinsic MMA_M16N8K32_S8 =
      mma(
          "mma.m16n8k32.s32.s8",
          32,
          "s8",
          DType.I32,
          1,
          new Computes(MatrixMeanings.integerMma(32), warpProduct(32)),
          80);

  /**
   * {@code (dst, src, srcBytes)}: starts to copy 16 bytes, both addresses aligned to them, past L1;
   * what lies beyond the first {@code srcBytes} (a multiple of 4) is not read and becomes zero.
   */
  public static final TargetIntrinsic CP_ASYNC_16 = cpAsync(16, "cg");

  /** As {@link #CP_ASYNC_16}, 8 bytes, through L1. */
  public static final TargetIntrinsic CP_ASYNC_8 = cpAsync(8, "ca");

  /** As {@link #CP_ASYNC_16}, 4 bytes, through L1. */
  public static final TargetIntrinsic CP_ASYNC_4 = cpAsync(4, "ca");

  /** The text of {@link #guarded}. */
  private static final Map<TargetIntrinsic, String> GUARDED =
      Map.of(
          CP_ASYNC_16, CudaWrappers.cpAsyncIf(16, "cg"),
          CP_ASYNC_8, CudaWrappers.cpAsyncIf(8, "ca"),
          CP_ASYNC_4, CudaWrappers.cpAsyncIf(4, "ca"));

  /** Closes this thread's group of asynchronous copies. */
  public static final TargetIntrinsic CP_ASYNC_COMMIT =
      add(
          "cp.async.commit",
          Collective.THREAD,
          List.of(),
          null,
          new Synchronises(SyncKind.ASYNC_COMMIT),
          80,
          CudaWrappers.CP_ASYNC_COMMIT,
          "PTX ISA, cp.async.commit_group");

  /** {@code (n)}: waits until at most n (a constant) of this thread's groups are unfinished. */
  public static final TargetIntrinsic CP_ASYNC_WAIT =
      add(
          "cp.async.wait",
          Collective.THREAD,
          List.of(value("pending", DType.I32)),
          null,
          new Synchronises(SyncKind.ASYNC_WAIT),
          80,
          CudaWrappers.CP_ASYNC_WAIT,
          "PTX ISA, cp.async.wait_group");

  /** {@code (value, laneMask)}: the value of the lane whose number differs by the mask. */
  public static final TargetIntrinsic SHFL_XOR_F32 =
      add(
          "shfl.xor.f32",
          Collective.WARP,
          List.of(value("value", DType.F32), value("laneMask", DType.I32)),
          Type.F32,
          new Computes(MatrixMeanings.shuffle((lane, mask) -> lane ^ mask)),
          75,
          CudaWrappers.SHFL_XOR_F32,
          "PTX ISA, shfl.sync");

  /** {@code (value, lane)}: the value of that lane. */
  public static final TargetIntrinsic SHFL_IDX_F32 =
      add(
          "shfl.idx.f32",
          Collective.WARP,
          List.of(value("value", DType.F32), value("lane", DType.I32)),
          Type.F32,
          new Computes(MatrixMeanings.shuffle((lane, from) -> from)),
          75,
          CudaWrappers.SHFL_IDX_F32,
          "PTX ISA, shfl.sync");

  /** {@code (x)}: f32 rounded to tf32, ties away from zero; the bits of an f32. */
  public static final TargetIntrinsic CVT_RNA_TF32 =
      add(
          "cvt.rna.tf32",
          Collective.THREAD,
          List.of(value("x", DType.F32)),
          Type.U32,
          new Computes(LaneMeanings.tf32()),
          80,
          CudaWrappers.CVT_RNA_TF32,
          "PTX ISA, cvt");

  /** {@code (x)}: zero for what is negative. NaN stays one. */
  public static final TargetIntrinsic RELU_F32 =
      add(
          "relu.f32",
          Collective.THREAD,
          List.of(value("x", DType.F32)),
          Type.F32,
          new Computes(LaneMeanings.rectified()),
          80,
          CudaWrappers.RELU_F32,
          "PTX ISA, max");

  /**
   * {@code (x)}: x, in a register of its own. What a vector store takes lies in neighbouring
   * registers; accumulators that must do so all along meet in register banks.
   */
  public static final TargetIntrinsic COPY_F32 =
      add(
          "copy.f32",
          Collective.THREAD,
          List.of(value("x", DType.F32)),
          Type.F32,
          new Computes(LaneMeanings.copied()),
          75,
          CudaWrappers.COPY_F32,
          "PTX ISA, prmt");

  /** {@code (a, b, c)}: a · b + c, rounded once, and no less than 0, no more than 1; 0 for NaN. */
  public static final TargetIntrinsic FMA_SAT_F32 =
      add(
          "fma.sat.f32",
          Collective.THREAD,
          List.of(value("a", DType.F32), value("b", DType.F32), value("c", DType.F32)),
          Type.F32,
          new Computes(LaneMeanings.saturatedFma()),
          75,
          CudaWrappers.FMA_SAT_F32,
          "PTX ISA, fma");

  /** {@code (lo, hi)}: two f32 rounded to f16, the first in the low half. */
  public static final TargetIntrinsic PACK_F16X2 =
      pack("pack.f16x2", Numerics::f16Bits, 75, CudaWrappers.PACK_F16X2);

  /** {@code (lo, hi)}: two f32 rounded to bf16, the first in the low half. */
  public static final TargetIntrinsic PACK_BF16X2 =
      pack("pack.bf16x2", Numerics::bf16Bits, 80, CudaWrappers.PACK_BF16X2);

  /**
   * {@code (lo, hi)}: as {@link #PACK_F16X2}, but zero for what is negative. NaN stays one, which
   * {@code max} with zero would not keep.
   */
  public static final TargetIntrinsic PACK_RELU_F16X2 =
      pack(
          "pack.relu.f16x2",
          x -> Numerics.f16Bits(LaneMeanings.relu(x)),
          80,
          CudaWrappers.PACK_RELU_F16X2);

  /** {@code (lo, hi)}: as {@link #PACK_BF16X2}, but zero for what is negative. */
  public static final TargetIntrinsic PACK_RELU_BF16X2 =
      pack(
          "pack.relu.bf16x2",
          x -> Numerics.bf16Bits(LaneMeanings.relu(x)),
          80,
          CudaWrappers.PACK_RELU_BF16X2);

  /** {@code (lo, hi)}: two f16 as they are, the first in the low half. */
  public static final TargetIntrinsic JOIN_F16X2 =
      pair("join.f16x2", DType.F16, Numerics::f16Bits, 75, CudaWrappers.JOIN_F16X2, "PTX ISA, mov");

  /** {@code (lo, hi)}: as {@link #JOIN_F16X2}, but zero for what is negative; NaN stays one. */
  public static final TargetIntrinsic JOIN_RELU_F16X2 =
      pair(
          "join.relu.f16x2",
          DType.F16,
          x -> Numerics.f16Bits(LaneMeanings.relu(x)),
          80,
          CudaWrappers.JOIN_RELU_F16X2,
          "PTX ISA, max");

  /** {@code (pair)}: the f16 in the low half, which {@link #PACK_F16X2} put there, as f32. */
  public static final TargetIntrinsic UNPACK_LOW_F16X2 =
      unpack("unpack.low.f16x2", pair -> Float.float16ToFloat((short) pair));

  /** {@code (pair)}: the f16 in the high half as f32. */
  public static final TargetIntrinsic UNPACK_HIGH_F16X2 =
      unpack("unpack.high.f16x2", pair -> Float.float16ToFloat((short) (pair >>> 16)));

  /** {@code (pair)}: the bf16 in the low half as f32. */
  public static final TargetIntrinsic UNPACK_LOW_BF16X2 =
      unpack("unpack.low.bf16x2", pair -> Float.intBitsToFloat(pair << 16));

  /** {@code (pair)}: the bf16 in the high half as f32. */
  public static final TargetIntrinsic UNPACK_HIGH_BF16X2 =
      unpack("unpack.high.bf16x2", pair -> Float.intBitsToFloat(pair & 0xFFFF0000));

  /** The number of the SM that the thread runs on. */
  public static final TargetIntrinsic SM_ID =
      clock("sm.id", Type.U32, CudaWrappers.SM_ID, "PTX ISA, %smid");

  /** Nanoseconds that pass alike on all SMs; how often they are counted is not said. */
  public static final TargetIntrinsic GLOBAL_TIMER =
      clock("global.timer", Type.of(DType.U64), CudaWrappers.GLOBAL_TIMER, "PTX ISA, %globaltimer");

  static {
    BY_NAME.put(CacheHints.PREFETCH_L2.text(), CacheHints.PREFETCH_L2);
    for (List<TargetIntrinsic> table :
        List.of(VectorIntrinsics.TABLE, HopperIntrinsics.TABLE, CounterIntrinsics.TABLE)) {
      table.forEach(intrinsic -> BY_NAME.put(intrinsic.text(), intrinsic));
    }
  }

  private Intrinsics() {}

  /**
   * {@return the intrinsic of this name in the text form}
   *
   * @param text its name, as {@code mma.m16n8k16.f32.bf16}
   */
  public static Optional<Intrinsic> find(String text) {
    return Optional.ofNullable(BY_NAME.get(text));
  }

  /** {@return all intrinsics, in the order of the table} */
  public static Collection<TargetIntrinsic> all() {
    return Collections.unmodifiableCollection(BY_NAME.values());
  }

  private static TargetIntrinsic add(
      String text,
      Collective collective,
      List<Operand> operands,
      @Nullable Type result,
      Effect effect,
      int minimumArch,
      String cuda,
      String source) {
    TargetIntrinsic intrinsic =
        new TargetIntrinsic(
            text, collective, operands, result, effect, minimumArch, false, cuda, source);
    BY_NAME.put(text, intrinsic);
    return intrinsic;
  }

  private static TargetIntrinsic sync(
      String text, Collective collective, SyncKind kind, String builtIn, String section) {
    return add(
        text,
        collective,
        List.of(),
        null,
        new Synchronises(kind),
        75,
        builtIn,
        "PTX ISA, " + section);
  }

  private static TargetIntrinsic clock(String text, Type result, String cuda, String source) {
    return add(
        text, Collective.THREAD, List.of(), result, new Drives(Unit.CLOCK), 75, cuda, source);
  }

  private static TargetIntrinsic ldmatrix(int matrices, boolean transposed) {
    return add(
        "ldmatrix.x" + matrices + (transposed ? ".trans" : ""),
        Collective.WARP,
        List.of(
            new Operand("dst", DType.U32, LOCAL, Access.WRITE, matrices),
            new Operand("row", null, SHARED, Access.READ, 16)),
        null,
        new Computes(MatrixMeanings.ldmatrix(matrices, transposed), new Work.MatrixMove(matrices)),
        75,
        CudaWrappers.ldmatrix(matrices, transposed),
        "PTX ISA, ldmatrix");
  }

  private static TargetIntrinsic stmatrix(int matrices, boolean transposed) {
    return add(
        "stmatrix.x" + matrices + (transposed ? ".trans" : ""),
        Collective.WARP,
        List.of(
            new Operand("row", null, SHARED, Access.WRITE, 16),
            new Operand("src", DType.U32, LOCAL, Access.READ, matrices)),
        null,
        new Computes(MatrixMeanings.stmatrix(matrices, transposed), new Work.MatrixMove(matrices)),
        90,
        CudaWrappers.stmatrix(matrices, transposed),
        "PTX ISA, stmatrix");
  }

  /** The shape that products of a warp have, but for their depth. */
  private static Work warpProduct(int depth) {
    return new Work.Mma(16, 8, depth);
  }

  private static TargetIntrinsic mma(int k, Input input, int minimumArch) {
    String type = input.name().toLowerCase(Locale.ROOT);
    return mma(
        "mma.m16n8k" + k + ".f32." + type,
        k,
        type,
        DType.F32,
        input.bytes(),
        new Computes(MatrixMeanings.mma(k, input), warpProduct(k)),
        minimumArch);
  }

  private static TargetIntrinsic halfMma(int k, int minimumArch) {
    return mma(
        "mma.m16n8k" + k + ".f16.f16",
        k,
        "f16",
        DType.F16,
        Input.F16.bytes(),
        new Computes(MatrixMeanings.halfMma(k), warpProduct(k)),
        minimumArch);
  }

  /**
   * A product of a warp.
   *
   * @param type of the operands in the instruction's text
   * @param bytes of an element of the operands
   */
  private static TargetIntrinsic mma(
      String text, int k, String type, DType sums, int bytes, Computes meaning, int minimumArch) {
    int perRegister = 4 / bytes;
    int aRegisters = 16 * k / 32 / perRegister;
    int bRegisters = 8 * k / 32 / perRegister;
    return add(
        text,
        Collective.WARP,
        List.of(
            new Operand("d", sums, LOCAL, Access.READ_WRITE, 4),
            new Operand("a", DType.U32, LOCAL, Access.READ, aRegisters),
            new Operand("b", DType.U32, LOCAL, Access.READ, bRegisters)),
        null,
        meaning,
        minimumArch,
        CudaWrappers.mma(text, k, type, sums, aRegisters, bRegisters),
        "PTX ISA, matrix fragments for mma.m16n8k" + k);
  }

  /**
   * Definition of the CUDA function that does what the intrinsic does if its first argument, before
   * the intrinsic's own, is true, and nothing otherwise, without a branch. Its name is {@link
   * TargetIntrinsic#guardedFunction}.
   *
   * @param intrinsic of any kind
   * @return nothing unless the intrinsic is an asynchronous copy of a thread
   */
  public static Optional<String> guarded(TargetIntrinsic intrinsic) {
    return Optional.ofNullable(GUARDED.get(intrinsic));
  }

  private static TargetIntrinsic cpAsync(int bytes, String cache) {
    return add(
        "cp.async." + bytes,
        Collective.THREAD,
        List.of(
            new Operand("dst", null, SHARED, Access.WRITE, bytes),
            new Operand("src", null, GLOBAL, Access.READ, bytes),
            value("srcBytes", DType.I32)),
        null,
        new Computes(LaneMeanings.asyncCopy(bytes), new Work.AsynchronousCopy()),
        80,
        CudaWrappers.cpAsync(bytes, cache),
        "PTX ISA, cp.async");
  }

  private static TargetIntrinsic pack(
      String text, LaneMeanings.HalfBits round, int minimumArch, String cuda) {
    return pair(text, DType.F32, round, minimumArch, cuda, "PTX ISA, cvt");
  }

  private static TargetIntrinsic pair(
      String text,
      DType halves,
      LaneMeanings.HalfBits bits,
      int minimumArch,
      String cuda,
      String source) {
    return add(
        text,
        Collective.THREAD,
        List.of(value("lo", halves), value("hi", halves)),
        Type.U32,
        new Computes(LaneMeanings.pack(bits)),
        minimumArch,
        cuda,
        source);
  }

  private static TargetIntrinsic unpack(String text, LaneMeanings.HalfValue half) {
    return add(
        text,
        Collective.THREAD,
        List.of(value("pair", DType.U32)),
        Type.F32,
        new Computes(LaneMeanings.unpack(half)),
        75,
        CudaWrappers.unpack(text),
        "PTX ISA, cvt");
  }

  private static Operand value(String name, DType dtype) {
    return new Operand(name, dtype, Set.of(), Access.NONE, 1);
  }
}
