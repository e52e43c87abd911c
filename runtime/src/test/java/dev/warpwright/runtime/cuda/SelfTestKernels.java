package dev.warpwright.runtime.cuda;

/** CUDA sources of the self-test; they include no header. */
final class SelfTestKernels {
  private SelfTestKernels() {}

  /** For every architecture. */
  static final String PLAIN =
      """
      extern "C" __global__ void axpy(float a, const float* x, float* y, int n, long long shift) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i] + (float)shift;
      }

      extern "C" __global__ void empty(float* x, int n, float a) {}

      extern "C" __global__ void reverse(const float* x, float* y) {
        extern __shared__ float tile[];
        tile[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
        __syncthreads();
        y[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
      }

      extern "C" __global__ void count(unsigned* total, unsigned blocks) {
        // Every block waits for all of them: this ends only if all are resident.
        if (threadIdx.x == 0) {
          atomicAdd(total, 1u);
          while (*(volatile unsigned*)total < blocks) {}
        }
      }

      extern "C" __global__ void fault(int* nowhere) { *nowhere = 1; }
      """;

  /**
   * For compute capability 9.0: a bulk tensor copy, a cluster, and a wait for the previous kernel.
   */
  static final String HOPPER =
      """
      struct alignas(64) Map { unsigned long long opaque[16]; };

      static __device__ unsigned shared(const void* p) {
        return (unsigned)__cvta_generic_to_shared(p);
      }

      static __device__ void cluster_sync() {
        asm volatile("barrier.cluster.arrive.release;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
      }

      extern "C" __global__ void __launch_bounds__(256)
      boxes(const __grid_constant__ Map map, float* out) {
        __shared__ alignas(128) float tile[8 * 32];
        __shared__ alignas(8) unsigned long long barrier;
        unsigned b = shared(&barrier);
        if (threadIdx.x == 0) {
          asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
          asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
        __syncthreads();
        if (threadIdx.x == 0) {
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                       ::"r"(b), "r"(1024) : "memory");
          asm volatile(
              "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
              " [%0], [%1, {%2, %3}], [%4];"
              ::"r"(shared(tile)), "l"(&map), "r"(0), "r"((int)blockIdx.x * 8), "r"(b)
              : "memory");
        }
        unsigned done = 0;
        while (!done) {
          asm volatile(
              "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
              " selp.u32 %0, 1, 0, p; }"
              : "=r"(done) : "r"(b) : "memory");
        }
        cluster_sync();
        unsigned rank;
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
        unsigned peer;
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(peer) : "r"(shared(tile + threadIdx.x)), "r"(rank ^ 1));
        float other;
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(other) : "r"(peer) : "memory");
        out[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x] + 1000.0f * other;
        cluster_sync();
      }

      extern "C" __global__ void follow(float* x, int n) {
        asm volatile("griddepcontrol.wait;" ::: "memory");
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) x[i] = x[i] * 2.0f + 1.0f;
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
      }
      """;
}
