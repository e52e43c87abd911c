package dev.warpwright.sim;

import dev.warpwright.ir.Kernel;
import java.util.SplittableRandom;

/**
 * Random kernels: shared, local and global memory, barriers, loops, branches, what warps do. About
 * half of them do something undefined.
 */
final class RandomGridKernels {
  private static final String[] INDICES = {
    "tid",
    "63 - tid",
    "(tid + 32) % 64",
    "tid * 3 % 64",
    "tid / 2",
    "tid % 16 * 4",
    "(tid + 1) % 64",
    "tid + 1",
    "7",
  };

  private final SplittableRandom random;
  private final StringBuilder text = new StringBuilder();
  private int names;

  /** Whether lanes of a warp exchange values. */
  private final boolean warps;

  private RandomGridKernels(long seed, boolean warps) {
    this.random = new SplittableRandom(seed);
    this.warps = warps;
  }

  static Kernel of(long seed) {
    return KernelTexts.parse(new RandomGridKernels(seed, false).kernel());
  }

  /** With shuffles, matrix loads and asynchronous copies. */
  static Kernel ofWarps(long seed) {
    return KernelTexts.parse(new RandomGridKernels(seed, true).kernel());
  }

  private String kernel() {
    text.append(
        """
        kernel random(x: f32[128], n: i32[64], y: f32[128], z: f32[128]) grid(bx = 2) block(tid = 64) {
          alloc s: f32[64] shared align 16
          alloc t: f32[4, 20] shared align 16
          alloc m: i32[64] shared
          alloc r: f32[8] local align 16
          alloc acc: f32[4] local
          s[tid] = x[bx * 64 + tid]
          m[tid] = n[tid]
          t[tid / 16, tid % 16] = x[tid]
          unroll i in 4 {
            acc[i] = 1.0f32
            r[i] = f32(i)
            r[i + 4] = 0.5f32
          }
          sync_threads()
        """);
    if (warps) {
      text.append("  alloc t16: f16[16, 16] shared align 16\n");
      text.append("  unroll i in 4 {\n");
      text.append("    t16[tid / 4, tid % 4 * 4 + i] = f16(x[tid + i])\n  }\n");
      text.append("  sync_threads()\n");
    }
    int count = 3 + random.nextInt(6);
    for (int i = 0; i < count; i++) {
      statement(1, true);
    }
    text.append("  y[bx * 64 + tid] = acc[0] + acc[1] + acc[2] + acc[3]\n}\n");
    return text.toString();
  }

  private void line(int depth, String line) {
    text.append("  ".repeat(depth)).append(line).append('\n');
  }

  private String index() {
    // The last but one leaves the bounds.
    int choice = random.nextInt(40);
    return INDICES[choice < 38 ? choice % (INDICES.length - 2) : INDICES.length - 2 + choice % 2];
  }

  private String value(int depth) {
    return switch (random.nextInt(depth > 2 ? 5 : 9)) {
      case 0 -> "s[" + index() + "]";
      case 1 -> "acc[" + random.nextInt(4) + "]";
      case 2 -> "x[bx * 64 + " + index() + "]";
      case 3 -> "t[tid / 16, tid % 16]";
      case 4 -> "f32(m[" + index() + "])";
      case 5 -> value(depth + 1) + " * 0.25f32";
      case 6 -> "fma(" + value(depth + 1) + ", 0.5f32, " + value(depth + 1) + ")";
      case 7 -> "select(m[" + index() + "] % 3 < 1, " + value(depth + 1) + ", 2.0f32)";
      default -> "max(" + value(depth + 1) + ", r[" + random.nextInt(8) + "])";
    };
  }

  /** What lanes do together. */
  private void together(int depth) {
    switch (random.nextInt(4)) {
      case 0 -> line(depth, "acc[0] = acc[0] + shfl.xor.f32(" + value(2) + ", 3)");
      case 1 ->
          line(depth, "acc[3] = shfl.idx.f32(shfl.xor.f32(acc[1], 9) + acc[0], tid % 5) * 0.5f32");
      case 2 -> {
        String name = "w" + names++;
        line(depth, "alloc " + name + ": u32[4] local");
        line(depth, "ldmatrix.x4(&" + name + "[0], &t16[tid % 16, tid % 32 / 16 * 8])");
        line(depth, "acc[2] = acc[2] + f32(" + name + "[" + random.nextInt(4) + "] & 255u32)");
      }
      default -> {
        line(depth, "cp.async.16(&s[tid % 16 * 4], &x[tid % 16 * 4], 16)");
        line(depth, "cp.async.commit()");
        if (random.nextInt(4) != 0) {
          line(depth, "cp.async.wait(0)");
        }
      }
    }
  }

  private void statement(int depth, boolean mayWait) {
    if (warps && random.nextInt(4) == 0) {
      together(depth);
      return;
    }
    switch (random.nextInt(depth > 3 ? 6 : 10)) {
      case 0 -> {
        // Mostly as it should be.
        if (mayWait && random.nextInt(8) != 0) {
          line(depth, "sync_threads()");
        }
        line(depth, "s[" + index() + "] = " + value(1));
        if (mayWait && random.nextInt(8) != 0) {
          line(depth, "sync_threads()");
        }
      }
      case 1, 2 -> line(depth, "acc[" + random.nextInt(4) + "] = " + value(1));
      case 3 ->
          line(
              depth,
              "z[bx * 64 + " + (random.nextInt(12) == 0 ? index() : "tid") + "] = " + value(1));
      case 4 -> {
        int shift = random.nextInt(6) == 0 ? 1 : 0;
        line(depth, "r[ramp(4, 1, 4)] = s[ramp(tid % 8 * 4 + " + shift + ", 1, 4)]");
      }
      case 5 -> {
        String name = "v" + names++;
        line(depth, "let " + name + ": i32 = " + index());
        line(depth, "acc[1] = acc[1] + f32(" + name + " % 7)");
      }
      case 6 -> {
        line(depth, "for i" + names++ + " in " + (1 + random.nextInt(3)) + " {");
        statement(depth + 1, mayWait);
        statement(depth + 1, mayWait);
        line(depth, "}");
      }
      case 7 -> {
        line(depth, "if tid < " + (16 + random.nextInt(48)) + " {");
        statement(depth + 1, random.nextInt(20) == 0);
        line(depth, "}");
      }
      case 8 -> {
        String name = "q" + names++;
        line(depth, "alloc " + name + ": f32[2] local");
        line(depth, name + "[0] = " + value(1));
        line(depth, "acc[2] = acc[2] + " + name + "[" + (random.nextInt(10) == 0 ? 1 : 0) + "]");
      }
      default -> {
        if (mayWait) {
          line(depth, "sync_threads()");
        }
        line(depth, "m[tid] = m[tid] + " + random.nextInt(5));
        if (mayWait) {
          line(depth, "sync_threads()");
        }
      }
    }
  }
}
