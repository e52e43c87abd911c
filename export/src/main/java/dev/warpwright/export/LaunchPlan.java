package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program.AllReduce;
import dev.warpwright.ir.Program.BufferArgument;
import dev.warpwright.ir.Program.Carry;
import dev.warpwright.ir.Program.Launch;
import dev.warpwright.ir.Program.Memset;
import dev.warpwright.ir.Program.ScalarArgument;
import dev.warpwright.ir.Program.Step;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.intrinsic.TensorMaps;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a host does to launch machine code, step by step, for whatever language tells it. Numbers
 * are expressions of the row count as C and Java both read them, {@code min(a, b)} aside.
 *
 * @param steps in order
 * @param workspace buffers beside inputs, outputs and constants, in order
 */
record LaunchPlan(List<Action> steps, List<Buffer> workspace) {
  /** A step. */
  sealed interface Action {}

  /** Sets every byte of a buffer. */
  record Fill(Buffer buffer, int value) implements Action {}

  /** Copies a buffer to another one, unless they are the same memory. */
  record Begin(Buffer from, Buffer to) implements Action {}

  /**
   * Launches a kernel.
   *
   * @param entry of the module
   * @param grid three extents
   * @param block three extents
   * @param overlaps whether it may begin before the launches before it have ended
   */
  record Start(
      String entry,
      List<String> grid,
      List<String> block,
      int dynamicShared,
      boolean overlaps,
      List<Passed> arguments,
      List<Box> maps)
      implements Action {}

  /** An argument: a buffer, or a scalar's value. */
  record Passed(@Nullable Buffer buffer, String value) {}

  /**
   * A tensor map, passed behind the arguments.
   *
   * @param matrices how many lie one behind the other; null for one of two dimensions
   */
  record Box(
      Buffer buffer,
      DType dtype,
      String rows,
      String columns,
      int boxRows,
      int boxColumns,
      int swizzleBytes,
      @Nullable String matrices) {}

  LaunchPlan {
    steps = List.copyOf(steps);
    workspace = List.copyOf(workspace);
  }

  static LaunchPlan of(Exported exported, Signature signature) {
    List<Action> steps = new ArrayList<>();
    for (Step step : exported.program().steps()) {
      steps.add(
          switch (step) {
            case Memset(Buffer buffer, int value) -> new Fill(buffer, value);
            case Launch launch -> start(launch, signature);
            case Carry(Buffer from, Buffer to) -> new Begin(from, to);
            case AllReduce sum -> throw sum.alone();
          });
    }
    return new LaunchPlan(steps, exported.program().workspace());
  }

  private static Start start(Launch launch, Signature signature) {
    Kernel kernel = launch.kernel();
    Map<Var, Expr> scalars = new HashMap<>();
    Map<Buffer, Buffer> memory = new HashMap<>();
    List<Passed> arguments = new ArrayList<>();
    for (int i = 0; i < launch.arguments().size(); i++) {
      Param param = kernel.params().get(i);
      switch (launch.arguments().get(i)) {
        case BufferArgument(Buffer buffer) -> {
          memory.put((Buffer) param, buffer);
          arguments.add(new Passed(buffer, ""));
        }
        case ScalarArgument(Expr value) -> {
          if (((ScalarParam) param).var().type().dtype().bytes() != 4) {
            throw new UserError(kernel.name() + ": " + param.name() + " is no 32-bit integer");
          }
          scalars.put(((ScalarParam) param).var(), value);
          arguments.add(new Passed(null, signature.text().of(value)));
        }
      }
    }
    Substitution at = Substitution.ofVars(scalars);
    List<Box> maps = new ArrayList<>();
    for (TensorMaps.Spec map : TensorMaps.of(kernel).maps()) {
      Buffer global = map.global();
      List<String> shape =
          global.shape().stream().map(e -> signature.text().of(at.expr(e))).toList();
      maps.add(
          new Box(
              memory.getOrDefault(global, global),
              global.dtype(),
              shape.get(shape.size() - 2),
              shape.getLast(),
              map.rows(),
              map.cols(),
              map.swizzleBytes(),
              shape.size() == 2 ? null : shape.getFirst()));
    }
    return new Start(
        CudaPrinter.functionName(kernel),
        extents(kernel, ThreadAxis.BLOCK_X, at, signature),
        extents(kernel, ThreadAxis.THREAD_X, at, signature),
        KernelResources.of(kernel).dynamicSharedBytes(),
        LaunchOrder.overlaps(kernel),
        arguments,
        maps);
  }

  private static List<String> extents(
      Kernel kernel, ThreadAxis first, Substitution at, Signature signature) {
    List<String> extents = new ArrayList<>();
    for (int d = 0; d < 3; d++) {
      Expr extent = kernel.extent(ThreadAxis.values()[first.ordinal() + d]);
      extents.add(signature.text().of(at.expr(extent)));
    }
    return extents;
  }

  /** Launches of kernels, in order. */
  List<Start> starts() {
    return steps.stream().filter(Start.class::isInstance).map(Start.class::cast).toList();
  }

  /** Elements of a buffer, each factor cast to a wide type. */
  static String elements(Buffer buffer, Signature signature, String cast) {
    if (buffer.hasConstantShape()) {
      return cast + buffer.storageElements();
    }
    List<String> factors = new ArrayList<>();
    buffer.shape().forEach(extent -> factors.add(cast + "(" + signature.text().of(extent) + ")"));
    return String.join(" * ", factors);
  }
}
