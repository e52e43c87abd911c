package dev.warpwright.bench;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A model in ONNX Runtime at its best: all optimisations, inputs and outputs in direct buffers that
 * are made once.
 */
final class OnnxBaseline implements Runnable, AutoCloseable {
  private final OrtSession session;
  private final Map<String, OnnxTensor> inputs = new LinkedHashMap<>();
  private final Map<String, OnnxTensor> outputs = new LinkedHashMap<>();
  private final FloatBuffer result;

  /** A tensor of two dimensions. */
  record Matrix(float[] values, int rows, int columns) {}

  /**
   * A session.
   *
   * @param inputs in the order of the model's
   * @param rows of the only output
   */
  OnnxBaseline(byte[] model, int threads, List<Matrix> inputs, int rows, int columns) {
    try {
      OrtEnvironment environment = OrtEnvironment.getEnvironment();
      try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
        options.setIntraOpNumThreads(threads);
        options.setInterOpNumThreads(1);
        options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.ALL_OPT);
        session = environment.createSession(model, options);
      }
      int next = 0;
      for (String name : session.getInputNames()) {
        Matrix matrix = inputs.get(next++);
        FloatBuffer buffer = direct(matrix.values().length).put(matrix.values()).flip();
        long[] shape = {matrix.rows(), matrix.columns()};
        this.inputs.put(name, OnnxTensor.createTensor(environment, buffer, shape));
      }
      result = direct(Math.multiplyExact(rows, columns));
      outputs.put(
          session.getOutputNames().iterator().next(),
          OnnxTensor.createTensor(environment, result, new long[] {rows, columns}));
    } catch (OrtException e) {
      throw new IllegalStateException("ONNX Runtime refuses the model: " + e.getMessage(), e);
    }
  }

  Implementation implementation(double[] reference) {
    return new Implementation(
        "ONNX Runtime",
        reference,
        Implementation.BASELINE_TOLERANCE,
        this,
        () -> {
          float[] values = new float[result.capacity()];
          result.get(0, values);
          return values;
        },
        () -> {
          for (int i = 0; i < result.capacity(); i++) {
            result.put(i, Float.NaN);
          }
        });
  }

  @Override
  public void run() {
    try (OrtSession.Result ignored = session.run(inputs, outputs)) {
      // The result lies in the buffer that was given.
    } catch (OrtException e) {
      throw new IllegalStateException("ONNX Runtime failed: " + e.getMessage(), e);
    }
  }

  private static FloatBuffer direct(int count) {
    return ByteBuffer.allocateDirect(Math.multiplyExact(count, Float.BYTES))
        .order(ByteOrder.nativeOrder())
        .asFloatBuffer();
  }

  @Override
  public void close() {
    inputs.values().forEach(OnnxTensor::close);
    outputs.values().forEach(OnnxTensor::close);
    try {
      session.close();
    } catch (OrtException e) {
      throw new IllegalStateException("ONNX Runtime failed: " + e.getMessage(), e);
    }
  }
}
