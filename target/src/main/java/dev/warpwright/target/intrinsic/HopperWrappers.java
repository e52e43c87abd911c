package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The CUDA text of the intrinsics of sm_90a: barriers in shared memory, bulk tensor copies,
 * warpgroup products, clusters, and counters in global memory.
 */
final class HopperWrappers {
  private static final String SHARED = "static_cast<unsigned>(__cvta_generic_to_shared(%s))";

  static final String MBARRIER_INIT =
      shared(
          "void mbarrier_init(unsigned long long* barrier, int arrivals)",
          "barrier",
          "asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" ::\"r\"(address),"
              + " \"r\"(arrivals) : \"memory\");");

  static final String MBARRIER_ARRIVE =
      shared(
          "void mbarrier_arrive(unsigned long long* barrier)",
          "barrier",
          "asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"(address) :"
              + " \"memory\");");

  static final String MBARRIER_ARRIVE_EXPECT_TX =
      shared(
          "void mbarrier_arrive_expect_tx(unsigned long long* barrier, int bytes)",
          "barrier",
          "asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\"\n"
              + "               ::\"r\"(address), \"r\"(bytes) : \"memory\");");

  static final String MBARRIER_ARRIVE_CLUSTER =
      shared(
          "void mbarrier_arrive_cluster(unsigned long long* barrier, int rank)",
          "barrier",
          "asm volatile(\n"
              + "      \"{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; \"\n"
              + "      \"mbarrier.arrive.shared::cluster.b64 _, [remote]; }\" ::\"r\"(address),"
              + " \"r\"(rank)\n"
              + "      : \"memory\");");

  static final String MBARRIER_WAIT = waiting();

  static final String FENCE_MBARRIER_INIT =
      plain("fence_mbarrier_init", "fence.mbarrier_init.release.cluster;");

  static final String FENCE_PROXY_ASYNC =
      plain("fence_proxy_async", "fence.proxy.async.shared::cta;");

  static final String FENCE_PROXY_ASYNC_GLOBAL =
      plain("fence_proxy_async_global", "fence.proxy.async.global;");

  static final String CLUSTER_RANK =
      """
      __device__ __forceinline__ int cluster_rank() {
        int rank;
        asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
        return rank;
      }
      """;

  static final String CLUSTER_LOAD_F32 =
      String.format(
          Locale.ROOT,
          """
          __device__ __forceinline__ float cluster_load_f32(const float* source, int rank) {
            const unsigned address = %s;
            float value;
            asm volatile(
                "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %%1, %%2; "
                "ld.shared::cluster.f32 %%0, [remote]; }"
                : "=f"(value) : "r"(address), "r"(rank) : "memory");
            return value;
          }
          """,
          String.format(Locale.ROOT, SHARED, "source"));

  static final String CLUSTER_STORE_F32 =
      String.format(
          Locale.ROOT,
          """
          __device__ __forceinline__ void cluster_store_f32(float* target, int rank, float value) {
            const unsigned address = %s;
            asm volatile(
                "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %%0, %%1; "
                "st.shared::cluster.f32 [remote], %%2; }"
                ::"r"(address), "r"(rank), "f"(value) : "memory");
          }
          """,
          String.format(Locale.ROOT, SHARED, "target"));

  static final String CLUSTER_SYNC =
      plain(
          "cluster_sync",
          "barrier.cluster.arrive.release.aligned; ",
          "barrier.cluster.wait.acquire.aligned;");

  static final String CLUSTER_SYNC_RELAXED =
      plain(
          "cluster_sync_relaxed",
          "barrier.cluster.arrive.relaxed.aligned; ",
          "barrier.cluster.wait.acquire.aligned;");

  static final String CLUSTER_MEET =
      plain(
          "cluster_meet",
          "barrier.cluster.arrive.release.aligned; ",
          "barrier.cluster.wait.acquire.aligned;");

  static final String NAMED_BARRIER =
      """
      __device__ __forceinline__ void bar_sync(int id, int threads) {
        asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
      }
      """;

  static final String SETMAXNREG_INC =
      constant("setmaxnreg_inc", "setmaxnreg.inc.sync.aligned.u32 %0;");
  static final String SETMAXNREG_DEC =
      constant("setmaxnreg_dec", "setmaxnreg.dec.sync.aligned.u32 %0;");

