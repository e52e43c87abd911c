package dev.warpwright.measure.orders;

import dev.warpwright.base.DeviceError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.OrderBench;
import dev.warpwright.perf.order.OrderText;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.FfnWorkload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** As {@link LaunchOrders}, of two chained products; orders come in a file, they are long. */
public final class LaunchChains {
  /** What the kernels to watch are called. */
  static final String KERNELS = "^ffn_gelu";

  private LaunchChains() {}

  /**
   * Launches.
   *
   * @param args M, K, N, N2, type, seed, size of tiles, policies with commas, file of orders
   */
  public static void main(String[] args) {
    try {
      var workload =
          new FfnWorkload(
              Long.parseLong(args[0]),
              Long.parseLong(args[1]),
              Long.parseLong(args[2]),
              Long.parseLong(args[3]),
              args[4].equals("f16") ? DType.F16 : DType.BF16);
      List<ChainMeasurer.Named> orders =
          OrderText.parseAll(Files.readString(Path.of(args[8]))).stream()
              .map(text -> new ChainMeasurer.Named("line " + text.line(), text.items()))
              .toList();
      launch(
          new ChainMeasurer.Request(
              workload,
              Tiling.parse(args[6]),
              orders,
              Arrays.stream(args[7].split(",", -1)).map(WaitPolicy::parse).toList(),
              0,
              Long.parseLong(args[5])));
    } catch (RuntimeException | IOException e) {
      System.err.println(e.getMessage());
      System.exit(3);
    }
  }

  private static void launch(ChainMeasurer.Request request) {
    try (Gpu device =
        Gpu.find().orElseThrow(() -> new DeviceError("there is no GPU to count on"))) {
      List<Kernel> kernels =
          request.kernels((GpuTarget) device.target(), device.context().device().sms());
      try (var bench = new OrderBench(kernels.getFirst(), device, request.seed())) {
        kernels.forEach(bench::launch);
      }
    }
  }

  /** The command that starts this with the Java and the classes of this process. */
  static List<String> command(ChainMeasurer.Request request) {
    try {
      Path file = Files.createTempFile("warpwright-orders", ".txt");
      file.toFile().deleteOnExit();
      Files.writeString(
          file,
          request.orders().stream()
              .map(
                  order ->
                      new OrderText(1, TileOrders.parts(order.items()), order.items(), 1).text())
              .collect(Collectors.joining("\n")));
      FfnWorkload w = request.workload();
      List<String> command = new ArrayList<>(LaunchOrders.java(LaunchChains.class));
      command.addAll(
          List.of(
              Long.toString(w.m()),
              Long.toString(w.k()),
              Long.toString(w.hidden()),
              Long.toString(w.n()),
              w.operands() == DType.F16 ? "f16" : "bf16",
              Long.toString(request.seed()),
              request.tiling().text(),
              request.waits().stream().map(WaitPolicy::text).collect(Collectors.joining(",")),
              file.toString()));
      return command;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
