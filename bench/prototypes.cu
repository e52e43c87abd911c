// Verifies and times a printed feed-forward pair of launches that overlap, beside the same kernels launched one after the other;
// see prototypes.sh.
//   nvcc -DKERNELS='"ffn_bf16_sm90_pdl_m16.cu"' -DBUCKET=16 -DUP=ffn_up_bf16_sm90_pdl_m16 -DUP_SHARED=… -DDOWN=… -DDOWN_SHARED=…
//        prototypes.cu
// The first argument is the file of the library cuBLAS, if that is to be timed, too.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <dlfcn.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include KERNELS

#define CHECK(call)                                                                       \
  do {                                                                                    \
    cudaError_t e_ = (call);                                                              \
    if (e_ != cudaSuccess) {                                                              \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));  \
      std::exit(3);                                                                       \
    }                                                                                     \
  } while (0)

constexpr int K1 = 4096, N1 = 14336, N2 = 4096;
constexpr int BLOCKS = 15, SETS = 3;  // blocks of a graph, weights in rotation: 705 MB
using Element = __nv_bfloat16;

// Normally distributed values by a counter.
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

// out[m, n] = sum over k in f64, of which nothing is rounded; a warp an element.
template <typename In, bool gelu>
__global__ void product(const In* x, const Element* w, double* out, int m, int n, int k) {
  const long element = (blockIdx.x * (long)blockDim.x + threadIdx.x) / 32;
  if (element >= (long)m * n) return;
  const long row = element / n, col = element % n;
  double s = 0;
  for (int i = threadIdx.x % 32; i < k; i += 32) s += (double)x[row * k + i] * (double)(float)w[col * k + i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) out[element] = gelu ? s * 0.5 * (1 + erf(s * 0.70710678118654752)) : s;
}

__global__ void widen(const Element* x, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (float)x[i];
}

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

static decltype(&cuTensorMapEncodeTiled) encode;

static TensorMap box(const void* matrix, int rows, int columns, int boxRows) {
  CUtensorMap made;
  const cuuint64_t dims[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, strides[1] = {(cuuint64_t)columns * 2};
  const cuuint32_t cut[2] = {64, (cuuint32_t)boxRows}, ones[2] = {1, 1};
  const CUresult r = encode(&made, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix), dims, strides, cut, ones,
                            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) { std::printf("tensor map: %d\n", r); std::exit(3); }
  TensorMap map;
  static_assert(sizeof map == sizeof made, "");
  std::memcpy(&map, &made, sizeof map);
  return map;
}

template <typename... P, typename... A>
static void launch(void (*kernel)(P...), int grid, int shared, bool overlap, cudaStream_t stream, A... args) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid), config.blockDim = dim3(288);
  config.dynamicSmemBytes = shared, config.stream = stream;
  config.attrs = &attribute, config.numAttrs = overlap ? 1 : 0;
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...));
}

// What is needed of cuBLAS, whose headers may not be here.
struct Blas {
  int (*create)(void**);
  int (*setStream)(void*, cudaStream_t);
  int (*setWorkspace)(void*, void*, size_t);
  int (*gemm)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*, void*, int,
              int, int, int);
  void* handle = nullptr;

  bool open(const char* file, cudaStream_t stream) {
    void* library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    if (!library) { std::printf("without cuBLAS: %s\n", dlerror()); return false; }
    create = reinterpret_cast<decltype(create)>(dlsym(library, "cublasCreate_v2"));
    setStream = reinterpret_cast<decltype(setStream)>(dlsym(library, "cublasSetStream_v2"));
    setWorkspace = reinterpret_cast<decltype(setWorkspace)>(dlsym(library, "cublasSetWorkspace_v2"));
    gemm = reinterpret_cast<decltype(gemm)>(dlsym(library, "cublasGemmEx"));
    void* workspace;
    CHECK(cudaMalloc(&workspace, 64 << 20));
    return create(&handle) == 0 && setStream(handle, stream) == 0 && setWorkspace(handle, workspace, 64 << 20) == 0;
  }

  // out[m, n] = x[m, k] · w[n, k]ᵀ
  void product(const Element* x, const Element* w, Element* out, int m, int n, int k) {
    const float one = 1, zero = 0;
    const int type = CUDA_R_16BF, transposed = 1, plain = 0, sumsF32 = 68, any = -1;
    const int status =
        gemm(handle, transposed, plain, n, m, k, &one, w, type, k, x, type, k, &zero, out, type, n, sumsF32, any);
    if (status != 0) { std::printf("cuBLAS: %d\n", status); std::exit(3); }
  }
};

