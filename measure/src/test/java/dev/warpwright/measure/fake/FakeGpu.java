package dev.warpwright.measure.fake;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.runtime.cuda.NativeFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A GPU at the driver's boundary: the functions of CUDA's driver API in Java. Memory is the
 * process's own, kernels are executed by the simulator, and time is virtual: it passes by what each
 * kernel is said to take, so that tests know every microsecond. All of Warpwright that lies above
 * the driver is the real thing.
 *
 * <p>Kernels arrive as text that only a compiler of CUDA understands, so the device is told
 * beforehand which {@linkplain #knows kernels} it may meet. Each method is named by the function
 * that it is.
 */
public final class FakeGpu implements NativeFunctions, AutoCloseable {
  public static final String NAME = "Fake GPU";

  /** What a call outside of a graph costs beside the work itself. */
  public static final double CALL_US = 100;

  private static final int INVALID_VALUE = 1;
  private static final int OUT_OF_MEMORY = 2;
  private static final int NOT_FOUND = 500;
  private static final int LAUNCH_FAILED = 719;
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  private static final int L2_SIZE = 38;

  /** Attributes by {@code CUdevice_attribute}. */
  private static final Map<Integer, Integer> ATTRIBUTES =
      Map.ofEntries(
          Map.entry(75, 8),
          Map.entry(76, 0),
          Map.entry(16, 108),
          Map.entry(97, 163 << 10),
          Map.entry(81, 164 << 10),
          Map.entry(82, 65536),
          Map.entry(39, 2048),
          Map.entry(13, 1_410_000),
          Map.entry(36, 1_593_000),
          Map.entry(37, 5120));

  private record Op(String name, Runnable effect, Object identity) {}

  private final Map<String, KernelRunner> kernels = new HashMap<>();
  private final Map<String, Double> micros = new HashMap<>();
  private final Set<String> faulty = new HashSet<>();
  private final Set<String> broken = new HashSet<>();
  private final Set<String> skipped = new HashSet<>();
  private final Map<Long, Arena> memory = new HashMap<>();
  private final Map<Long, Arena> hostMemory = new HashMap<>();
  private final Map<Long, String> functions = new HashMap<>();
  private final Map<Long, String> modules = new HashMap<>();
  private final Map<Long, Double> events = new HashMap<>();
  private int l2Bytes = 1;
  private int contexts;
  private int made;
  private final Map<Long, List<Op>> graphs = new HashMap<>();
  private final List<String> turns = new ArrayList<>();
  private final FakeCompiler compiler = new FakeCompiler();
  private final @Nullable FakeCublas cublas;
  private final Replacement replacement;
  private @Nullable List<Op> capture;
  private double now;
  private long handles = 1;
  private boolean lost;
  private int devices = 1;
  private int hostCopies;
  private int liveStreams;
  private int liveEvents;
  private int mostBuffers = Integer.MAX_VALUE;
  private int waits;
  private int capturing;

  private FakeGpu(@Nullable FakeCublas cublas) {
    this.cublas = cublas;
    if (cublas != null) {
      cublas.install(this);
    }
    replacement = NativeFunctions.replace(this);
    CudaCompilers.replace(compiler);
  }

  /** A machine with this GPU and no library. */
  public static FakeGpu install() {
    return new FakeGpu(null);
  }

  /** A machine with this GPU and NVIDIA's matrix libraries. */
  public static FakeGpu install(FakeCublas cublas) {
    return new FakeGpu(cublas);
  }

  /** So many GPUs, which share memory and clock. */
  public FakeGpu devices(int number) {
    devices = number;
    return this;
  }

  /** Has so much L2; otherwise so little that two sets of inputs suffice. */
  public FakeGpu l2(int bytes) {
    l2Bytes = bytes;
    return this;
  }

  /** How often the primary context was made. */
  public int contextsMade() {
    return made;
  }

  /** How many have it now. */
  public int liveContexts() {
    return contexts;
  }

  /** Can run a kernel, by its meaning. */
  public FakeGpu knows(Kernel kernel) {
    kernels.put(CudaPrinter.functionName(kernel), new KernelRunner(kernel));
    return this;
  }

  /** How long a kernel takes; one microsecond unless it is said. */
  public FakeGpu takes(String kernel, double us) {
    micros.put(kernel, us);
    return this;
  }

  /** The next launch of a kernel ends all, as an access to wrong memory does. */
  public FakeGpu faults(String kernel) {
    faulty.add(kernel);
    return this;
  }

  /** From now on a kernel writes nothing. */
  public FakeGpu skips(String kernel) {
    skipped.add(kernel);
    return this;
  }

  /** From now on a kernel leaves zeros in the last matrix that it is given. */
  public FakeGpu breaks(String kernel) {
    broken.add(kernel);
    return this;
  }

  /** The kernels that the compiler says spill. */
  public FakeCompiler compiler() {
    return compiler;
  }

  /** What was run by graphs, in order: the first operation of each replay. */
  public List<String> replays() {
    return turns;
  }

  public double now() {
    return now;
  }

  /** Buffers that are allocated and not freed. */
  public int liveBuffers() {
    return memory.size();
  }

  /** Pinned memory of the host that was not freed yet. */
  public int livePinned() {
    return hostMemory.size();
  }

  /** Copies from and to the host until now. */
  public int hostCopies() {
    return hostCopies;
  }

  /** How many streams were made and not destroyed. */
  public int liveStreams() {
    return liveStreams;
  }

  /** What was made on the device and not given back, by kind. */
  public Map<String, Integer> live() {
    Map<String, Integer> all =
        new TreeMap<>(
            Map.of(
                "buffers", memory.size(),
                "pinned", hostMemory.size(),
                "streams", liveStreams,
                "events", liveEvents,
                "modules", modules.size(),
                "graphs", graphs.size()));
    all.values().removeIf(number -> number == 0);
    return all;
  }

  /** Has memory for so many buffers at once and no more. */
  public FakeGpu fits(int buffers) {
    mostBuffers = buffers;
    return this;
  }

  /** How often a stream was waited for. */
  public int waits() {
    return waits;
  }

  /** Does something on the stream: now, or in the graph that is being captured. */
  public void enqueue(String name, Object identity, Runnable effect) {
    Op op = new Op(name, effect, identity);
    if (capture != null) {
      capture.add(op);
    } else {
      now += CALL_US;
      effect.run();
      pass(name);
    }
  }

  private void pass(String name) {
    now += micros.getOrDefault(name, 1.0);
  }

  @Override
  public Optional<MethodHandle> find(String symbol, FunctionDescriptor descriptor) {
    MethodType type = descriptor.toMethodType();
    for (Object owner : cublas == null ? List.of(this) : List.of(this, cublas)) {
      try {
        return Optional.of(LOOKUP.findVirtual(owner.getClass(), symbol, type).bindTo(owner));
      } catch (NoSuchMethodException e) {
        // The other one, or nobody has it.
      } catch (IllegalAccessException e) {
        throw new IllegalStateException(e);
      }
    }
    return Optional.empty();
  }

  static MemorySegment at(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }

  private static int put(long address, long value) {
    at(address, 8).set(JAVA_LONG, 0, value);
    return 0;
  }

  private static int putInt(long address, int value) {
    at(address, 4).set(JAVA_INT, 0, value);
    return 0;
  }

  int cuInit(int flags) {
    return 0;
  }

  int cuDriverGetVersion(long out) {
    return putInt(out, 13000);
  }

  int cuDeviceGetCount(long out) {
    return putInt(out, devices);
  }

  int cuDeviceGet(long out, int ordinal) {
    return putInt(out, ordinal);
  }

  int cuDeviceGetName(long out, int bytes, int device) {
    at(out, bytes).setString(0, NAME);
    return 0;
  }

  int cuDeviceTotalMem_v2(long out, int device) {
    return put(out, 1L << 34);
  }

  int cuDeviceGetUuid_v2(long out, int device) {
    at(out, 16).fill((byte) 7);
    return 0;
  }

  int cuDeviceGetAttribute(long out, int attribute, int device) {
    return putInt(out, attribute == L2_SIZE ? l2Bytes : ATTRIBUTES.getOrDefault(attribute, 0));
  }

  int cuDevicePrimaryCtxRetain(long out, int device) {
    // The primary context is one: who retains it while others have it gets it as it is.
    if (contexts++ == 0) {
      made++;
      lost = false;
    }
    return put(out, 1);
  }

  int cuDevicePrimaryCtxRelease_v2(int device) {
    contexts--;
    return 0;
  }

  int cuCtxSetCurrent(long context) {
    return 0;
  }

  int cuCtxSynchronize() {
    return state();
  }

  private int state() {
    return lost ? LAUNCH_FAILED : 0;
  }

  int cuMemGetInfo_v2(long outFree, long outTotal) {
    put(outTotal, 1L << 34);
    return put(outFree, 1L << 33);
  }

  int cuGetErrorName(int status, long out) {
    return put(out, text("FAKE_ERROR_" + status));
  }

  int cuGetErrorString(int status, long out) {
    return put(out, text(status == LAUNCH_FAILED ? "the kernel faulted" : "it is so"));
  }

  long text(String value) {
    return Arena.global().allocateFrom(value).address();
  }

  int cuStreamCreate(long out, int flags) {
    liveStreams++;
    return put(out, handles++);
  }

  int cuStreamDestroy_v2(long stream) {
    liveStreams--;
    return 0;
  }

  int cuStreamSynchronize(long stream) {
    waits++;
    return capture != null ? INVALID_VALUE : state();
  }

  /** What was given before is done already. */
  int cuStreamQuery(long stream) {
    return state();
  }

  /** What was given before is done already, or stands before it in the same graph. */
  int cuStreamWaitEvent(long stream, long event, int flags) {
    return state();
  }

  int cuEventCreate(long out, int flags) {
    liveEvents++;
    return put(out, handles++);
  }

  int cuEventDestroy_v2(long event) {
    liveEvents--;
    events.remove(event);
    return 0;
  }

  int cuEventRecord(long event, long stream) {
    events.put(event, now);
    return state();
  }

  int cuEventSynchronize(long event) {
    return state();
  }

  int cuEventElapsedTime(long out, long start, long end) {
    double from = events.getOrDefault(start, Double.NaN);
    at(out, 4).set(JAVA_FLOAT, 0, (float) ((events.getOrDefault(end, Double.NaN) - from) / 1e3));
    return state();
  }

  int cuStreamBeginCapture_v2(long stream, int mode) {
    // Streams that are captured together have one list: the first one's graph does all.
    if (capturing++ == 0) {
      capture = new ArrayList<>();
    }
    return 0;
  }

  int cuStreamEndCapture(long stream, long out) {
    long graph = handles++;
    graphs.put(graph, capture == null ? List.of() : capture);
    capture = --capturing == 0 ? null : new ArrayList<>();
    return put(out, graph);
  }

  int cuGraphInstantiateWithFlags(long out, long graph, long flags) {
    long exec = handles++;
    List<Op> ops = graphs.get(graph);
    graphs.put(exec, ops == null ? List.of() : ops);
    return put(out, exec);
  }

  /** What comes again with the same arguments is executed once: it would do the same again. */
  int cuGraphLaunch(long exec, long stream) {
    Set<Object> done = new HashSet<>();
    List<Op> ops = graphs.getOrDefault(exec, List.of());
    if (!ops.isEmpty()) {
      turns.add(ops.getFirst().name());
    }
    for (Op op : ops) {
      if (done.add(op.identity())) {
        op.effect().run();
      }
      pass(op.name());
    }
    return state();
  }

  int cuGraphExecDestroy(long exec) {
    graphs.remove(exec);
    return 0;
  }

  int cuGraphDestroy(long graph) {
    graphs.remove(graph);
    return 0;
  }

  int cuMemAlloc_v2(long out, long bytes) {
    if (memory.size() >= mostBuffers) {
      return OUT_OF_MEMORY;
    }
    Arena arena = Arena.ofShared();
    MemorySegment segment = arena.allocate(bytes, 256);
    memory.put(segment.address(), arena);
    return put(out, segment.address());
  }

  int cuMemFree_v2(long address) {
    Arena arena = memory.remove(address);
    if (arena == null) {
      return INVALID_VALUE;
    }
    arena.close();
    return 0;
  }

  int cuMemHostAlloc(long out, long bytes, int flags) {
    Arena arena = Arena.ofShared();
    MemorySegment segment = arena.allocate(bytes, 256);
    hostMemory.put(segment.address(), arena);
    return put(out, segment.address());
  }

  int cuMemFreeHost(long address) {
    Arena arena = hostMemory.remove(address);
    if (arena != null) {
      arena.close();
    }
    return 0;
  }

  int cuMemcpyHtoDAsync_v2(long device, long host, long bytes, long stream) {
    hostCopies++;
    at(device, bytes).copyFrom(at(host, bytes));
    return state();
  }

  int cuMemcpyDtoHAsync_v2(long host, long device, long bytes, long stream) {
    hostCopies++;
    at(host, bytes).copyFrom(at(device, bytes));
    return state();
  }

  int cuMemcpyDtoDAsync_v2(long to, long from, long bytes, long stream) {
    enqueue("copy", List.of(to, from, bytes), () -> at(to, bytes).copyFrom(at(from, bytes)));
    return state();
  }

  int cuMemsetD8Async(long address, int value, long count, long stream) {
    // Identities of fills differ, for what lies between two of them may be read.
    enqueue("fill", new Object(), () -> at(address, count).fill((byte) value));
    return state();
  }

  int cuModuleLoadDataEx(long out, long image, int options, long names, long values) {
    long module = handles++;
    modules.put(module, at(image, Long.MAX_VALUE).getString(0));
    return put(out, module);
  }

  int cuModuleUnload(long module) {
    modules.remove(module);
    return 0;
  }

  int cuModuleGetFunction(long out, long module, long name) {
    String function = at(name, Long.MAX_VALUE).getString(0);
    if (!Arrays.asList(modules.getOrDefault(module, "").split("\n")).contains(function)) {
      return NOT_FOUND;
    }
    if (!kernels.containsKey(function)) {
      throw new IllegalStateException("the fake GPU was not told of kernel " + function);
    }
    long handle = handles++;
    functions.put(handle, function);
    return put(out, handle);
  }

  int cuFuncSetAttribute(long function, int attribute, int value) {
    return 0;
  }

  int cuFuncGetAttribute(long out, int attribute, long function) {
    // MAX_THREADS_PER_BLOCK, NUM_REGS, MAX_DYNAMIC_SHARED_SIZE_BYTES
    return putInt(
        out,
        switch (attribute) {
          case 0 -> 1024;
          case 4 -> 32;
          case 8 -> 48 << 10;
          default -> 0;
        });
  }

  int cuLaunchKernel(
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int shared,
      long stream,
      long parameters,
      long extra) {
    String name = functions.get(function);
    KernelRunner runner = name == null ? null : kernels.get(name);
    if (name == null || runner == null) {
      return INVALID_VALUE;
    }
    List<Object> arguments = runner.arguments(parameters);
    enqueue(
        name,
        List.of(name, arguments),
        () -> {
          if (faulty.contains(name)) {
            lost = true;
          } else if (!skipped.contains(name)) {
            runner.run(arguments);
            if (broken.contains(name)) {
              runner.clearLast(arguments);
            }
          }
        });
    return state();
  }

  /** The machine is again what it was. */
  @Override
  public void close() {
    replacement.close();
    CudaCompilers.replace(null);
    memory.values().forEach(Arena::close);
    hostMemory.values().forEach(Arena::close);
  }
}
