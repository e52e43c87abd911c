package dev.warpwright.parallel.nccl;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A library in NCCL's place, compiled by gcc: it adds where the buffers lie, in the process's own
 * memory, when a group ends, f32 and bf16, and writes down what it was asked for.
 */
public final class FakeNccl {
  private static final String SOURCE =
      """
      #include <stdint.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      typedef struct { int device; int world; } comm;
      typedef struct { void* at; size_t count; int type; comm* of; } call;
      static call calls[64];
      static int pending, depth, live, groups;
      int ncclGetVersion(int* v) { *v = 22703; return 0; }
      const char* ncclGetErrorString(int e) { return e == 4 ? "invalid argument" : "unhandled error"; }
      int ncclCommInitAll(comm** out, int n, const int* devices) {
        if (n < 1) return 4;
        for (int i = 0; i < n; i++) {
          for (int j = 0; j < i; j++) if (devices[i] == devices[j]) return 4;
          out[i] = malloc(sizeof(comm)); out[i]->device = devices[i]; out[i]->world = n; live++;
        }
        return 0;
      }
      int ncclCommDestroy(comm* c) { free(c); live--; return 0; }
      int ncclGroupStart(void) { depth++; return 0; }
      static float get(call* c, size_t i) {
        if (c->type == 7) return ((float*)c->at)[i];
        uint32_t bits = (uint32_t)((uint16_t*)c->at)[i] << 16; float f; memcpy(&f, &bits, 4); return f;
      }
      static void put(call* c, size_t i, float f) {
        if (c->type == 7) { ((float*)c->at)[i] = f; return; }
        uint32_t bits; memcpy(&bits, &f, 4);
        ((uint16_t*)c->at)[i] = (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
      }
      static int run(void) {
        int world = pending ? calls[0].of->world : 0;
        if (pending != world) return 4;
        for (size_t i = 0; pending && i < calls[0].count; i++) {
          float sum = 0;
          for (int d = 0; d < pending; d++) sum += get(&calls[d], i);
          for (int d = 0; d < pending; d++) put(&calls[d], i, sum);
        }
        pending = 0; groups++;
        return 0;
      }
      int ncclGroupEnd(void) { return --depth == 0 ? run() : 0; }
      int ncclAllReduce(const void* in, void* out, size_t n, int type, int op, comm* c, void* stream) {
        if (in != out || op != 0 || (type != 7 && type != 9) || depth == 0 || !stream) return 4;
        call it = { out, n, type, c };
        calls[pending++] = it;
        return 0;
      }
      int fakeLive(void) { return live; }
      int fakeGroups(void) { return groups; }
      """;

  private FakeNccl() {}

  /** Compiles the library into a folder. */
  public static Path compile(Path folder) throws IOException, InterruptedException {
    Path source = folder.resolve("nccl.c");
    Path library = folder.resolve("libnccl.so.2");
    Files.writeString(source, SOURCE);
    Process gcc =
        new ProcessBuilder(
                List.of(
                    "gcc", "-shared", "-fPIC", "-O1", "-o", library.toString(), source.toString()))
            .inheritIO()
            .start();
    if (gcc.waitFor() != 0) {
      throw new IllegalStateException("gcc failed");
    }
    return library;
  }
}