  static final String WGMMA_FENCE = plain("wgmma_fence", "wgmma.fence.sync.aligned;");
  static final String WGMMA_COMMIT = plain("wgmma_commit", "wgmma.commit_group.sync.aligned;");
  static final String WGMMA_WAIT = constant("wgmma_wait", "wgmma.wait_group.sync.aligned %0;");

  static final String BULK_LOAD =
      """
      __device__ __forceinline__ void bulk_load_2d(
          void* dst, const TensorMap* map, int col, int row, unsigned long long* barrier) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
        const unsigned signal = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3}], [%4];"
            ::"r"(address), "l"(map), "r"(col), "r"(row), "r"(signal)
            : "memory");
      }
      """;

  static final String BULK_LOAD_MULTICAST =
      """
      __device__ __forceinline__ void bulk_load_2d_multicast(
          void* dst, const TensorMap* map, int col, int row, unsigned long long* barrier, int mask) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
        const unsigned signal = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
            ::"r"(address), "l"(map), "r"(col), "r"(row), "r"(signal),
              "h"(static_cast<unsigned short>(mask))
            : "memory");
      }
      """;

  static final String BULK_STORE =
      """
      __device__ __forceinline__ void bulk_store_2d(
          const TensorMap* map, int col, int row, const void* src) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(src));
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
            ::"l"(map), "r"(col), "r"(row), "r"(address)
            : "memory");
      }
      """;

  static final String BULK_LOAD_3D =
      """
      __device__ __forceinline__ void bulk_load_3d(
          void* dst, const TensorMap* map, int col, int row, int plane, unsigned long long* barrier) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
        const unsigned signal = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3, %4}], [%5];"
            ::"r"(address), "l"(map), "r"(col), "r"(row), "r"(plane), "r"(signal)
            : "memory");
      }
      """;

  static final String BULK_LOAD_3D_MULTICAST =
      """
      __device__ __forceinline__ void bulk_load_3d_multicast(
          void* dst, const TensorMap* map, int col, int row, int plane, unsigned long long* barrier,
          int mask) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
        const unsigned signal = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;"
            ::"r"(address), "l"(map), "r"(col), "r"(row), "r"(plane), "r"(signal),
              "h"(static_cast<unsigned short>(mask))
            : "memory");
      }
      """;

  static final String BULK_STORE_3D =
      """
      __device__ __forceinline__ void bulk_store_3d(
          const TensorMap* map, int col, int row, int plane, const void* src) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(src));
        asm volatile(
            "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
            ::"l"(map), "r"(col), "r"(row), "r"(plane), "r"(address)
            : "memory");
      }
      """;

  static final String BULK_LOAD_LINEAR =
      """
      __device__ __forceinline__ void bulk_load_linear(
          void* dst, const void* src, int bytes, unsigned long long* barrier) {
        const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(dst));
        const unsigned signal = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
            ::"r"(address), "l"(__cvta_generic_to_global(src)), "r"(bytes), "r"(signal)
            : "memory");
      }
      """;

  static final String BULK_COMMIT = plain("bulk_commit", "cp.async.bulk.commit_group;");
  static final String BULK_WAIT_READ =
      constant("bulk_wait_read", "cp.async.bulk.wait_group.read %0;");
  static final String BULK_WAIT = constant("bulk_wait", "cp.async.bulk.wait_group %0;");

  static final String ATOMIC_ADD_U32 =
      """
      __device__ __forceinline__ unsigned atomic_add_acq_rel_u32(unsigned* address, unsigned value) {
        unsigned old;
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                     : "=r"(old) : "l"(address), "r"(value) : "memory");
        return old;
      }
      """;

  static final String ATOMIC_ADD_RELAXED_U32 =
      """
      __device__ __forceinline__ unsigned atomic_add_relaxed_u32(unsigned* address, unsigned value) {
        unsigned old;
        asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
                     : "=r"(old) : "l"(address), "r"(value) : "memory");
        return old;
      }
      """;

  static final String RED_RELEASE_U32 =
      """
      __device__ __forceinline__ void red_add_release_u32(unsigned* address, unsigned value) {
        asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
      }
      """;

  static final String LOAD_ACQUIRE_U32 =
      """
      __device__ __forceinline__ unsigned load_acquire_u32(const unsigned* address) {
        unsigned value;
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
        return value;
      }
      """;

