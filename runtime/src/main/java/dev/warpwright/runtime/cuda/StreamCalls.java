package dev.warpwright.runtime.cuda;

import static dev.warpwright.runtime.cuda.DriverLibrary.bind;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.runtime.call.Downcall;
import java.lang.invoke.MethodHandle;

/**
 * The driver's functions on streams, events and graphs. A {@code long} is a pointer or a handle.
 */
final class StreamCalls {
  private static final MethodHandle CREATE = bind("cuStreamCreate", JAVA_LONG, JAVA_INT);
  private static final MethodHandle DESTROY = bind("cuStreamDestroy_v2", JAVA_LONG);
  private static final MethodHandle SYNCHRONIZE = bind("cuStreamSynchronize", JAVA_LONG);
  private static final MethodHandle QUERY = bind("cuStreamQuery", JAVA_LONG);
  private static final MethodHandle WAIT_EVENT =
      bind("cuStreamWaitEvent", JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle CREATE_EVENT = bind("cuEventCreate", JAVA_LONG, JAVA_INT);
  private static final MethodHandle RECORD = bind("cuEventRecord", JAVA_LONG, JAVA_LONG);
  private static final MethodHandle SYNCHRONIZE_EVENT = bind("cuEventSynchronize", JAVA_LONG);
  private static final MethodHandle ELAPSED =
      bind("cuEventElapsedTime", JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DESTROY_EVENT = bind("cuEventDestroy_v2", JAVA_LONG);

  private StreamCalls() {}

  static int create(long outStream, int flags) {
    return Downcall.call(CREATE, outStream, flags);
  }

  static int destroy(long stream) {
    return Downcall.call(DESTROY, stream);
  }

  static int synchronize(long stream) {
    return Downcall.call(SYNCHRONIZE, stream);
  }

  static int query(long stream) {
    return Downcall.call(QUERY, stream);
  }

  static int waitEvent(long stream, long event) {
    return Downcall.call(WAIT_EVENT, stream, event, 0);
  }

  static int createEvent(long outEvent, int flags) {
    return Downcall.call(CREATE_EVENT, outEvent, flags);
  }

  static int record(long event, long stream) {
    return Downcall.call(RECORD, event, stream);
  }

  static int synchronizeEvent(long event) {
    return Downcall.call(SYNCHRONIZE_EVENT, event);
  }

  static int elapsed(long outFloat, long start, long end) {
    return Downcall.call(ELAPSED, outFloat, start, end);
  }

  static int destroyEvent(long event) {
    return Downcall.call(DESTROY_EVENT, event);
  }

  /** Graphs apart: most runs need none of these functions. */
  static final class Graphs {
    private static final MethodHandle BEGIN = bind("cuStreamBeginCapture_v2", JAVA_LONG, JAVA_INT);
    private static final MethodHandle END = bind("cuStreamEndCapture", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle INSTANTIATE =
        bind("cuGraphInstantiateWithFlags", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle LAUNCH = bind("cuGraphLaunch", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle DESTROY_EXEC = bind("cuGraphExecDestroy", JAVA_LONG);
    private static final MethodHandle DESTROY_GRAPH = bind("cuGraphDestroy", JAVA_LONG);

    private Graphs() {}

    static int begin(long stream, int mode) {
      return Downcall.call(BEGIN, stream, mode);
    }

    static int end(long stream, long outGraph) {
      return Downcall.call(END, stream, outGraph);
    }

    static int instantiate(long outExec, long graph) {
      return Downcall.call(INSTANTIATE, outExec, graph, 0L);
    }

    static int launch(long exec, long stream) {
      return Downcall.call(LAUNCH, exec, stream);
    }

    static int destroyExec(long exec) {
      return Downcall.call(DESTROY_EXEC, exec);
    }

    static int destroy(long graph) {
      return Downcall.call(DESTROY_GRAPH, graph);
    }
  }
}
