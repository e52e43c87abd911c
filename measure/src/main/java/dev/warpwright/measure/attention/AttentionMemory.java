package dev.warpwright.measure.attention;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.measure.data.AttentionData;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.Verification;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What attention reads, on a device, several times over: going through all sets moves three times
 * the L2 before one comes again. All entries have all keys. Sets hold the same elements, so that
 * one reference is that of all.
 */
final class AttentionMemory implements AutoCloseable {
  private static final int MIN_SETS = 2;
  private static final int MAX_SETS = 64;

  private final Attention attention;
  private final CudaStream stream;
  private final String result;
  private final int columns;
  private final Arguments arguments;
  private final AttentionReference expected;
  private final List<Map<String, CudaBuffer>> sets = new ArrayList<>();

  /** The result that was compared last, and how far it is off. */
  private byte @Nullable [] compared;

  private Error error = new Error(Double.NaN, false, "nothing was compared");

  /**
   * How far a result is off.
   *
   * @param verified whether all of it is what rounding explains
   * @param why it is not; empty if it is
   */
  record Error(double relative, boolean verified, String why) {}

  /** Makes the data, their reference, and copies them. */
  AttentionMemory(
      Attention attention,
      AttentionWay way,
      Program like,
      long seed,
      CudaContext context,
      CudaStream stream) {
    this.attention = attention;
    this.result = way.result();
    this.stream = stream;
    int[] lengths = new int[attention.batch()];
    Arrays.fill(lengths, attention.keys());
    AttentionCache cache = AttentionCache.of(attention, lengths, seed);
    arguments = AttentionData.of(cache, ProgramInterpreter.params(like), seed);
    AttentionReference attended = AttentionData.reference(cache, arguments);
    expected = way.features() == 0 ? attended : AttentionData.projected(attended, cache, arguments);
    columns = Math.max(way.features(), attention.headSize());
    long bytes = (long) Math.ceil(attention.bytes());
    int count =
        (int) Math.clamp(Math.ceilDiv(3 * context.device().l2Bytes(), bytes), MIN_SETS, MAX_SETS);
    try {
      for (int set = 0; set < count; set++) {
        Map<String, CudaBuffer> memory = new HashMap<>();
        sets.add(memory);
        for (Program.ProgramParam param : like.params()) {
          if (param.role() != Program.Role.OUTPUT && param.param() instanceof Buffer buffer) {
            NdArray array = arguments.get(buffer.name());
            CudaBuffer device = context.allocate(Math.max(16, array.segment().byteSize()));
            memory.put(buffer.name(), device);
            device.copyFrom(array.segment(), stream);
          }
        }
      }
      stream.synchronize();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  int count() {
    return sets.size();
  }

  /** An input of a set. */
  CudaBuffer get(int set, String name) {
    return Objects.requireNonNull(sets.get(set).get(name), name);
  }

  /** Bytes of the result. */
  long resultBytes() {
    return arguments.get(result).segment().byteSize();
  }

  /**
   * Compares what a kernel has left in its result; the same bits again are as far off as before.
   */
  Error error(CudaBuffer left) {
    NdArray array = arguments.get(result);
    left.copyTo(array.segment(), stream);
    stream.synchronize();
    if (compared == null || !Arrays.equals(compared, array.bytes())) {
      compared = array.bytes().clone();
      error = compare(array);
    }
    return error;
  }

  private Error compare(NdArray array) {
    double[] got = array.toDoubles();
    Deviations deviations = expected.deviations(got, attention.type());
    double relative = Verification.compare(got, expected.values()).relError();
    boolean verified = deviations.honest() && relative <= attention.tolerance();
    String off = deviations.honest() ? "" : ", " + deviations.text(columns);
    return new Error(
        relative,
        verified,
        verified
            ? ""
            : String.format(
                Locale.ROOT, "the result is wrong: relative error %.2e%s", relative, off));
  }

  @Override
  public void close() {
    sets.forEach(set -> set.values().forEach(CudaBuffer::close));
    sets.clear();
  }
}
