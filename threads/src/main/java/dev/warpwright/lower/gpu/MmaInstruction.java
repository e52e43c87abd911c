package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;

/**
 * The matrix instructions that a {@code TileMma} may name in its attribute {@code instr}. All work
 * on 16 rows by 8 columns and accumulate in f32, of bytes in i32, of f16 in f16 too; one step of K
 * is 32 bytes of each operand row (16 on sm_75).
 */
public enum MmaInstruction {
  F16_K16("mma.m16n8k16.f32.f16", DType.F16, 16),
  BF16_K16("mma.m16n8k16.f32.bf16", DType.BF16, 16),
  F16_K8("mma.m16n8k8.f32.f16", DType.F16, 8),
  F16_K16_F16("mma.m16n8k16.f16.f16", DType.F16, 16, DType.F16),
  F16_K8_F16("mma.m16n8k8.f16.f16", DType.F16, 8, DType.F16),
  TF32_K8("mma.m16n8k8.f32.tf32", DType.F32, 8),
  E4M3_K32("mma.m16n8k32.f32.e4m3", DType.F8E4M3, 32),
  E5M2_K32("mma.m16n8k32.f32.e5m2", DType.F8E5M2, 32),
  S8_K32("mma.m16n8k32.s32.s8", DType.I8, 32, DType.I32);

  public static final int ROWS = 16;
  public static final int COLS = 8;

  private final String text;
  private final DType operand;
  private final int k;
  private final DType sums;

  MmaInstruction(String text, DType operand, int k) {
    this(text, operand, k, DType.F32);
  }

  MmaInstruction(String text, DType operand, int k, DType sums) {
    this.text = text;
    this.operand = operand;
    this.k = k;
    this.sums = sums;
  }

  public static MmaInstruction parse(String text) {
    for (MmaInstruction instruction : values()) {
      if (instruction.text.equals(text)) {
        return instruction;
      }
    }
    throw new LoweringException("unknown matrix instruction '" + text + "'");
  }

  public String text() {
    return text;
  }

  /** Element type of A and B in shared memory. */
  public DType operand() {
    return operand;
  }

  /** Type of the accumulators. */
  public DType sums() {
    return sums;
  }

  /** Elements of K that one instruction consumes. */
  public int k() {
    return k;
  }

  /** Elements in the 16 bytes that ldmatrix takes from a row. */
  public int rowElements() {
    return 16 / operand.bytes();
  }

  /** 32-bit registers of A: one for each 8×16-byte matrix. */
  public int aRegisters() {
    return 2 * k / rowElements();
  }

  /** 32-bit registers of B. */
  public int bRegisters() {
    return k / rowElements();
  }

  /** tf32 operands are rounded in registers; the hardware would cut them off. */
  public Stmt rounded(Stmt load, Buffer registers, Expr first, int count) {
    if (this != TF32_K8) {
      return load;
    }
    return Stmts.seq(
        load,
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            count,
            r -> {
              List<Expr> at = List.of(Exprs.add(first, r));
              Expr value = new Expr.Bitcast(Type.F32, new Expr.Load(registers, at));
              return new Stmt.Store(
                  registers, at, new Expr.Call(Intrinsics.CVT_RNA_TF32, List.of(value), Type.U32));
            }));
  }
}
