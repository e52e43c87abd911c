package dev.warpwright.cuda;

import java.util.List;
import java.util.Locale;

/**
 * A type or function that printed kernels share; a translation unit defines those that it uses, in
 * this order.
 */
enum Helper {
  F16(
      75,
      """
      struct f16 {
        unsigned short bits;
      };
      """),
  BF16(
      75,
      """
      struct bf16 {
        unsigned short bits;
      };
      """),
  F8E4M3(
      75,
      """
      struct f8e4m3 {
        unsigned char bits;
      };
      """),
  F8E5M2(
      75,
      """
      struct f8e5m2 {
        unsigned char bits;
      };
      """),
  VEC(
      75,
      """
      // N elements that are loaded and stored by one instruction.
      template <typename T, int N>
      struct __align__(sizeof(T) * N) Vec {
        T lane[N];
      };
      """),
  LOAD_IF(
      75,
      """
      // What is there where the condition holds, zeros elsewhere: by a predicate, not by a branch.
      template <typename T>
      __device__ __forceinline__ T load_if(bool inside, const T* from) {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one access");
        T value;
        unsigned* const word = reinterpret_cast<unsigned*>(&value);
      #pragma unroll
        for (int i = 0; i < sizeof(T) / 4; ++i) {
          word[i] = 0;
        }
        if constexpr (sizeof(T) == 4) {
          asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p ld.global.nc.b32 %0, [%2]; }"
              : "+r"(word[0])
              : "r"(static_cast<unsigned>(inside)), "l"(from));
        } else if constexpr (sizeof(T) == 8) {
          asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.nc.v2.b32 {%0, %1}, [%3]; }"
              : "+r"(word[0]), "+r"(word[1])
              : "r"(static_cast<unsigned>(inside)), "l"(from));
        } else {
          asm("{ .reg .pred p; setp.ne.u32 p, %4, 0; "
              "@p ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%5]; }"
              : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3])
              : "r"(static_cast<unsigned>(inside)), "l"(from));
        }
        return value;
      }
      """),
  TENSOR_MAP(
      90,
      """
      // How a matrix in global memory is cut into boxes; made by the driver, passed by value.
      struct __align__(64) TensorMap {
        unsigned char opaque[128];
      };
      """),
  PREFETCH_TENSOR_MAP(
      90,
      """
      // The copy engine will need this map soon: so it does not wait for it at the first copy.
      __device__ __forceinline__ void prefetch_tensor_map(const TensorMap* map) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
      }
      """),
  BULK_LOAD_2D_STREAMED(
      90,
      """
      // A TMA copy of what is read once: L2 gives it up first, and keeps what comes again.
      __device__ __forceinline__ void bulk_load_2d_streamed(
          void* dst, const TensorMap* map, int col, int row, unsigned long long* barrier) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
        const unsigned signal = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;"
            ::"r"(address), "l"(map), "r"(col), "r"(row), "r"(signal), "l"(policy)
            : "memory");
      }
      """,
      TENSOR_MAP),
  MATRIX_DESCRIPTOR(
      90,
      """
      // Describes an operand of a warpgroup product, so many 16 bytes behind the start: dense rows of so
      // many bytes, swizzled over them.
      template <int width>
      __device__ __forceinline__ unsigned long long matrix_descriptor(const void* start, int chunks) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(start));
        constexpr unsigned mode = width == 128 ? 1 : width == 64 ? 2 : 3;
        constexpr unsigned stride = 8 * width;  // from 8 rows to the next 8
        const unsigned low = (1u << 16 | (address & 0x3FFFF) >> 4) + chunks;
        return static_cast<unsigned long long>(mode << 30 | stride >> 4) << 32 | low;
      }
      """),
  MATRIX_DESCRIPTOR_ACROSS(
      90,
      """
      // Describes an operand that is stored along the product's rows or columns, so many 16 bytes behind
      // the start: lines of so many bytes, swizzled over them, one for each step of K; further rows or
      // columns lie in the next panel.
      template <int width, int panel>
      __device__ __forceinline__ unsigned long long matrix_descriptor_across(
          const void* start, int chunks) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(start));
        constexpr unsigned mode = width == 128 ? 1 : width == 64 ? 2 : 3;
        constexpr unsigned stride = 8 * width;  // from 8 rows to the next 8
        constexpr unsigned leading = panel;
        const unsigned low = (leading >> 4 << 16 | (address & 0x3FFFF) >> 4) + chunks;
        return static_cast<unsigned long long>(mode << 30 | stride >> 4) << 32 | low;
      }
      """),
  F16_TO_F32(
      75,
      """
      __device__ __forceinline__ float to_f32(f16 x) {
        float y;
        asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
        return y;
      }
      """,
      F16),
  BF16_TO_F32(
      75,
      """
      __device__ __forceinline__ float to_f32(bf16 x) {
        return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
      }
      """,
      BF16),
  F8E4M3_TO_F32(89, fromF8("f8e4m3", "e4m3"), F8E4M3, F16_TO_F32),
  F8E5M2_TO_F32(89, fromF8("f8e5m2", "e5m2"), F8E5M2, F16_TO_F32),
  F32_TO_F16(
      75,
      """
      __device__ __forceinline__ f16 to_f16(float x) {
        f16 y;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
      }
      """,
      F16),
  F64_TO_F16(
      75,
      """
      __device__ __forceinline__ f16 to_f16(double x) {
        f16 y;
        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x));
        return y;
      }
      """,
      F16),
  F32_TO_BF16(
      75,
      """
      __device__ __forceinline__ bf16 to_bf16(float x) {
        bf16 y;
      #if __CUDA_ARCH__ >= 800
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
      #else
        const unsigned u = __float_as_uint(x);
        y.bits = x != x ? 0x7fff : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
      #endif
        return y;
      }
      """,
      BF16),
  F64_TO_BF16(
      75,
      """
      // Rounds to odd in between, so that the second rounding sees no false tie.
      __device__ __forceinline__ bf16 to_bf16(double x) {
        const float f = __double2float_rz(x);
        const bool inexact = static_cast<double>(f) != x;
        return to_bf16(__uint_as_float(__float_as_uint(f) | (x == x && inexact)));
      }
      """,
      BF16,
      F32_TO_BF16),
  F32_TO_F8E4M3(89, toF8("f8e4m3", "e4m3"), F8E4M3),
  F32_TO_F8E5M2(89, toF8("f8e5m2", "e5m2"), F8E5M2),
  FLOOR_DIV(
      75,
      """
      template <typename T>
      __device__ __forceinline__ T floor_div(T a, T b) {
        const T quotient = a / b;
        return quotient - (a % b != 0 && (a < 0) != (b < 0));
      }
      """),
  FLOOR_MOD(
      75,
      """
      template <typename T>
      __device__ __forceinline__ T floor_mod(T a, T b) {
        const T rest = a % b;
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      }
      """),
  SWIZZLE(
      75,
      """
      // XORs bits [base + shift, base + shift + bits) of an offset into bits [base, base + bits).
      template <int bits, int base, int shift, typename T>
      __device__ __forceinline__ T swizzle(T offset) {
        return offset ^ ((offset & (((1 << bits) - 1) << (base + shift))) >> shift);
      }
      """),
  EXP2_APPROX(75, approximation("exp2_approx", "ex2.approx.ftz.f32")),
  TANH_APPROX(75, approximation("tanh_approx", "tanh.approx.f32")),
  RCP_APPROX(75, approximation("rcp_approx", "rcp.approx.ftz.f32")),
  SIN_APPROX(75, approximation("sin_approx", "sin.approx.ftz.f32")),
  COS_APPROX(75, approximation("cos_approx", "cos.approx.ftz.f32"));

