package dev.warpwright.runtime.cuda;

import java.util.Set;

/** Work that was captured once and is replayed with a single call. */
public final class CudaGraph extends CudaResource {
  private static final int THREAD_LOCAL = 1;

  private final long exec;
  private final Set<CudaResource> used;

  private CudaGraph(CudaContext context, long exec, Set<CudaResource> used) {
    super(context);
    this.exec = exec;
    this.used = Set.copyOf(used);
  }

  /**
   * Captures what {@code work} gives to the stream, without running it. Launches, fills, copies on
   * the device, copies of pinned memory and events can be captured; allocating, waiting and copies
   * of ordinary memory cannot. Arguments are captured as they are now.
   *
   * @throws dev.warpwright.base.DeviceError if the work cannot be captured
   */
  public static CudaGraph capture(CudaStream stream, Runnable work) {
    CudaContext context = stream.context();
    stream.use();
    stream.beginCapture();
    try (Out graph = new Out()) {
      context.check(
          StreamCalls.Graphs.begin(stream.handle(), THREAD_LOCAL), "cuStreamBeginCapture");
      boolean done = false;
      try {
        work.run();
        done = true;
      } finally {
        context.use();
        int status = StreamCalls.Graphs.end(stream.handle(), graph.address());
        if (done) {
          context.check(status, "cuStreamEndCapture");
        } else if (status == CudaError.SUCCESS) {
          // The work failed, and its own error is on the way.
          int _ = StreamCalls.Graphs.destroy(graph.asLong());
        }
      }
      return instantiate(context, graph.asLong(), stream.captured());
    } finally {
      stream.endCapture();
    }
  }

  private static CudaGraph instantiate(CudaContext context, long graph, Set<CudaResource> used) {
    try (Out exec = new Out()) {
      int status = StreamCalls.Graphs.instantiate(exec.address(), graph);
      int destroyed = StreamCalls.Graphs.destroy(graph);
      context.check(status, "cuGraphInstantiate");
      CudaGraph made = new CudaGraph(context, exec.asLong(), used);
      context.check(destroyed, "cuGraphDestroy");
      return made;
    }
  }

  /**
   * Gives the captured work to a stream and does not wait.
   *
   * @throws IllegalStateException if something that the work uses is closed
   */
  public void replay(CudaStream stream) {
    use();
    for (CudaResource resource : used) {
      resource.checkOpen();
    }
    context().check(StreamCalls.Graphs.launch(exec, stream.handle()), "cuGraphLaunch");
  }

  @Override
  int destroy() {
    return StreamCalls.Graphs.destroyExec(exec);
  }

  @Override
  public String toString() {
    return "CUDA graph";
  }
}