int main(int argc, char** argv) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  encode = reinterpret_cast<decltype(encode)>(entry);
  CHECK(cudaFuncSetAttribute((const void*)UP, cudaFuncAttributeMaxDynamicSharedMemorySize, UP_SHARED));
  CHECK(cudaFuncSetAttribute((const void*)DOWN, cudaFuncAttributeMaxDynamicSharedMemorySize, DOWN_SHARED));
  const unsigned long long seed = std::random_device{}() * 0x100000001ull + 12345;
  const size_t w1 = (size_t)N1 * K1, w2 = (size_t)N2 * N1, rowsX = (size_t)BUCKET * K1;
  Element *W1, *W2, *X, *H;
  CHECK(cudaMalloc(&W1, w1 * 2 * SETS));
  CHECK(cudaMalloc(&W2, w2 * 2 * SETS));
  CHECK(cudaMalloc(&X, rowsX * 2 * (BLOCKS + 1)));  // x of each block, and the last one's y
  CHECK(cudaMalloc(&H, (size_t)BUCKET * N1 * 2));   // one for all blocks: whoever writes it too early is found
  fill<<<2048, 256>>>(W1, w1 * SETS, seed, std::sqrt(1.0f / K1));
  fill<<<2048, 256>>>(W2, w2 * SETS, seed + 1, std::sqrt(1.0f / (0.4252f * N1)));
  double *refX, *refH, *refY;
  CHECK(cudaMalloc(&refX, rowsX * 8));
  CHECK(cudaMalloc(&refH, (size_t)BUCKET * N1 * 8));
  CHECK(cudaMalloc(&refY, rowsX * 8));
  CHECK(cudaDeviceSynchronize());
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  bool ok = true;
  Blas blas;
  const bool hasBlas = argc > 1 && blas.open(argv[1], stream);
  for (int rows : {1, BUCKET - 3, BUCKET}) {
    // One block of the chain; a block's y is the next one's x.
    auto block = [&](int b, bool first, bool second) {
      Element *x = X + rowsX * b, *y = X + rowsX * (b + 1), *a = W1 + w1 * (b % SETS), *c = W2 + w2 * (b % SETS);
      launch(UP, (N1 + 111) / 112, UP_SHARED, first, stream, (const bf16*)x, (const bf16*)a, (bf16*)H, rows, box(a, N1, K1, 112),
             box(x, rows, K1, BUCKET));
      launch(DOWN, N2 / 64 * 2, DOWN_SHARED, second, stream, (const bf16*)H, (const bf16*)c, (bf16*)y, rows, box(c, N2, N1, 64),
             box(H, rows, N1, BUCKET));
    };
    struct Variant {
      std::string name;
      std::function<void(int)> run;
      bool complete;
      cudaGraphExec_t graph;
      std::vector<double> us;
    };
    std::vector<Variant> variants;
    variants.push_back({"one after the other", [&](int b) { block(b, false, false); }, true, nullptr, {}});
    variants.push_back({"overlap in a pair", [&](int b) { block(b, false, true); }, true, nullptr, {}});
    variants.push_back({"overlap of all", [&](int b) { block(b, true, true); }, true, nullptr, {}});
    if (hasBlas) {
      variants.push_back({"cuBLAS, products alone",
                          [&](int b) {
                            blas.product(X + rowsX * b, W1 + w1 * (b % SETS), H, rows, N1, K1);
                            blas.product(H, W2 + w2 * (b % SETS), X + rowsX * (b + 1), rows, N2, N1);
                          },
                          false, nullptr, {}});
    }
    for (Variant& v : variants) {
      cudaGraph_t graph;
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      for (int b = 0; b < BLOCKS; ++b) v.run(b);
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&v.graph, graph, 0));
      CHECK(cudaGraphDestroy(graph));
    }
    // What a run left in every y, against f64 from the x that the block had.
    auto verify = [&](const Variant& v, const char* when) {
      double error = 0, norm = 0, worstRms = 0;
      long bad = 0;
      const int n = rows * N2;
      std::vector<Element> y(n);
      std::vector<double> ref(n);
      for (int b = 0; b < BLOCKS; ++b) {
        widen<<<(rows * K1 + 255) / 256, 256>>>(X + rowsX * b, refX, rows * K1);
        product<double, true><<<((long)rows * N1 * 32 + 255) / 256, 256>>>(refX, W1 + w1 * (b % SETS), refH, rows, N1, K1);
        product<double, false><<<((long)rows * N2 * 32 + 255) / 256, 256>>>(refH, W2 + w2 * (b % SETS), refY, rows, N2, N1);
        CHECK(cudaMemcpy(y.data(), X + rowsX * (b + 1), n * 2, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(ref.data(), refY, n * 8, cudaMemcpyDeviceToHost));
        double e = 0, s = 0, w = 0;
        for (int i = 0; i < n; ++i) {
          const double got = (double)(float)y[i], d = got - ref[i];
          if (!std::isfinite(got)) ++bad;
          e += d * d, s += ref[i] * ref[i], w = std::max(w, std::fabs(d));
        }
        error = std::max(error, std::sqrt(e / s)), norm = std::sqrt(s / n);
        worstRms = std::max(worstRms, w / norm);
      }
      const bool good = bad == 0 && error < 1e-2 && worstRms < 0.1;
      ok &= good;
      std::printf("  %-24s rows %3d %s: %s rel %.2e worst/rms %.2e nonfinite %ld\n", v.name.c_str(), rows, when,
                  good ? "right" : "WRONG", error, worstRms, bad);
      return good;
    };
    auto run = [&](Variant& v, int times) {
      for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(v.graph, stream));
    };
    auto fresh = [&] {
      CHECK(cudaMemset(X, 0xFF, rowsX * 2 * (BLOCKS + 1)));
      CHECK(cudaMemset(H, 0xFF, (size_t)BUCKET * N1 * 2));
      fill<<<64, 256>>>(X, (size_t)rows * K1, seed + rows, 1.0f);
      CHECK(cudaDeviceSynchronize());
    };
    bool good = true;
    for (Variant& v : variants) {
      fresh();
      run(v, 1);
      CHECK(cudaStreamSynchronize(stream));
      if (v.complete) good &= verify(v, "first");
    }
    if (!good || (rows != 1 && rows != BUCKET)) continue;
    fresh();
    cudaEvent_t a, b;
    CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
    constexpr int ROUNDS = 11, TIMES = 10;  // 150 blocks, about 9 ms
    for (int round = 0; round < ROUNDS; ++round) {
      for (size_t i = 0; i < variants.size(); ++i) {
        Variant& v = variants[(i + round) % variants.size()];
        fresh();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        run(v, 1);
        CHECK(cudaEventRecord(a, stream));
        run(v, TIMES);
        CHECK(cudaEventRecord(b, stream));
        CHECK(cudaEventSynchronize(b));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, a, b));
        v.us.push_back(ms * 1e3 / (TIMES * BLOCKS));
      }
    }
    for (Variant& v : variants) {
      if (v.complete) {
        fresh();
        run(v, 3);
        CHECK(cudaStreamSynchronize(stream));
        verify(v, "after");
      }
    }
    const double plain = median(variants[0].us);
    for (Variant& v : variants) {
      const double us = median(v.us);
      std::printf("%-24s rows %3d  %6.2f us a block (min %6.2f, max %6.2f)  %5.2f TB/s  %.3f of one after the other\n",
                  v.name.c_str(), rows, us, *std::min_element(v.us.begin(), v.us.end()),
                  *std::max_element(v.us.begin(), v.us.end()), (w1 + w2) * 2e-6 / us, us / plain);
      CHECK(cudaGraphExecDestroy(v.graph));
    }
    std::fflush(stdout);
  }
  return ok ? 0 : 1;
}
