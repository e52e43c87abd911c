// Verifies and times one printed kernel of a network that is chained in registers; see chained.sh.
//   nvcc -DKERNEL='"x.cu"' -DNAME=mlp_f16_sm90_64x4 -DTYPE=f16 -DWIDTH=64 -DLAYERS=4 -DTHREADS=512
//        -DSHARED=0 chained.cu
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>
#include KERNEL

#define CHECK(call)                                                                    \
  do {                                                                                 \
    cudaError_t e_ = (call);                                                           \
    if (e_ != cudaSuccess) {                                                           \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
      std::exit(3);                                                                    \
    }                                                                                  \
  } while (0)

constexpr int W = WIDTH, L = LAYERS;

// The kernel's type of elements, and CUDA's.
#define QUOTE_(x) #x
#define QUOTE(x) QUOTE_(x)
constexpr bool kHalf = sizeof(QUOTE(TYPE)) == sizeof("f16");
using Element = std::conditional<kHalf, __half, __nv_bfloat16>::type;
constexpr double kTolerance = kHalf ? 2e-3 : 1.6e-2, kWorst = kHalf ? 0.05 : 0.4;

__host__ __device__ inline float wide(Element x) { return static_cast<float>(x); }

// Normally distributed values by a counter, in f16.
__global__ void fill(Element* x, size_t n, unsigned long long seed, float scale) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    unsigned long long z = (i + 1) * 0x9E3779B97F4A7C15ull + seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    float u = ((unsigned)(z >> 40) + 0.5f) / 16777216.0f, v = ((unsigned)(z & 0xFFFFFF) + 0.5f) / 16777216.0f;
    x[i] = Element(scale * sqrtf(-2 * logf(u)) * cospif(2 * v));
  }
}

// One block a row, one thread a column, f64, nothing rounded between layers.
__global__ void reference(const Element* x, const double* w, const Element* y, size_t rows, double* sums,
                          unsigned long long* bad) {
  __shared__ double h[2][W];
  double err = 0, ref = 0, worst = 0;
  for (size_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const int n = threadIdx.x;
    h[0][n] = wide(x[r * W + n]);
    __syncthreads();
    double s = 0;
    for (int l = 0; l < L; ++l) {
      s = 0;
      for (int k = 0; k < W; ++k) s += h[l & 1][k] * w[((size_t)l * W + k) * W + n];
      h[(l + 1) & 1][n] = s > 0 ? s : 0;
      __syncthreads();
    }
    const double got = wide(y[r * W + n]);
    if (!isfinite(got)) atomicAdd(bad, 1ull);
    const double d = got - s;
    err += d * d, ref += s * s, worst = fmax(worst, fabs(d));
    __syncthreads();
  }
  atomicAdd(&sums[0], err), atomicAdd(&sums[1], ref);
  atomicMax((unsigned long long*)&sums[2], (unsigned long long)__double_as_longlong(worst));
}

struct Error {
  double relative, worst;
  unsigned long long bad;
};

