// How far sin.approx.ftz.f32 and cos.approx.ftz.f32 are off, for each f32: a line for each power of two,
//   nvcc -arch=sm_90a -O3 -o sines sines.cu && ./sines
// (half a second on an H200). Exit code 1 if any is off by more than 2^-20.9 and 2^-22.5 of its argument, as what Warpwright takes
// for sines in 16-bit networks is said to be.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(x)                                                     \
  do {                                                               \
    const cudaError_t status = (x);                                  \
    if (status != cudaSuccess) {                                     \
      std::fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(status)); \
      std::exit(3);                                                  \
    }                                                                \
  } while (0)

// The greatest error of the floats of an exponent, and the greatest part of an argument that what is beyond 2^-20.9 would be.
struct Errors {
  unsigned long long absolute[255];  // doubles' bits, which are ordered as they are where none is negative
  unsigned long long relative[255];
  unsigned long long beyond;
};

template <bool cosine>
__global__ void errors(Errors* all) {
  for (unsigned exponent = blockIdx.x; exponent < 255; exponent += gridDim.x) {
    double absolute = 0, relative = 0;
    unsigned long long beyond = 0;
    for (unsigned fraction = threadIdx.x; fraction < 2u << 23; fraction += blockDim.x) {
      const float x = __uint_as_float((fraction & 1) << 31 | exponent << 23 | fraction >> 1);
      float y;
      if constexpr (cosine) {
        asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
      } else {
        asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
      }
      const double error = fabs(double(y) - (cosine ? cos(double(x)) : sin(double(x))));
      absolute = fmax(absolute, error);
      if (exponent > 0) {
        relative = fmax(relative, (error - exp2(-20.9)) / fabs(double(x)));
      }
      beyond += !(error <= exp2(-20.9) + exp2(-22.5) * fabs(double(x)));
    }
    atomicMax(&all->absolute[exponent], __double_as_longlong(absolute));
    atomicMax(&all->relative[exponent], __double_as_longlong(relative));
    atomicAdd(&all->beyond, beyond);
  }
}

int main() {
  Errors* all;
  CHECK(cudaMallocManaged(&all, 2 * sizeof(Errors)));
  CHECK(cudaMemset(all, 0, 2 * sizeof(Errors)));
  errors<false><<<255, 1024>>>(&all[0]);
  errors<true><<<255, 1024>>>(&all[1]);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const auto value = [](unsigned long long bits) {
    double d;
    static_assert(sizeof(d) == sizeof(bits), "a double's bits");
    __builtin_memcpy(&d, &bits, sizeof(d));
    return d;
  };
  for (int f = 0; f < 2; ++f) {
    const char* const name = f == 0 ? "sin" : "cos";
    for (int e = 100; e < 155; ++e) {
      const double relative = value(all[f].relative[e]);
      std::printf("%s of [2^%d, 2^%d): 2^%.2f", name, e - 127, e - 126, std::log2(value(all[f].absolute[e])));
      std::printf(relative > 0 ? ", beyond 2^-20.9 2^%.2f of the argument\n" : "\n", std::log2(relative));
    }
    std::printf("%s: %llu floats beyond 2^-20.9 and 2^-22.5 of the argument\n", name, all[f].beyond);
  }
  return all[0].beyond + all[1].beyond == 0 ? 0 : 1;
}