  static final String PREFETCH_L2 =
      """
      __device__ __forceinline__ void prefetch_l2(const void* address) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
      }
      """;

  static final String GRIDDEPCONTROL_WAIT = plain("griddepcontrol_wait", "griddepcontrol.wait;");
  static final String GRIDDEPCONTROL_LAUNCH_DEPENDENTS =
      plain("griddepcontrol_launch_dependents", "griddepcontrol.launch_dependents;");

  private HopperWrappers() {}

  private static String shared(String signature, String pointer, String asm) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ %s {
          const unsigned address = %s;
          %s
        }
        """,
        signature,
        String.format(Locale.ROOT, SHARED, pointer),
        asm);
  }

  /** A function without arguments, of one instruction or of several, each on a line. */
  private static String plain(String name, String... ptx) {
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ void %s() {
          asm volatile("%s" ::: "memory");
        }
        """,
        name,
        String.join("\"\n               \"", ptx));
  }

  private static String constant(String name, String ptx) {
    return String.format(
        Locale.ROOT,
        """
        template <int n>
        __device__ __forceinline__ void %s() {
          asm volatile("%s" ::"n"(n) : "memory");
        }
        """,
        name,
        ptx);
  }

  /** try_wait may give up after a time limit of its own, hence the loop. */
  private static String waiting() {
    return """
    __device__ __forceinline__ void mbarrier_wait(unsigned long long* barrier, int parity) {
      const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
      asm volatile(
          "{ .reg .pred done; wait_%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; "
          "@!done bra wait_%=; }" ::"r"(address), "r"(parity) : "memory");
    }
    """;
  }

  /**
   * D (64 × n) += A · B of B in shared memory and A there or in registers; with {@code scale_d}
   * zero D is not read.
   */
  static String wgmma(String text, WgmmaGemm product) {
    int registers = product.registers();
    DType sums = product.accumulators();
    String type = product.input().ptx();
    // Integers are neither negated nor stored across.
    String modifiers = sums == DType.I32 ? "" : ", 1, 1";
    boolean held = product.fromRegisters();
    String along =
        product.input().bytes() != 2
            ? ""
            : (held ? "" : product.mnMajorA() ? ", 1" : ", 0")
                + (product.mnMajorB() ? ", 1" : ", 0");
    int operands = held ? WgmmaGemm.A_REGISTERS : 1;
    String constraint = sums == DType.F32 ? "+f" : "+r";
    String element = sums == DType.F16 ? "sums" : "d";
    List<String> names = new ArrayList<>();
    List<String> constraints = new ArrayList<>();
    for (int i = 0; i < registers; i++) {
      names.add("%" + i);
      constraints.add(String.format(Locale.ROOT, "\"%s\"(%s[%d])", constraint, element, i));
    }
    StringBuilder regs = new StringBuilder();
    for (int i = 0; i < registers; i += 12) {
      regs.append(i == 0 ? "{" : "\n      \"")
          .append(String.join(", ", names.subList(i, Math.min(i + 12, registers))))
          .append(i + 12 >= registers ? "}, " : ", ")
          .append('"');
    }
    StringBuilder outs = new StringBuilder();
    for (int i = 0; i < registers; i += 6) {
      outs.append(i == 0 ? "" : ",\n        ")
          .append(String.join(", ", constraints.subList(i, Math.min(i + 6, registers))));
    }
    return String.format(
        Locale.ROOT,
        """
        __device__ __forceinline__ void %s(
            %s* d, %s a, unsigned long long b, int scale_d) {
        %s  asm volatile(
              "{ .reg .pred p; setp.ne.b32 p, %%%d, 0; "
              "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s "
              "%s
              "%s, %%%d, p%s%s; }"
              : %s
              : %s, "l"(b), "r"(scale_d));
        }
        """,
        text.replace('.', '_'),
        CudaWrappers.pointer(sums),
        held ? "const unsigned*" : "unsigned long long",
        sums == DType.F16 ? CudaWrappers.PACKED_SUMS : "",
        registers + operands + 1,
        product.columns(),
        product.depth(),
        product.accumulatorPtx(),
        type,
        type,
        regs,
        held ? "{" + CudaWrappers.registers(registers, operands) + "}" : "%" + registers,
        registers + operands,
        modifiers,
        along,
        outs,
        held ? CudaWrappers.constraints("r", "a", operands) : "\"l\"(a)");
  }
}
