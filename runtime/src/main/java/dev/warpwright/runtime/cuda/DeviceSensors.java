package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.runtime.call.Downcall;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;

/** Reads a device's clock and temperature through NVML. It changes nothing. */
public final class DeviceSensors {
  private static final List<String> NAMES =
      List.of("libnvidia-ml.so.1", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1");
  private static final int CLOCK_SM = 1;
  private static final int TEMPERATURE_GPU = 0;

  private final MethodHandle clock;
  private final MethodHandle temperature;
  private final long device;

  private DeviceSensors(MethodHandle clock, MethodHandle temperature, long device) {
    this.clock = clock;
    this.temperature = temperature;
    this.device = device;
  }

  /**
   * {@return the sensors of a device; empty where NVML is missing or does not know it}
   *
   * @param device of the driver
   */
  public static Optional<DeviceSensors> open(CudaDevice device) {
    for (String name : NAMES) {
      try {
        return open(SymbolLookup.libraryLookup(name, Arena.global()), device);
      } catch (IllegalArgumentException e) {
        // Not there: the next place.
      }
    }
    return Optional.empty();
  }

  private static Optional<DeviceSensors> open(SymbolLookup symbols, CudaDevice device) {
    Linker linker = Linker.nativeLinker();
    Optional<MemorySegment> init = symbols.find("nvmlInit_v2");
    Optional<MemorySegment> byUuid = symbols.find("nvmlDeviceGetHandleByUUID");
    Optional<MemorySegment> clockInfo = symbols.find("nvmlDeviceGetClockInfo");
    Optional<MemorySegment> heat = symbols.find("nvmlDeviceGetTemperature");
    if (init.isEmpty() || byUuid.isEmpty() || clockInfo.isEmpty() || heat.isEmpty()) {
      return Optional.empty();
    }
    FunctionDescriptor reading = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, ADDRESS);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment handle = arena.allocate(JAVA_LONG);
      int started =
          (int) linker.downcallHandle(init.get(), FunctionDescriptor.of(JAVA_INT)).invokeExact();
      MethodHandle find =
          linker.downcallHandle(byUuid.get(), FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
      if (started != 0
          || (int) find.invokeExact(arena.allocateFrom("GPU-" + device.uuid()), handle) != 0) {
        return Optional.empty();
      }
      return Optional.of(
          new DeviceSensors(
              linker.downcallHandle(clockInfo.get(), reading),
              linker.downcallHandle(heat.get(), reading),
              handle.get(JAVA_LONG, 0)));
    } catch (Throwable t) {
      throw Downcall.unexpected(t);
    }
  }

  /** {@return the SMs' clock now; 0 if it cannot be read} */
  public int clockMhz() {
    return read(clock, CLOCK_SM);
  }

  /** {@return the device's temperature in °C; 0 if it cannot be read} */
  public int temperature() {
    return read(temperature, TEMPERATURE_GPU);
  }

  private int read(MethodHandle function, int kind) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(JAVA_INT);
      int status = (int) function.invokeExact(device, kind, value);
      return status == 0 ? value.get(JAVA_INT, 0) : 0;
    } catch (Throwable t) {
      throw Downcall.unexpected(t);
    }
  }
}
