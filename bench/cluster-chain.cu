// Layers of 512 features in clusters of eight blocks (cluster chaining), by hand: a cluster carries 64 rows through all layers, each
// block has 64 of a layer's 512 outputs and sends them, a panel of 8 KB, to all eight; weights come ahead through a ring. See
// cluster-chain.sh.
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a cluster-chain.cu && ./a.out ROWS LAYERS
// f16, ReLU between layers, no bias. Launches overlap. All results are compared with a plain kernel's in f32, exit code 1 if wrong.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t e_ = (call);                                                             \
    if (e_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
      std::exit(3);                                                                      \
    }                                                                                    \
  } while (0)

constexpr int WIDTH = 512, RANKS = 8, PART = WIDTH / RANKS, TILE = 64, MOST_LAYERS = 12;
constexpr int PANEL = TILE * PART * 2;  // bytes of 64 rows of 64 elements, which 128-byte swizzles span
constexpr int STAGES = 10;              // panels of weights under way
constexpr int ROWS_BYTES = RANKS * PANEL;
constexpr int SHARED = 2 * ROWS_BYTES + STAGES * PANEL + 2 * PANEL + (2 * STAGES + 2) * 8;
constexpr int LAUNCHES = 50, ROUNDS = 11;

struct alignas(64) Map {
  unsigned char opaque[128];
};
using Barrier = unsigned long long;

__device__ __forceinline__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void init(Barrier* b, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(b)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void wait(Barrier* b, int parity) {
  asm volatile(
      "{ .reg .pred done; wait_%=: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1; @!done bra wait_%=; }"
      ::"r"(shared(b)), "r"(parity) : "memory");
}

__device__ __forceinline__ void arrive(Barrier* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(b)) : "memory");
}

__device__ __forceinline__ void expect(Barrier* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void load(void* to, const Map* map, int column, int row, Barrier* b) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      ::"r"(shared(to)), "l"(map), "r"(column), "r"(row), "r"(shared(b)) : "memory");
}

__device__ __forceinline__ unsigned of_rank(unsigned address, int rank) {
  unsigned remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

// Shared memory to that of another block of the cluster, whose barrier counts the bytes.
__device__ __forceinline__ void send(unsigned to, const void* from, int bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(to), "r"(shared(from)), "r"(bytes), "r"(barrier) : "memory");
}

// A K-major operand of rows of 128 bytes, swizzled over them, so many 16 bytes behind the start.
__device__ __forceinline__ unsigned long long operand(const void* start, int chunks) {
  const unsigned low = (1u << 16 | (shared(start) & 0x3FFFF) >> 4) + chunks;
  return static_cast<unsigned long long>(1u << 30 | 1024 >> 4) << 32 | low;
}

__device__ __forceinline__ void multiply(float* d, unsigned long long a, unsigned long long b, bool add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
        "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
        "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

// One warpgroup multiplies, one thread copies. Weights are [layers * 512][512], K-major.
__global__ void __launch_bounds__(160, 1) __cluster_dims__(RANKS, 1, 1)
chain(const __grid_constant__ Map inputs, const __grid_constant__ Map weights, __half* y, int rows, int layers) {
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* const held = memory;  // two sets of rows: one is read, the other filled by all eight
  unsigned char* const ring = held + 2 * ROWS_BYTES;
  unsigned char* const made = ring + STAGES * PANEL;  // two of this block's panels: one may still be on its way
  Barrier* const full = reinterpret_cast<Barrier*>(made + 2 * PANEL);
  Barrier* const empty = full + STAGES;
  Barrier* const come = empty + STAGES;
  const int tid = threadIdx.x;
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int first = blockIdx.x / RANKS * TILE;
  if (tid == 0) {
    for (int s = 0; s < STAGES; ++s) {
      init(&full[s], 1);
      init(&empty[s], 1);
    }
    init(&come[0], 1);
    init(&come[1], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (tid < 128) {
    int stage = 0, parity = 0;
    const int row = tid / 32 * 16 + tid % 32 / 4, column = tid % 4 * 2;
    for (int layer = 0; layer < layers; ++layer) {
      const bool last = layer + 1 == layers;
      const unsigned char* const in = held + layer % 2 * ROWS_BYTES;
      float sums[32];
      if (tid == 0 && !last) expect(&come[(layer + 1) % 2], ROWS_BYTES);
      wait(&come[layer % 2], layer / 2 % 2);
      for (int k = 0; k < RANKS; ++k) {
        wait(&full[stage], parity);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int kk = 0; kk < 4; ++kk) {
          multiply(sums, operand(in + k * PANEL, kk * 2), operand(ring + stage * PANEL, kk * 2), k + kk > 0);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (k > 0 && tid == 0) arrive(&empty[stage == 0 ? STAGES - 1 : stage - 1]);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (tid == 0) arrive(&empty[stage == 0 ? STAGES - 1 : stage - 1]);
      unsigned char* const out = made + layer % 2 * PANEL;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int r = row + half * 8;
          const float a = sums[n * 4 + half * 2], b = sums[n * 4 + half * 2 + 1];
          if (!last) {
            *reinterpret_cast<__half2*>(out + r * 128 + ((n ^ r & 7) << 4) + column * 2) =
                __floats2half2_rn(fmaxf(a, 0), fmaxf(b, 0));
          } else if (first + r < rows) {
            *reinterpret_cast<__half2*>(&y[(first + r) * static_cast<long>(WIDTH) + rank * PART + n * 8 + column]) =
                __floats2half2_rn(a, b);
          }
        }
      }
      if (!last) {
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("bar.sync 1, 128;" ::: "memory");
        // To all eight, itself among them. Its rows of two layers ago have been read by all: they have sent what they made of them.
        if (tid < RANKS) {
          const int next = (layer + 1) % 2;
          send(of_rank(shared(held + next * ROWS_BYTES + rank * PANEL), tid), out, PANEL, of_rank(shared(&come[next]), tid));
        }
      }
    }
  } else if (tid == 128) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    const int panels = layers * RANKS;
    const auto weight = [&](int i, int stage) {
      expect(&full[stage], PANEL);
      load(ring + stage * PANEL, &weights, i % RANKS * PART, i / RANKS * WIDTH + rank * PART, &full[stage]);
    };
    for (int i = 0; i < STAGES && i < panels; ++i) weight(i, i);
    asm volatile("griddepcontrol.wait;" ::: "memory");
    expect(&come[0], ROWS_BYTES);
    for (int k = 0; k < RANKS; ++k) load(held + k * PANEL, &inputs, k * PART, first, &come[0]);
    int stage = 0, parity = 0;
    for (int i = STAGES; i < panels; ++i) {
      wait(&empty[stage], parity);
      weight(i, stage);
      stage = stage == STAGES - 1 ? 0 : stage + 1;
      parity ^= stage == 0;
    }
  }
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Pseudo-random values in [-scale, scale) by a counter.
__global__ void fill(__half* x, int n, unsigned seed, float scale) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned z = (i + 1) * 2654435761u + seed;
    z = (z ^ z >> 15) * 2246822519u;
    z = (z ^ z >> 13) * 3266489917u;
    z ^= z >> 16;
    x[i] = __float2half(((z & 0xFFFF) / 32768.0f - 1) * scale);
  }
}

