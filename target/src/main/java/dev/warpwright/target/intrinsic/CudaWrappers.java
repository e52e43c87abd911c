package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The CUDA text of the intrinsics: device functions around one PTX instruction each. They need no
 * header, so that NVRTC and nvcc both take them. What touches memory says so to the compiler, which
 * could otherwise move ordinary accesses across it.
 */
final class CudaWrappers {
  static final String LOAD_X4 =
      """
      __device__ __forceinline__ void ld_global_x4(unsigned* dst, const void* src) {
        asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(dst[0]), "=r"(dst[1]), "=r"(dst[2]), "=r"(dst[3])
            : "l"(src));
      }
      """;

  /** The load under a predicate of its own: nothing is scheduled across a branch. */
  static final String LOAD_AROUND_X4 =
      """
      __device__ __forceinline__ void ld_global_around_x4(
          unsigned* dst, const void* src, int back, int present) {
        asm volatile(
            "{ .reg .pred present; setp.ne.s32 present, %5, 0; "
            "mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0; "
            "@present ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
            : "=&r"(dst[0]), "=&r"(dst[1]), "=&r"(dst[2]), "=&r"(dst[3])
            : "l"(static_cast<const char*>(src) - back), "r"(present)
            : "memory");
      }
      """;

  /** First by words, two at a time and one, then by bytes. */
  static final String STORE_SHIFTED_X4 =
      """
      __device__ __forceinline__ void st_shared_shifted_x4(
          void* dst, const unsigned* src, int shift, int count) {
        unsigned words[6];
        unsigned result[4];
      #pragma unroll
        for (int i = 0; i < 6; i++) {
          words[i] = (shift & 8) != 0 ? src[i + 2] : src[i];
        }
      #pragma unroll
        for (int i = 0; i < 5; i++) {
          words[i] = (shift & 4) != 0 ? words[i + 1] : words[i];
        }
      #pragma unroll
        for (int i = 0; i < 4; i++) {
          const int left = count - 4 * i;
          const unsigned past = left > 3 ? 0u : left > 0 ? ~0u << 8 * left : ~0u;
          result[i] = __funnelshift_r(words[i], words[i + 1], 8 * (shift & 3)) & ~past;
        }
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(address), "r"(result[0]), "r"(result[1]), "r"(result[2]), "r"(result[3])
                     : "memory");
      }
      """;

  static final String STORE_X4 =
      """
      __device__ __forceinline__ void st_shared_x4(void* dst, const unsigned* src) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(address), "r"(src[0]), "r"(src[1]), "r"(src[2]), "r"(src[3])
                     : "memory");
      }
      """;

  static final String STORE_GLOBAL_X4 =
      """
      __device__ __forceinline__ void st_global_x4(void* dst, const unsigned* src) {
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "l"(dst), "r"(src[0]), "r"(src[1]), "r"(src[2]), "r"(src[3])
                     : "memory");
      }
      """;

  /** Pairs of bytes first, pairs of pairs then: eight instructions. */
  static final String TRANSPOSE_B8_X4 =
      """
      __device__ __forceinline__ void transpose_b8_x4(unsigned* dst, const unsigned* src) {
        const unsigned low0 = __byte_perm(src[0], src[1], 0x5140);
        const unsigned low1 = __byte_perm(src[2], src[3], 0x5140);
        const unsigned high0 = __byte_perm(src[0], src[1], 0x7362);
        const unsigned high1 = __byte_perm(src[2], src[3], 0x7362);
        dst[0] = __byte_perm(low0, low1, 0x5410);
        dst[1] = __byte_perm(low0, low1, 0x7632);
        dst[2] = __byte_perm(high0, high1, 0x5410);
        dst[3] = __byte_perm(high0, high1, 0x7632);
      }
      """;

  static final String CP_ASYNC_COMMIT =
      """
      __device__ __forceinline__ void cp_async_commit() {
        asm volatile("cp.async.commit_group;" ::: "memory");
      }
      """;

  static final String CP_ASYNC_WAIT =
      """
      template <int pending>
      __device__ __forceinline__ void cp_async_wait() {
        asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
      }
      """;

