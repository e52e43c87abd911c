package dev.warpwright.spark;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.space.record.Environment;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Main class of a process that sees one GPU and writes what records call it, a line each. */
final class GpuDescription {
  private GpuDescription() {}

  public static void main(String[] args) {
    try (PrintStream out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8)) {
      TuningDevice device = TuningDevice.find();
      Environment e = device.environment();
      List.of(e.target(), e.device(), e.driver(), e.toolkit(), e.generator()).forEach(out::println);
      out.println(device.sms());
    } catch (DeviceError e) {
      System.err.println("warpwright: " + e.getMessage());
      Runtime.getRuntime().exit(3);
    }
  }
}
