package dev.warpwright.runtime.cuda;

import dev.warpwright.runtime.call.Out;
import java.util.ArrayList;
import java.util.List;
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
   * @param stream that captures
   * @param work gives its work to that stream on this thread
   * @return the graph, to be closed
   * @throws dev.warpwright.base.DeviceError if the work cannot be captured
   */
  public static CudaGraph capture(CudaStream stream, Runnable work) {
    return capture(List.of(stream), work).getFirst();
  }

  /**
   * Captures what {@code work} gives to streams of several devices, a graph each.
   *
   * @param streams one of each device
   * @param work gives its work to these streams on this thread
   * @return a graph for each stream, in their order, to be closed
   * @throws dev.warpwright.base.DeviceError if the work cannot be captured
   */
  public static List<CudaGraph> capture(List<CudaStream> streams, Runnable work) {
    List<CudaStream> begun = new ArrayList<>();
    List<Long> graphs = new ArrayList<>();
    try (Out graph = new Out()) {
      boolean done = false;
      int status = CudaError.SUCCESS;
      try {
        for (CudaStream stream : streams) {
          stream.use();
          stream.beginCapture();
          begun.add(stream);
          stream
              .context()
              .check(
                  StreamCalls.Graphs.begin(stream.handle(), THREAD_LOCAL), "cuStreamBeginCapture");
        }
        work.run();
        done = true;
      } finally {
        for (CudaStream stream : begun) {
          stream.context().use();
          int ended = StreamCalls.Graphs.end(stream.handle(), graph.address());
          status = status == CudaError.SUCCESS ? ended : status;
          if (ended == CudaError.SUCCESS && done) {
            graphs.add(graph.asLong());
          } else if (ended == CudaError.SUCCESS) {
            // The work failed, and its own error is on the way.
            int _ = StreamCalls.Graphs.destroy(graph.asLong());
          }
        }
      }
      streams.getFirst().context().check(status, "cuStreamEndCapture");
      List<CudaGraph> made = new ArrayList<>();
      for (int i = 0; i < graphs.size(); i++) {
        CudaStream stream = streams.get(i);
        stream.context().use();
        made.add(instantiate(stream.context(), graphs.get(i), stream.captured()));
      }
      return made;
    } finally {
      begun.forEach(CudaStream::endCapture);
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
   * @param stream of the context that captured it
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