  static final String SHFL_XOR_F32 =
      """
      __device__ __forceinline__ float shfl_xor_f32(float value, int lane_mask) {
        return __shfl_xor_sync(0xffffffffu, value, lane_mask);
      }
      """;

  static final String SHFL_IDX_F32 =
      """
      __device__ __forceinline__ float shfl_idx_f32(float value, int lane) {
        return __shfl_sync(0xffffffffu, value, lane);
      }
      """;

  static final String RELU_F32 =
      """
      __device__ __forceinline__ float relu_f32(float x) {
        float y;
        asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(y) : "f"(x));
        return y;
      }
      """;

  // Not mov, which ptxas drops.
  static final String COPY_F32 =
      """
      __device__ __forceinline__ float copy_f32(float x) {
        unsigned y;
        asm("prmt.b32 %0, %1, %1, 0x3210;" : "=r"(y) : "r"(__float_as_uint(x)));
        return __uint_as_float(y);
      }
      """;

  // No assembly, around which the compiler would branch where a mask follows.
  static final String FMA_SAT_F32 =
      """
      __device__ __forceinline__ float fma_sat_f32(float a, float b, float c) {
        return __saturatef(fmaf(a, b, c));
      }
      """;

  static final String CVT_RNA_TF32 =
      """
      __device__ __forceinline__ unsigned cvt_rna_tf32(float x) {
        unsigned y;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
        return y;
      }
      """;

  static final String PACK_F16X2 =
      """
      __device__ __forceinline__ unsigned pack_f16x2(float lo, float hi) {
        unsigned y;
      #if __CUDA_ARCH__ >= 800
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(hi), "f"(lo));
      #else
        asm("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
            : "=r"(y) : "f"(lo), "f"(hi));
      #endif
        return y;
      }
      """;

  static final String PACK_BF16X2 =
      """
      __device__ __forceinline__ unsigned pack_bf16x2(float lo, float hi) {
        unsigned y;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(hi), "f"(lo));
        return y;
      }
      """;

  static final String PACK_RELU_F16X2 =
      """
      __device__ __forceinline__ unsigned pack_relu_f16x2(float lo, float hi) {
        unsigned y;
        asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(hi), "f"(lo));
        return y;
      }
      """;

  static final String PACK_RELU_BF16X2 =
      """
      __device__ __forceinline__ unsigned pack_relu_bf16x2(float lo, float hi) {
        unsigned y;
        asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(hi), "f"(lo));
        return y;
      }
      """;

  static final String JOIN_F16X2 =
      """
      __device__ __forceinline__ unsigned join_f16x2(f16 lo, f16 hi) {
        return lo.bits | static_cast<unsigned>(hi.bits) << 16;
      }
      """;

  static final String JOIN_RELU_F16X2 =
      """
      __device__ __forceinline__ unsigned join_relu_f16x2(f16 lo, f16 hi) {
        unsigned y;
        asm("max.NaN.f16x2 %0, %1, %2;"
            : "=r"(y) : "r"(lo.bits | static_cast<unsigned>(hi.bits) << 16), "r"(0));
        return y;
      }
      """;