// A layer, a thread an element.
__global__ void plain(const __half* x, const __half* w, __half* y, int rows, bool last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / WIDTH, column = i % WIDTH;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < WIDTH; ++k) sum += __half2float(x[row * WIDTH + k]) * __half2float(w[column * WIDTH + k]);
  y[i] = __float2half(last ? sum : fmaxf(sum, 0));
}

static Map map(const __half* matrix, cuuint64_t rows) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  Map made;
  const cuuint64_t sizes[] = {WIDTH, rows}, strides[] = {WIDTH * 2};
  const cuuint32_t box[] = {PART, TILE}, steps[] = {1, 1};
  if (reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
          reinterpret_cast<CUtensorMap*>(&made), CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, const_cast<__half*>(matrix), sizes, strides,
          box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::printf("the driver made no tensor map\n");
    std::exit(3);
  }
  return made;
}

static __half* allocate(int n, unsigned seed, float scale) {
  __half* p;
  CHECK(cudaMalloc(&p, n * sizeof(__half)));
  fill<<<256, 256>>>(p, n, seed, scale);
  return p;
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 64, layers = argc > 2 ? std::atoi(argv[2]) : 4;
  if (rows < 1 || rows > 1 << 20 || layers < 1 || layers > MOST_LAYERS) {
    std::printf("usage: cluster-chain ROWS LAYERS, at most %d layers\n", MOST_LAYERS);
    return 2;
  }
  __half* const x = allocate(rows * WIDTH, 1, 1);
  __half* const w = allocate(layers * WIDTH * WIDTH, 7, 0.108f);
  __half* const y = allocate(rows * WIDTH, 0, NAN);
  __half* const other[] = {allocate(rows * WIDTH, 0, NAN), allocate(rows * WIDTH, 0, NAN)};
  CHECK(cudaFuncSetAttribute(chain, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  const Map inputs = map(x, rows), weights = map(w, layers * WIDTH);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaDeviceSynchronize());
  const auto launch = [&] {
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((rows + TILE - 1) / TILE * RANKS);
    config.blockDim = dim3(160);
    config.dynamicSmemBytes = SHARED;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, chain, inputs, weights, y, rows, layers));
  };
  launch();
  CHECK(cudaStreamSynchronize(stream));
  const __half* from = x;
  for (int layer = 0; layer < layers; ++layer) {
    plain<<<(rows * WIDTH + 255) / 256, 256>>>(from, w + layer * WIDTH * WIDTH, other[layer % 2], rows, layer + 1 == layers);
    from = other[layer % 2];
  }
  std::vector<__half> got(rows * WIDTH), wanted(rows * WIDTH);
  CHECK(cudaMemcpy(got.data(), y, got.size() * sizeof(__half), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(wanted.data(), from, wanted.size() * sizeof(__half), cudaMemcpyDeviceToHost));
  double off = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = __half2float(got[i]), e = __half2float(wanted[i]);
    off += (g - e) * (g - e);
    norm += e * e;
  }
  const double error = std::sqrt(off / norm);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < LAUNCHES; ++i) launch();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&replay, graph, 0));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int round = 0; round < ROUNDS; ++round) {
    CHECK(cudaEventRecord(start, stream));
    CHECK(cudaGraphLaunch(replay, stream));
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    times.push_back(milliseconds * 1000 / LAUNCHES);
  }
  std::sort(times.begin(), times.end());
  const bool right = error <= 2e-3;  // of roundings to f16 that differ where sums do; NaN is wrong
  std::printf("512 x %d, %d rows, clusters of %d: %.2f us (%.2f to %.2f), relative error %.1e: %s\n", layers, rows, RANKS,
              times[ROUNDS / 2], times.front(), times.back(), error, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