  private final int minimumArch;
  private final String text;
  private final List<Helper> needs;

  Helper(int minimumArch, String text, Helper... needs) {
    this.minimumArch = minimumArch;
    this.text = text;
    this.needs = List.of(needs);
  }

  /** Least compute capability, times ten. */
  int minimumArch() {
    return minimumArch;
  }

  String text() {
    return text;
  }

  /** Helpers that this one uses; they come earlier. */
  List<Helper> needs() {
    return needs;
  }

  private static String approximation(String name, String instruction) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ float %s(float x) {
          float y;
          asm("%s %%0, %%1;" : "=f"(y) : "f"(x));
          return y;
        }
        """,
        name,
        instruction);
  }

  private static String fromF8(String type, String ptx) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ float to_f32(%s x) {
          unsigned pair;
          asm("cvt.rn.f16x2.%sx2 %%0, %%1;"
              : "=r"(pair) : "h"(static_cast<unsigned short>(x.bits)));
          return to_f32(f16{static_cast<unsigned short>(pair)});
        }
        """,
        type,
        ptx);
  }

  private static String toF8(String type, String ptx) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ %s to_%s(float x) {
          unsigned short pair;
          asm("cvt.rn.satfinite.%sx2.f32 %%0, %%1, %%2;" : "=h"(pair) : "f"(0.0f), "f"(x));
          return {static_cast<unsigned char>(pair)};
        }
        """,
        type,
        type,
        ptx);
  }
}