  /** The low or high half of a register, f16 or bf16, as f32. */
  static String unpack(String text) {
    String half = text.contains("low") ? "low" : "high";
    String value =
        text.endsWith("bf16x2")
            ? half.equals("low")
                ? "asm(\"shl.b32 %0, %1, 16;\" : \"=f\"(y) : \"r\"(pair));"
                : "asm(\"and.b32 %0, %1, 0xFFFF0000;\" : \"=f\"(y) : \"r\"(pair));"
            : "asm(\"{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, "
                + half
                + "; }\"\n      : \"=f\"(y) : \"r\"(pair));";
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ float %s(unsigned pair) {
          float y;
          %s
          return y;
        }
        """,
        text.replace('.', '_'),
        value);
  }

  static final String SM_ID =
      """
      __device__ __forceinline__ unsigned sm_id() {
        unsigned number;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
        return number;
      }
      """;

  static final String GLOBAL_TIMER =
      """
      __device__ __forceinline__ unsigned long long global_timer() {
        unsigned long long now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) :: "memory");
        return now;
      }
      """;

  private CudaWrappers() {}

  static String ldmatrix(int matrices, boolean transposed) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ void ldmatrix_x%d%s(unsigned* dst, const void* row) {
          const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
          asm volatile("ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 {%s}, [%%%d];"
                       : %s
                       : "r"(address)
                       : "memory");
        }
        """,
        matrices,
        transposed ? "_trans" : "",
        matrices,
        transposed ? ".trans" : "",
        registers(0, matrices),
        matrices,
        constraints("=r", "dst", matrices));
  }

  static String stmatrix(int matrices, boolean transposed) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ void stmatrix_x%d%s(void* row, const unsigned* src) {
          const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
          asm volatile("stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%0], {%s};"
                       :
                       : "r"(address), %s
                       : "memory");
        }
        """,
        matrices,
        transposed ? "_trans" : "",
        matrices,
        transposed ? ".trans" : "",
        registers(1, matrices),
        constraints("r", "src", matrices));
  }

  /** Sums in f16 lie in registers by twos; their array is aligned to 4 bytes. */
  static final String PACKED_SUMS = "  unsigned* const sums = reinterpret_cast<unsigned*>(d);\n";

  /** What a product's function takes its sums as: of f16 the bits, so as to need no type. */
  static String pointer(DType sums) {
    return switch (sums) {
      case F32 -> "float";
      case I32 -> "int";
      case F16 -> "void";
      default -> throw new IllegalArgumentException("no mma with accumulators of " + sums);
    };
  }

  static String mma(String text, int k, String type, DType sums, int aRegisters, int bRegisters) {
    String sum = sums == DType.I32 ? "s32" : sums.text();
    int registers = 4 * sums.bytes() / 4;
    boolean packed = sums == DType.F16;
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ void %s(%s* d, const unsigned* a, const unsigned* b) {
        %s  asm volatile(
              "mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s "
              "{%s}, {%s}, {%s}, {%s};"
              : %s
              : %s,
                %s);
        }
        """,
        text.replace('.', '_'),
        pointer(sums),
        packed ? PACKED_SUMS : "",
        k,
        sum,
        type,
        type,
        sum,
        registers(0, registers),
        registers(registers, aRegisters),
        registers(registers + aRegisters, bRegisters),
        registers(0, registers),
        constraints(sums == DType.F32 ? "+f" : "+r", packed ? "sums" : "d", registers),
        constraints("r", "a", aRegisters),
        constraints("r", "b", bRegisters));
  }

  static String cpAsync(int bytes, String cache) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ void cp_async_%d(void* dst, const void* src, int src_bytes) {
          const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
          asm volatile("cp.async.%s.shared.global [%%0], [%%1], %d, %%2;"
                       :
                       : "r"(address), "l"(src), "r"(src_bytes)
                       : "memory");
        }
        """,
        bytes,
        cache,
        bytes);
  }

  /**
   * The copy under a predicate of the instruction itself: compilers make a branch of a condition
   * around it where they reckon it long, and nothing is scheduled across a branch.
   */
  static String cpAsyncIf(int bytes, String cache) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ void cp_async_%d_if(
            bool issue, void* dst, const void* src, int src_bytes) {
          const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
          asm volatile("{ .reg .pred issue; setp.ne.u32 issue, %%0, 0; "
                       "@issue cp.async.%s.shared.global [%%1], [%%2], %d, %%3; }"
                       :
                       : "r"(static_cast<unsigned>(issue)), "r"(address), "l"(src), "r"(src_bytes)
                       : "memory");
        }
        """,
        bytes,
        cache,
        bytes);
  }

  /** {@code %first, …}, so many. */
  static String registers(int first, int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add("%" + (first + i));
    }
    return String.join(", ", names);
  }

  static String constraints(String constraint, String array, int count) {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      parts.add(String.format(Locale.ROOT, "\"%s\"(%s[%d])", constraint, array, i));
    }
    return String.join(", ", parts);
  }
}