static double* wRef;
static Error verify(const Element* x, const Element* y, size_t rows) {
  double* sums;
  CHECK(cudaMallocManaged(&sums, 4 * sizeof(double)));
  std::memset(sums, 0, 32);
  reference<<<132 * 16, W>>>(x, wRef, y, rows, sums, (unsigned long long*)&sums[3]);
  CHECK(cudaDeviceSynchronize());
  unsigned long long bad;
  std::memcpy(&bad, &sums[3], 8);
  const double rms = std::sqrt(sums[1] / (double(rows) * W));
  Error e{std::sqrt(sums[0] / sums[1]), sums[2] / rms, bad};
  CHECK(cudaFree(sums));
  return e;
}

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int main(int argc, char** argv) {
  const bool quick = argc > 1 && !std::strcmp(argv[1], "quick");
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  const int grid = prop.multiProcessorCount;
  unsigned long long seed = std::random_device{}() * 0x100000001ull + 12345;
  CHECK(cudaFuncSetAttribute((const void*)NAME, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  cudaFuncAttributes attrs;
  CHECK(cudaFuncGetAttributes(&attrs, (const void*)NAME));

  // Weights, plain and packed: K of the first layer and N of the last in the kernel's order.
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Element> packed(size_t(L) * W * W);
  std::vector<double> plain(size_t(L) * W * W);  // [l][k][n]
  for (int l = 0; l < L; ++l)
    for (int n = 0; n < W; ++n)
      for (int k = 0; k < W; ++k) {
        const Element v = Element(std::sqrt(2.0f / W) * normal(random));
        packed[(size_t(l) * W + n) * W + k] = v;
        int row = n, col = k;
        if (l == L - 1) row = n / 32 * 32 + n % 8 / 2 * 8 + n % 32 / 8 * 2 + n % 2;
        if (l == 0) {
          const int j = k % 16;
          col = k / 32 * 32 + j % 8 / 2 * 8 + k / 16 % 2 * 4 + j / 8 * 2 + j % 2;
        }
        plain[(size_t(l) * W + col) * W + row] = wide(v);
      }
  Element* w;
  CHECK(cudaMalloc(&w, packed.size() * 2));
  CHECK(cudaMemcpy(w, packed.data(), packed.size() * 2, cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&wRef, plain.size() * 8));
  CHECK(cudaMemcpy(wRef, plain.data(), plain.size() * 8, cudaMemcpyHostToDevice));

  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  CUtensorMap made;
  const cuuint64_t dims[3] = {W, W, L}, strides[2] = {W * 2, (cuuint64_t)W * W * 2};
  const cuuint32_t box[3] = {64, W, 1}, ones[3] = {1, 1, 1};
  const CUresult r = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &made, kHalf ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, w, dims, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) { std::printf("tensor map: %d\n", r); return 3; }
  TensorMap map;
  static_assert(sizeof map == sizeof made, "");
  std::memcpy(&map, &made, sizeof map);

  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  bool ok = true;
  const long sizes[] = {1 << 20, 1 << 14, 1 << 8, (1 << 14) + 37};
  for (long rows : sizes) {
    const size_t elements = size_t(rows) * W;
    const size_t bytes = elements * 4;  // input and output of a launch
    const int sets = (int)std::max<size_t>(2, (3ull * prop.l2CacheSize + bytes - 1) / bytes);
    Element *x, *y;
    CHECK(cudaMalloc(&x, elements * 2 * sets));
    CHECK(cudaMalloc(&y, elements * 2 * sets));
    fill<<<2048, 256>>>(x, elements * sets, seed + rows, 1.0f);
    CHECK(cudaMemset(y, 0xFF, elements * 2 * sets));
    CHECK(cudaDeviceSynchronize());
    auto launch = [&](int set) {
      NAME<<<grid, THREADS, SHARED, stream>>>((const TYPE*)(x + elements * set), (const TYPE*)w, (TYPE*)(y + elements * set),
                                             (int)rows, grid, map);
    };
    launch(0);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    Error e = verify(x, y, rows);
    const bool good = e.bad == 0 && e.relative < kTolerance && e.worst < kWorst;
    ok &= good;
    if (!good || rows % 64) {
      std::printf("%-26s rows %8ld  %s rel %.2e worst/rms %.2e nonfinite %llu\n", QUOTE(NAME), rows, good ? "right" : "WRONG", e.relative,
                  e.worst, e.bad);
      CHECK(cudaFree(x)); CHECK(cudaFree(y));
      continue;
    }
    // Graphs of 12 launches, which together go through all sets.
    constexpr int LAUNCHES = 12;
    const int graphs = std::max(1, (sets + LAUNCHES - 1) / LAUNCHES);
    std::vector<cudaGraphExec_t> execs;
    for (int g = 0; g < graphs; ++g) {
      cudaGraph_t graph;
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      for (int i = 0; i < LAUNCHES; ++i) launch((g * LAUNCHES + i) % sets);
      CHECK(cudaStreamEndCapture(stream, &graph));
      cudaGraphExec_t exec;
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
      execs.push_back(exec);
      CHECK(cudaGraphDestroy(graph));
    }
    cudaEvent_t a, b;
    CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
    int at = 0;
    // So many graphs, one after the other; microseconds a launch.
    auto timed = [&](int n) {
      CHECK(cudaEventRecord(a, stream));
      for (int i = 0; i < n; ++i) CHECK(cudaGraphLaunch(execs[at++ % execs.size()], stream));
      CHECK(cudaEventRecord(b, stream));
      CHECK(cudaEventSynchronize(b));
      float ms;
      CHECK(cudaEventElapsedTime(&ms, a, b));
      return ms * 1e3 / (double(n) * LAUNCHES);
    };
    double guess = timed(1);
    guess = timed(2);
    const int burstGraphs = std::max(1, (int)(8e3 / (guess * LAUNCHES)));  // 8 ms
    std::vector<double> bursts;
    for (int i = 0; i < (quick ? 5 : 15); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
      bursts.push_back(timed(burstGraphs));
    }
    double sustained = 0;
    if (rows == 1 << 20) {
      std::vector<double> chunks;
      const auto start = std::chrono::steady_clock::now();
      double ms = 0;
      while ((ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()) < (quick ? 500 : 1500)) {
        const double t = timed(burstGraphs * 4);
        if (ms > (quick ? 250 : 900)) chunks.push_back(t);
      }
      sustained = median(chunks);
    }
    // The sets that the timed launches wrote, spot-checked.
    CHECK(cudaStreamSynchronize(stream));
    const Error after = verify(x + elements * (sets - 1), y + elements * (sets - 1), rows);
    const bool still = after.bad == 0 && after.relative < kTolerance;
    ok &= still;
    const double med = median(bursts);
    std::printf("%-26s rows %8ld  burst %7.2f us (min %7.2f)  sustained %7.2f us  %6.1f TFLOP/s %5.2f TB/s  rel %.2e worst/rms %.2e  %s  regs %d sets %d seed %llu\n",
                QUOTE(NAME), rows, med, *std::min_element(bursts.begin(), bursts.end()), sustained, 2e-6 * rows * W * W * L / med,
                bytes * 1e-6 / med, e.relative, e.worst, still ? "right" : "WRONG AFTER", attrs.numRegs, sets, seed);
    std::fflush(stdout);
    for (auto exec : execs) CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaFree(x)); CHECK(cudaFree(y));
  }
  return ok ? 0 : 1;
}
