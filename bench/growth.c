// What the calls of CUDA's driver that a model costs leave of the process's memory and of the GPU's: those that
// dev.warpwright.runtime makes, without Java, in stages that can be told apart.
// cc -O2 -Wall -I"$CUDA_HOME/include" bench/growth.c -o growth -ldl
// Usage: growth STAGE CUBIN [ITERATIONS]   the cubin is one of bench/growth.sh; without arguments it lists the stages
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// cuda.h renames functions by macros (cuMemAlloc is cuMemAlloc_v2), so names are pasted once those were replaced.
#define FUNCTIONS(F)                                                                                              \
  F(cuInit) F(cuDeviceGet) F(cuDevicePrimaryCtxRetain) F(cuCtxSetCurrent) F(cuMemGetInfo) F(cuMemAlloc)           \
  F(cuMemFree) F(cuMemHostAlloc) F(cuMemFreeHost) F(cuMemcpyHtoDAsync) F(cuModuleLoadDataEx) F(cuModuleUnload)    \
  F(cuModuleGetFunction) F(cuFuncGetAttribute) F(cuFuncGetParamInfo) F(cuLaunchKernel) F(cuStreamCreate)          \
  F(cuStreamDestroy) F(cuStreamSynchronize) F(cuEventCreate) F(cuEventDestroy) F(cuEventRecord)                   \
  F(cuEventSynchronize) F(cuStreamBeginCapture) F(cuStreamEndCapture)                                             \
  F(cuGraphInstantiateWithFlags) F(cuGraphLaunch) F(cuGraphExecDestroy) F(cuGraphDestroy) F(cuGraphExecUpdate)    \
  F(cuLibraryLoadData) F(cuLibraryUnload) F(cuLibraryGetKernel) F(cuKernelGetFunction) F(cuGetErrorString)
#define TEXT(f) #f
#define POINTER(f) p_##f
#define DECLARE(f) static __typeof__(&f) POINTER(f);
#define RESOLVE(f) POINTER(f) = (__typeof__(&f))symbol(library, TEXT(f));
#define CALL_POINTER(f) POINTER(f)
#define OK(f, ...) check(CALL_POINTER(f)(__VA_ARGS__), #f)
FUNCTIONS(DECLARE)

enum {
  MODULE = 1,       // cuModuleLoadDataEx, cuModuleUnload
  FUNCTION = 2,     // the kernel's handle, its attributes and parameters
  LAUNCH = 4,       // cuLaunchKernel, cuStreamSynchronize
  MEMORY = 8,       // weights: cuMemAlloc, cuMemFree
  PINNED = 16,      // staging, inputs and outputs: cuMemHostAlloc, cuMemFreeHost
  STREAMS = 32,     // two: cuStreamCreate, cuStreamDestroy
  EVENTS = 64,      // two: cuEventCreate, cuEventDestroy
  COPIES = 128,     // weights to the device: cuMemcpyHtoDAsync, cuEventRecord
  GRAPH = 256,      // captured, instantiated, launched, destroyed
  UPDATE = 512,     // captured, and the one executable graph updated: cuGraphExecUpdate
  LIBRARY = 1024,   // cuLibraryLoadData, cuLibraryUnload in place of the module's
  TRIM = 2048,      // malloc_trim(0) after every hundredth
};
enum { MODEL = MODULE | FUNCTION | LAUNCH | MEMORY | PINNED | STREAMS | EVENTS | COPIES };

static const struct {
  const char *name;
  int parts;
} STAGES[] = {
    {"nothing", 0},
    {"module", MODULE},
    {"module-function", MODULE | FUNCTION},
    {"module-launch", MODULE | FUNCTION | LAUNCH},
    {"library", LIBRARY},
    {"library-function", LIBRARY | FUNCTION},
    {"library-launch", LIBRARY | FUNCTION | LAUNCH},
    {"launch", LAUNCH},
    {"graph", GRAPH},
    {"graph-update", UPDATE},
    {"memory", MEMORY},
    {"pinned", PINNED},
    {"streams", STREAMS},
    {"streams-launch", STREAMS | LAUNCH},
    {"streams-graph", STREAMS | GRAPH},
    {"events", EVENTS},
    {"copies", COPIES},
    {"streams-copies", STREAMS | EVENTS | PINNED | MEMORY | COPIES},
    {"model", MODEL},
    {"model-graph", MODEL | GRAPH},
    {"model-library", (MODEL & ~MODULE) | LIBRARY},
    {"model-kept-streams", MODEL & ~(STREAMS | EVENTS | PINNED)},
    {"model-trim", MODEL | TRIM},
};
enum { STAGE_COUNT = sizeof STAGES / sizeof *STAGES, WEIGHTS = 3, SLOTS = 2, SLOT_BYTES = 1 << 20 };

static const size_t WEIGHT_BYTES[WEIGHTS] = {32768, 32768, 2560};

