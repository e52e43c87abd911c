// How many clocks of an SM a row of a TMA box takes, by its bytes and by what of it lies inside of the matrix: the first thread of each
// block copies boxes out of L2, several on their way; a line for each kind,
//   nvcc -arch=sm_90a -O3 -o tma-rows tma-rows.cu && ./tma-rows
// (a second on an H200). Columns: bytes of a row inside of the matrix, from row to row, of a box's row; rows of a box; boxes on their
// way; blocks; whether blocks begin at different rows; clocks of a row and of a box, bytes a clock. A thread needs 128 clocks for a
// box, so boxes of 64 rows say nothing below 2. What it said: docs/benchmarks/2026-11-30-chains-beside-launches.md
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(x)                                                        \
  do {                                                                  \
    const cudaError_t status = (x);                                     \
    if (status != cudaSuccess) {                                        \
      std::fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(status)); \
      std::exit(3);                                                     \
    }                                                                   \
  } while (0)

constexpr int kSharedBytes = 197 << 10;
constexpr int kLaps = 64;

__device__ __forceinline__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

template <int DEPTH>
__global__ void copy_boxes(const __grid_constant__ CUtensorMap map, int rows, int bytes, int span, int apart, long long* clocks) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ __align__(8) uint64_t full[DEPTH];
  if (threadIdx.x != 0) {
    return;
  }
  for (int i = 0; i < DEPTH; i++) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[i])));
  }
  asm volatile("fence.mbarrier_init.release.cluster;");
  const int size = rows * bytes;
  const int room = (size + 1023) / 1024 * 1024;
  int y = (int)(((long long)apart * blockIdx.x * rows) % span);
  auto issue = [&](int stage) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&full[stage])), "r"(size) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            shared_address(stages + stage * room)),
        "l"(&map), "r"(0), "r"(y), "r"(shared_address(&full[stage]))
        : "memory");
    y += rows;
    if (y + rows > span) {
      y = 0;
    }
  };
#pragma unroll
  for (int i = 0; i < DEPTH; i++) {
    issue(i);
  }
  long long begin = 0;
  for (int lap = 0; lap < kLaps; lap++) {
    if (lap == kLaps / 4) {
      begin = clock64();
    }
#pragma unroll
    for (int stage = 0; stage < DEPTH; stage++) {
      uint32_t done = 0;
      while (!done) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(shared_address(&full[stage])), "r"(lap & 1)
                     : "memory");
      }
      if (lap + 1 < kLaps) {
        issue(stage);
      }
    }
  }
  clocks[blockIdx.x] = clock64() - begin;
}

struct Rows {
  int inside, pitch, box;
};

struct Load {
  int rows, depth, blocks, apart;
};

static CUtensorMapSwizzle swizzle(int bytes) {
  switch (bytes) {
    case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
    case 64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case 32: return CU_TENSOR_MAP_SWIZZLE_32B;
    default: return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}

static void measure(decltype(&cuTensorMapEncodeTiled) encode, char* data, long long* clocks, Rows r, Load l) {
  int span = (16 << 20) / r.pitch;
  span = span > 16384 ? 16384 : span / 256 * 256;
  CUtensorMap map;
  const cuuint64_t dims[2] = {(cuuint64_t)r.inside / 2, (cuuint64_t)span}, strides[1] = {(cuuint64_t)r.pitch};
  const cuuint32_t box[2] = {(cuuint32_t)r.box / 2, (cuuint32_t)l.rows}, steps[2] = {1, 1};
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle(r.box),
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "no tensor map of rows of %d bytes in boxes of %d\n", r.inside, r.box);
    std::exit(3);
  }
  double best = 1e30;
  for (int repeat = 0; repeat < 3; repeat++) {
    if (l.depth == 4) {
      copy_boxes<4><<<l.blocks, 32, kSharedBytes>>>(map, l.rows, r.box, span, l.apart, clocks);
    } else {
      copy_boxes<8><<<l.blocks, 32, kSharedBytes>>>(map, l.rows, r.box, span, l.apart, clocks);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double sum = 0;
    for (int b = 0; b < l.blocks; b++) {
      sum += (double)clocks[b] / l.blocks;
    }
    best = sum < best ? sum : best;
  }
  const double boxes = (double)(kLaps - kLaps / 4) * l.depth;
  std::printf("%6d %6d %4d %4d %2d %4d %d | %6.2f %7.0f %6.1f\n", r.inside, r.pitch, r.box, l.rows, l.depth, l.blocks, l.apart,
              best / boxes / l.rows, best / boxes, r.inside * boxes * l.rows / best);
}

int main() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  auto encode = (decltype(&cuTensorMapEncodeTiled))entry;
  char* data = nullptr;
  CHECK(cudaMalloc(&data, 64 << 20));
  CHECK(cudaMemset(data, 1, 64 << 20));
  long long* clocks = nullptr;
  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaMallocManaged(&clocks, sizeof(long long) * sms));
  CHECK(cudaFuncSetAttribute(copy_boxes<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  CHECK(cudaFuncSetAttribute(copy_boxes<8>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  std::printf("inside  pitch  box rows on blocks apart | clocks a row, a box, bytes a clock\n");
  for (Rows r : {Rows{16, 16, 16}, Rows{16, 16, 32}, Rows{32, 32, 32}, Rows{48, 48, 48}, Rows{48, 48, 64}, Rows{48, 48, 128},
                 Rows{64, 64, 64}, Rows{128, 128, 128}, Rows{16, 2704, 16}, Rows{32, 2704, 32}, Rows{64, 2704, 64},
                 Rows{128, 2704, 128}, Rows{32, 16384, 32}, Rows{64, 16384, 64}, Rows{128, 16384, 128}, Rows{48, 16384, 64}}) {
    for (Load l : {Load{64, 4, sms, 0}, Load{64, 8, sms, 0}, Load{64, 8, sms, 1}, Load{64, 8, sms / 2, 0}, Load{64, 8, sms / 4, 0},
                   Load{64, 8, 1, 0}, Load{128, 4, sms, 0}, Load{128, 8, sms, 0}, Load{128, 8, sms, 1}}) {
      measure(encode, data, clocks, r, l);
    }
  }
  return 0;
}
