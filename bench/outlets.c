/* Runs machine code that 'warpwright export --cubin' wrote, through its header: loads it, launches it on a stream, checks the
 * result against the reference beside it and times it in a graph.
 * cc -DNAME=block -DHEADER='"block.h"' outlets.c -lcuda; then: a.out FOLDER ROWS BYTES_OF_X BYTES_OF_Y TYPE_OF_Y */
#include HEADER

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define OF(what) JOIN(NAME, what)

static void check(CUresult status, const char* what) {
  if (status != CUDA_SUCCESS) {
    const char* text = "?";
    cuGetErrorString(status, &text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(3);
  }
}

static void* read_file(const char* folder, const char* name, size_t* bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  void* data = malloc(*bytes + 1);
  if (fread(data, 1, *bytes, file) != *bytes) {
    perror(path);
    exit(2);
  }
  fclose(file);
  return data;
}

static double element(const void* y, size_t i, const char* type) {
  if (!strcmp(type, "f32")) {
    return ((const float*)y)[i];
  }
  const uint16_t bits = ((const uint16_t*)y)[i];
  if (!strcmp(type, "bf16")) {
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
  }
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31   ? (fraction ? NAN : INFINITY)
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -size : size;
}

int main(int count, char** arguments) {
  if (count != 6) {
    fprintf(stderr, "usage: %s FOLDER ROWS BYTES_OF_X BYTES_OF_Y TYPE_OF_Y\n", arguments[0]);
    return 2;
  }
  const char* folder = arguments[1];
  const int rows = atoi(arguments[2]);
  const size_t x_bytes = strtoull(arguments[3], NULL, 10), y_bytes = strtoull(arguments[4], NULL, 10);
  CUdevice device;
  CUcontext context;
  CUstream stream;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");

  size_t bytes;
  char name[256];
  struct OF(_module) module;
  snprintf(name, sizeof name, "%s.cubin", strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder);
  check(OF(_load)(&module, read_file(folder, name, &bytes)), "load");
  CUdeviceptr x, y, constants, workspace = 0;
  void* host = read_file(folder, "x.bin", &bytes);
  if (bytes != x_bytes) {
    fprintf(stderr, "x.bin has %zu bytes, not %zu\n", bytes, x_bytes);
    return 2;
  }
  check(cuMemAlloc(&x, x_bytes), "cuMemAlloc");
  check(cuMemcpyHtoD(x, host, x_bytes), "cuMemcpyHtoD");
  host = read_file(folder, "constants.bin", &bytes);
  check(cuMemAlloc(&constants, bytes), "cuMemAlloc");
  check(cuMemcpyHtoD(constants, host, bytes), "cuMemcpyHtoD");
  check(cuMemAlloc(&y, y_bytes), "cuMemAlloc");
  check(cuMemsetD8(y, 0xFF, y_bytes), "cuMemsetD8");
  if (OF(_workspace_bytes)(rows)) {
    check(cuMemAlloc(&workspace, OF(_workspace_bytes)(rows)), "cuMemAlloc");
    check(cuMemsetD8(workspace, 0xFF, OF(_workspace_bytes)(rows)), "cuMemsetD8");
  }
  check(OF(_prepare)(workspace, rows, stream), "prepare");
  check(OF(_launch)(&module, x, y, constants, rows, workspace, stream), "launch");
  check(cuStreamSynchronize(stream), "cuStreamSynchronize");

  void* got = malloc(y_bytes);
  check(cuMemcpyDtoH(got, y, y_bytes), "cuMemcpyDtoH");
  const float* expected = read_file(folder, "y.expected.bin", &bytes);
  double off = 0, all = 0;
  for (size_t i = 0; i < bytes / 4; ++i) {
    const double error = element(got, i, arguments[5]) - expected[i];
    off += error * error;
    all += (double)expected[i] * expected[i];
  }
  const double relative = sqrt(off / all);

  CUgraph graph;
  CUgraphExec exec;
  CUevent begin, end;
  check(cuEventCreate(&begin, 0), "cuEventCreate");
  check(cuEventCreate(&end, 0), "cuEventCreate");
  check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
  for (int i = 0; i < 20; ++i) {
    check(OF(_launch)(&module, x, y, constants, rows, workspace, stream), "launch");
  }
  check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  check(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
  float least = INFINITY;
  for (int i = 0; i < 12; ++i) {
    float ms;
    check(cuEventRecord(begin, stream), "cuEventRecord");
    check(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    check(cuEventRecord(end, stream), "cuEventRecord");
    check(cuEventSynchronize(end), "cuEventSynchronize");
    check(cuEventElapsedTime(&ms, begin, end), "cuEventElapsedTime");
    least = ms < least ? ms : least;
  }
  check(OF(_unload)(&module), "unload");
  /* NaN is not less. */
  const int right = relative < 1e-2;
  printf("relative error %.2e: %s; %.2f us\n", relative, right ? "right" : "WRONG", least * 1e3 / 20);
  return right ? 0 : 1;
}
