package dev.warpwright.measure.orders;

import dev.warpwright.base.DeviceError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.measure.OrderBench;
import dev.warpwright.measure.OwnJava;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Main class of the process that Nsight Compute watches: launches each kernel once. */
public final class LaunchOrders {
  /** What the kernels to watch are called. */
  static final String KERNELS = "^gemm_";

  private LaunchOrders() {}

  /**
   * Launches.
   *
   * @param args M, N, K, type, seed, sizes of tiles with commas, orders with commas
   */
  public static void main(String[] args) {
    try {
      var shape =
          new GemmShape(
              Long.parseLong(args[0]),
              Long.parseLong(args[1]),
              Long.parseLong(args[2]),
              Precision.parse(args[3]));
      var request =
          new OrderMeasurer.Request(
              shape,
              Arrays.stream(args[5].split(",")).map(Tiling::parse).toList(),
              BlockOrder.parseAll(args[6]),
              0,
              Long.parseLong(args[4]));
      launch(request);
    } catch (RuntimeException e) {
      System.err.println(e.getMessage());
      System.exit(3);
    }
  }

  private static void launch(OrderMeasurer.Request request) {
    try (Gpu device =
        Gpu.find().orElseThrow(() -> new DeviceError("there is no GPU to count on"))) {
      List<Kernel> kernels =
          kernels(request, (GpuTarget) device.target(), device.context().device().sms());
      try (var bench = new OrderBench(kernels.getFirst(), device, request.seed())) {
        kernels.forEach(bench::launch);
      }
    }
  }

  /** The kernels of a request, tile after tile, order after order. */
  static List<Kernel> kernels(OrderMeasurer.Request request, GpuTarget target, int sms) {
    List<Kernel> kernels = new ArrayList<>();
    for (Tiling tiling : request.tilings()) {
      for (BlockOrder order : request.orders()) {
        kernels.add(OrderKernels.of(request.shape(), tiling, order, target, sms));
      }
    }
    return kernels;
  }

  /** The command that starts this with the Java and the classes of this process. */
  static List<String> command(OrderMeasurer.Request request) {
    List<String> command = new ArrayList<>(java(LaunchOrders.class));
    command.addAll(
        List.of(
            Long.toString(request.shape().m()),
            Long.toString(request.shape().n()),
            Long.toString(request.shape().k()),
            request.shape().type().text(),
            Long.toString(request.seed()),
            request.tilings().stream().map(Tiling::text).collect(Collectors.joining(",")),
            request.orders().stream().map(BlockOrder::text).collect(Collectors.joining(","))));
    return command;
  }

  /** What starts a main class with the Java and the classes of this process. */
  static List<String> java(Class<?> main) {
    return OwnJava.command(main.getName());
  }
}