// What a model has on the device; what a stage does not make anew is kept from before its first iteration.
typedef struct {
  CUmodule module;
  CUlibrary library;
  CUfunction function;
  CUdeviceptr weights[WEIGHTS];
  void *staging[SLOTS];
  void *input, *output;
  CUstream loading, running;
  CUevent passed[SLOTS];
  CUgraphExec exec;
} Model;

static void check(CUresult status, const char *call) {
  if (status != CUDA_SUCCESS) {
    const char *text = NULL;
    p_cuGetErrorString(status, &text);
    fprintf(stderr, "%s: %s\n", call, text ? text : "unknown error");
    exit(1);
  }
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "the driver has no %s: it is too old\n", name);
    exit(1);
  }
  return found;
}

static void load_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "no NVIDIA driver (%s): run this where there is a GPU\n", dlerror());
    exit(1);
  }
  FUNCTIONS(RESOLVE)
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  long size = 0;
  if (file) {
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
  }
  char *bytes = file ? malloc(size + 1) : NULL;
  if (!bytes || fread(bytes, 1, size, file) != (size_t)size) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(1);
  }
  bytes[size] = 0;
  fclose(file);
  return bytes;
}

static void open_parts(Model *m, int parts, const char *cubin) {
  if (parts & MODULE) OK(cuModuleLoadDataEx, &m->module, cubin, 0, NULL, NULL);
  if (parts & LIBRARY) OK(cuLibraryLoadData, &m->library, cubin, NULL, NULL, 0, NULL, NULL, 0);
  if (parts & STREAMS) {
    OK(cuStreamCreate, &m->loading, CU_STREAM_NON_BLOCKING);
    OK(cuStreamCreate, &m->running, CU_STREAM_NON_BLOCKING);
  }
  if (parts & MEMORY)
    for (int i = 0; i < WEIGHTS; i++) OK(cuMemAlloc, &m->weights[i], WEIGHT_BYTES[i]);
  if (parts & PINNED) {
    unsigned flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    for (int i = 0; i < SLOTS; i++) OK(cuMemHostAlloc, &m->staging[i], SLOT_BYTES, flags);
    OK(cuMemHostAlloc, &m->input, 256, flags);
    OK(cuMemHostAlloc, &m->output, 256, flags);
  }
  if (parts & EVENTS)
    for (int i = 0; i < SLOTS; i++) OK(cuEventCreate, &m->passed[i], CU_EVENT_DISABLE_TIMING);
  if (parts & FUNCTION) {
    if (parts & LIBRARY) {
      CUkernel kernel;
      OK(cuLibraryGetKernel, &kernel, m->library, "scale");
      OK(cuKernelGetFunction, &m->function, kernel);
    } else {
      OK(cuModuleGetFunction, &m->function, m->module, "scale");
    }
    for (int attribute = 0; attribute < 5; attribute++) {
      int value;
      OK(cuFuncGetAttribute, &value, attribute, m->function);
    }
    for (size_t i = 0; i < 5; i++) {
      size_t offset, size;
      OK(cuFuncGetParamInfo, m->function, i, &offset, &size);
    }
  }
}

static void close_parts(Model *m, int parts) {
  if (parts & PINNED) {
    OK(cuMemFreeHost, m->input);
    OK(cuMemFreeHost, m->output);
  }
  if (parts & STREAMS) {
    OK(cuStreamSynchronize, m->running);
    OK(cuStreamDestroy, m->running);
    OK(cuStreamSynchronize, m->loading);
  }
  for (int i = 0; i < SLOTS; i++) {
    if (parts & PINNED) OK(cuMemFreeHost, m->staging[i]);
    if (parts & EVENTS) OK(cuEventDestroy, m->passed[i]);
  }
  if (parts & STREAMS) OK(cuStreamDestroy, m->loading);
  if (parts & MEMORY)
    for (int i = 0; i < WEIGHTS; i++) OK(cuMemFree, m->weights[i]);
  if (parts & MODULE) OK(cuModuleUnload, m->module);
  if (parts & LIBRARY) OK(cuLibraryUnload, m->library);
}

static void copy_weights(Model *m) {
  for (int i = 0; i < WEIGHTS; i++) {
    int slot = i % SLOTS;
    OK(cuEventSynchronize, m->passed[slot]);
    OK(cuMemcpyHtoDAsync, m->weights[i], m->staging[slot], WEIGHT_BYTES[i], m->loading);
    OK(cuEventRecord, m->passed[slot], m->loading);
  }
  OK(cuStreamSynchronize, m->loading);
}

static void launch(Model *m) {
  void *arguments[] = {&m->input, &m->output, &m->weights[0], &m->weights[1], &m->weights[2]};
  OK(cuLaunchKernel, m->function, 1, 1, 1, 64, 1, 1, 0, m->running, arguments, NULL);
}

