package dev.warpwright.runtime.launch;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaFunction;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.Dim3;
import dev.warpwright.runtime.cuda.KernelArgument;
import dev.warpwright.runtime.cuda.LaunchConfig;
import dev.warpwright.runtime.cuda.TensorMap;
import dev.warpwright.runtime.cuda.TensorMapSpec;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.target.intrinsic.TensorMaps;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How a grid kernel is launched: its arguments in the order of its printed function, the tensor
 * maps of its TMA copies behind them, and the shape of the launch. Clusters need nothing here, the
 * printed function declares them.
 *
 * @param kernel what was printed and compiled
 * @param function the machine code
 */
public record GridLauncher(Kernel kernel, CudaFunction function) {
  /** Strides of a tensor map, in bytes (CUDA driver API, cuTensorMapEncodeTiled). */
  private static final int BULK_ALIGNMENT = 16;

  /**
   * {@return a kernel of a module that was compiled from its printed form}
   *
   * @param kernel for a grid
   * @param module loaded into the context in which it will run
   */
  public static GridLauncher of(Kernel kernel, CudaModule module) {
    return new GridLauncher(kernel, module.function(CudaPrinter.functionName(kernel)));
  }

  /**
   * Prepares launches on these arguments.
   *
   * @param buffers for each buffer parameter of the kernel, memory of at least its size
   * @param scalars the value of each scalar parameter
   * @return the launch, for any stream of the context and any number of times, as long as the
   *     buffers are open
   * @throws IllegalArgumentException if one is missing, or memory does not suit a TMA copy
   */
  public CudaLaunch prepare(Map<Buffer, CudaBuffer> buffers, Map<Var, Long> scalars) {
    List<KernelArgument> arguments = new ArrayList<>();
    for (Param param : kernel.params()) {
      arguments.add(
          switch (param) {
            case Buffer buffer -> KernelArgument.of(memory(buffer, buffers));
            case ScalarParam scalar -> scalar(scalar, scalars);
          });
    }
    for (TensorMaps.Spec map : TensorMaps.of(kernel).maps()) {
      arguments.add(
          KernelArgument.of(
              TensorMap.tiled(memory(map.global(), buffers), 0, tensor(map, scalars))));
    }
    return new CudaLaunch(function, config(kernel, scalars), arguments);
  }

  /**
   * Grid, block and shared memory of a launch with these scalars. A kernel that waits itself for
   * the launches before it may begin before they have ended; of one whose blocks wait for each
   * other the driver refuses more of them than the GPU holds.
   */
  static LaunchConfig config(Kernel kernel, Map<Var, Long> scalars) {
    return LaunchConfig.of(
            dim(kernel, ThreadAxis.BLOCK_X, scalars), dim(kernel, ThreadAxis.THREAD_X, scalars))
        .withDynamicShared(KernelResources.of(kernel).dynamicSharedBytes())
        .withProgrammatic(LaunchOrder.overlaps(kernel))
        .withCooperative(kernel.attrs().getLong("cooperative", 0) == 1);
  }

  /**
   * {@return the three extents from this axis on}
   *
   * @param kernel with bindings of axes to extents
   * @param first {@link ThreadAxis#BLOCK_X} or {@link ThreadAxis#THREAD_X}
   * @param scalars the value of each scalar parameter that extents depend on
   */
  public static Dim3 dim(Kernel kernel, ThreadAxis first, Map<Var, Long> scalars) {
    ThreadAxis[] axes = ThreadAxis.values();
    int[] extent = new int[3];
    for (int d = 0; d < 3; d++) {
      Expr value = kernel.extent(axes[first.ordinal() + d]);
      extent[d] = Math.toIntExact(ScalarEval.eval(value, scalars));
    }
    return new Dim3(extent[0], extent[1], extent[2]);
  }

  /** What the driver is told of a matrix that TMA copies move. */
  static TensorMapSpec tensor(TensorMaps.Spec map, Map<Var, Long> scalars) {
    Buffer global = map.global();
    List<Long> shape =
        global.shape().stream().map(extent -> ScalarEval.eval(extent, scalars)).toList();
    long rows = shape.get(shape.size() - 2);
    long columns = shape.getLast();
    long pitch = global.layout() == null ? columns : MatrixRows.leadingDimension(global);
    int bytes = global.dtype().bytes();
    if (pitch * bytes % BULK_ALIGNMENT != 0) {
      throw new UserError(
          global.name()
              + " has rows of "
              + pitch
              + " elements of "
              + bytes
              + " bytes; TMA copies need rows of a multiple of 16 bytes, that is of "
              + BULK_ALIGNMENT / bytes
              + " elements");
    }
    TensorMapSpec matrix =
        TensorMapSpec.matrix(
            TensorMapSpec.Type.of(global.dtype()),
            rows,
            columns,
            pitch * bytes,
            map.rows(),
            map.cols(),
            swizzle(map.swizzleBytes()));
    if (shape.size() == 2) {
      return matrix;
    }
    long distance = global.layout() == null ? rows * columns : MatrixRows.distance(global);
    return matrix.times(shape.getFirst(), distance * bytes);
  }

  private static TensorMapSpec.Swizzle swizzle(int bytes) {
    return switch (bytes) {
      case 0 -> TensorMapSpec.Swizzle.NONE;
      case 32 -> TensorMapSpec.Swizzle.B32;
      case 64 -> TensorMapSpec.Swizzle.B64;
      case 128 -> TensorMapSpec.Swizzle.B128;
      default -> throw new IllegalArgumentException("no TMA copy swizzles " + bytes + " bytes");
    };
  }

  private CudaBuffer memory(Buffer buffer, Map<Buffer, CudaBuffer> buffers) {
    CudaBuffer memory = buffers.get(buffer);
    if (memory == null) {
      throw new IllegalArgumentException(
          "no memory for buffer " + buffer.name() + " of kernel " + kernel.name());
    }
    return memory;
  }

  private KernelArgument scalar(ScalarParam scalar, Map<Var, Long> scalars) {
    Long value = scalars.get(scalar.var());
    if (value == null) {
      throw new IllegalArgumentException(
          "no value for scalar " + scalar.name() + " of kernel " + kernel.name());
    }
    return switch (scalar.var().type().dtype().bytes()) {
      case 4 -> KernelArgument.of((int) (long) value);
      case 8 -> KernelArgument.of((long) value);
      default ->
          throw new IllegalArgumentException(
              "scalar "
                  + scalar.name()
                  + " has type "
                  + scalar.var().type()
                  + ", not 32 or 64 bits");
    };
  }
}
