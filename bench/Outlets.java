import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaStream;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * Runs a class that {@code warpwright export --java} wrote: launches it on a stream, checks the result against the reference in its
 * folder, and times it in a graph. Arguments: the class, the folder, rows, bytes of y, the type of y.
 */
public final class Outlets {
  public static void main(String[] args) throws Exception {
    Class<?> type = Class.forName(args[0]);
    Path folder = Path.of(args[1]);
    int rows = Integer.parseInt(args[2]);
    int bytes = Integer.parseInt(args[3]);
    Method launch = Arrays.stream(type.getMethods()).filter(m -> m.getName().equals("launch")).findFirst().orElseThrow();
    try (CudaContext context = CudaDriver.require().device(0).open();
        CudaStream stream = context.newStream()) {
      byte[] in = Files.readAllBytes(folder.resolve("x.bin"));
      byte[] out = new byte[bytes];
      try (CudaBuffer x = context.allocate(in.length);
          CudaBuffer y = context.allocate(bytes);
          AutoCloseable kernel =
              (AutoCloseable)
                  type.getConstructor(CudaContext.class, byte[].class, CudaStream.class)
                      .newInstance(context, Files.readAllBytes(folder.resolve("constants.bin")), stream)) {
        x.copyFrom(MemorySegment.ofArray(in), stream);
        y.poison((byte) 0xFF, stream);
        launch.invoke(kernel, x, y, rows, stream);
        y.copyTo(MemorySegment.ofArray(out), stream);
        double relative = relative(out, args[4], Files.readAllBytes(folder.resolve("y.expected.bin")));
        double least = Double.POSITIVE_INFINITY;
        try (CudaGraph graph =
                CudaGraph.capture(
                    stream,
                    () -> {
                      for (int i = 0; i < 20; i++) {
                        try {
                          launch.invoke(kernel, x, y, rows, stream);
                        } catch (ReflectiveOperationException e) {
                          throw new IllegalStateException(e);
                        }
                      }
                    });
            CudaEvent begin = context.newEvent();
            CudaEvent end = context.newEvent()) {
          for (int i = 0; i < 12; i++) {
            begin.record(stream);
            graph.replay(stream);
            end.record(stream);
            end.synchronize();
            least = Math.min(least, end.millisSince(begin) * 1e3 / 20);
          }
        }
        // NaN is not less.
        boolean right = relative < 1e-2;
        System.out.printf(Locale.ROOT, "relative error %.2e: %s; %.2f us%n", relative, right ? "right" : "WRONG", least);
        System.exit(right ? 0 : 1);
      }
    }
  }

  private static double relative(byte[] bytes, String type, byte[] expectedBytes) {
    ByteBuffer got = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer expected = ByteBuffer.wrap(expectedBytes).order(ByteOrder.LITTLE_ENDIAN);
    double off = 0;
    double all = 0;
    for (int i = 0; i < expectedBytes.length / 4; i++) {
      double value =
          switch (type) {
            case "f32" -> got.getFloat(4 * i);
            case "f16" -> Float.float16ToFloat(got.getShort(2 * i));
            default -> Float.intBitsToFloat(got.getShort(2 * i) << 16);
          };
      double error = value - expected.getFloat(4 * i);
      off += error * error;
      all += (double) expected.getFloat(4 * i) * expected.getFloat(4 * i);
    }
    return Math.sqrt(off / all);
  }
}