static CUgraph captured(Model *m) {
  CUgraph graph;
  OK(cuStreamBeginCapture, m->running, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  launch(m);
  OK(cuStreamEndCapture, m->running, &graph);
  return graph;
}

static void replay(Model *m, CUgraphExec exec) {
  OK(cuGraphLaunch, exec, m->running);
  OK(cuStreamSynchronize, m->running);
}

static CUgraphExec instantiated(Model *m) {
  CUgraphExec exec;
  CUgraph graph = captured(m);
  OK(cuGraphInstantiateWithFlags, &exec, graph, 0);
  OK(cuGraphDestroy, graph);
  return exec;
}

// A model: loaded, called, closed, as far as the stage has it.
static void iterate(const Model *kept, int parts, const char *cubin) {
  Model m = *kept;
  open_parts(&m, parts, cubin);
  if (parts & COPIES) copy_weights(&m);
  if (parts & LAUNCH) {
    launch(&m);
    OK(cuStreamSynchronize, m.running);
  }
  if (parts & GRAPH) {
    CUgraphExec exec = instantiated(&m);
    replay(&m, exec);
    OK(cuGraphExecDestroy, exec);
  }
  if (parts & UPDATE) {
    CUgraph graph = captured(&m);
    CUgraphExecUpdateResultInfo result;
    OK(cuGraphExecUpdate, m.exec, graph, &result);
    OK(cuGraphDestroy, graph);
    replay(&m, m.exec);
  }
  close_parts(&m, parts);
}

typedef struct {
  double resident, allocated, gpu;
  long mappings;
} Memory;

static Memory memory(void) {
  Memory now = {0};
  long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (!statm || fscanf(statm, "%*s %ld", &pages) != 1) {
    fprintf(stderr, "/proc/self/statm: cannot be read\n");
    exit(1);
  }
  fclose(statm);
  now.resident = pages * (sysconf(_SC_PAGESIZE) / 1024.0);
  struct mallinfo2 info = mallinfo2();
  now.allocated = (info.uordblks + info.hblkhd) / 1024.0;
  FILE *maps = fopen("/proc/self/maps", "r");
  for (int c; maps && (c = getc(maps)) != EOF;) now.mappings += c == '\n';
  if (maps) fclose(maps);
  size_t available, total;
  OK(cuMemGetInfo, &available, &total);
  now.gpu = (total - available) / 1024.0;
  return now;
}

static Memory say(const char *stage, const char *when) {
  Memory now = memory();
  printf("%-18s %-12s %10.0f %10.1f %8ld %10.0f\n", stage, when, now.resident, now.allocated, now.mappings, now.gpu);
  fflush(stdout);
  return now;
}

int main(int argc, char **argv) {
  int stage = 0;
  while (argc > 2 && stage < STAGE_COUNT && strcmp(argv[1], STAGES[stage].name)) stage++;
  if (argc < 3 || stage == STAGE_COUNT) {
    if (argc > 2) fprintf(stderr, "no stage %s; the stages are:\n", argv[1]);
    for (int i = 0; i < STAGE_COUNT; i++) puts(STAGES[i].name);
    return argc > 2;
  }
  const char *name = STAGES[stage].name;
  int parts = STAGES[stage].parts;
  int iterations = argc > 3 ? atoi(argv[3]) : 10000;
  if (iterations < 10) {
    fprintf(stderr, "ITERATIONS is %s; it takes 10 or more\n", argv[3]);
    return 1;
  }
  char *cubin = read_file(argv[2]);
  load_driver();
  CUdevice device;
  CUcontext context;
  OK(cuInit, 0);
  OK(cuDeviceGet, &device, 0);
  OK(cuDevicePrimaryCtxRetain, &context, device);
  OK(cuCtxSetCurrent, context);
  Model kept = {0};
  open_parts(&kept, MODULE | FUNCTION | MEMORY | PINNED | STREAMS | EVENTS, cubin);
  kept.exec = instantiated(&kept);
  replay(&kept, kept.exec);
  copy_weights(&kept);

  char when[32];
  Memory tenth = say(name, "before");
  int first = iterations / 10;
  for (int i = 1; i <= iterations; i++) {
    iterate(&kept, parts, cubin);
    if (parts & TRIM && i % 100 == 0) malloc_trim(0);
    if (i == first || i == iterations) {
      snprintf(when, sizeof when, "after %d", i);
      Memory now = say(name, when);
      if (i == first) {
        tenth = now;
      } else {
        double each = 1024.0 / (iterations - first);
        malloc_trim(0);
        Memory trimmed = say(name, "trimmed");
        printf("%-18s %-12s %10.0f %10.1f %8ld %10.0f   bytes an iteration from %d on; trimmed %.0f\n", name, "each",
            (now.resident - tenth.resident) * each, (now.allocated - tenth.allocated) * each,
            now.mappings - tenth.mappings, (now.gpu - tenth.gpu) * each, first,
            (trimmed.resident - tenth.resident) * each);
      }
    }
  }
  return 0;
}
