package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Out;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The NVIDIA driver of this machine, initialised, with at least one GPU. */
public final class CudaDriver {
  private final int version;
  private final int deviceCount;

  private CudaDriver(int version, int deviceCount) {
    this.version = version;
    this.deviceCount = deviceCount;
  }

  private record Attempt(@Nullable CudaDriver driver, String whyMissing) {}

  /** Loads and initialises the driver, at the first question about it. */
  private static final class Holder {
    private static @Nullable Attempt known;

    static synchronized Attempt get() {
      Attempt made = known;
      if (made == null) {
        made = attempt();
        known = made;
      }
      return made;
    }

    static synchronized void forget() {
      known = null;
    }

    private static Attempt attempt() {
      Optional<String> missing = DriverLibrary.whyMissing();
      if (missing.isPresent()) {
        return new Attempt(null, "no NVIDIA driver (" + missing.get() + ")");
      }
      int status = DeviceCalls.init();
      if (status != CudaError.SUCCESS) {
        String what =
            status == CudaError.NO_DEVICE ? "no NVIDIA GPU" : "the NVIDIA driver cannot be used";
        return new Attempt(null, what + " (cuInit: " + CudaError.describe(status) + ")");
      }
      try (Out out = new Out()) {
        CudaError.check(DeviceCalls.version(out.address()), "cuDriverGetVersion");
        int version = out.asInt();
        CudaError.check(DeviceCalls.count(out.address()), "cuDeviceGetCount");
        int count = out.asInt();
        return count > 0
            ? new Attempt(new CudaDriver(version, count), "")
            : new Attempt(null, "no NVIDIA GPU (the driver shows none)");
      } catch (DeviceError e) {
        return new Attempt(null, String.valueOf(e.getMessage()));
      }
    }
  }

  /** Something else is in the driver's place now. */
  static void forget() {
    Holder.forget();
  }

  /** {@return the driver, unless it or a GPU is missing} */
  public static Optional<CudaDriver> find() {
    return Optional.ofNullable(Holder.get().driver());
  }

  /** {@return one line that says why {@link #find} is empty; nothing if it is not} */
  public static String whyMissing() {
    return Holder.get().whyMissing();
  }

  /**
   * {@return the driver}
   *
   * @throws DeviceError with {@link #whyMissing}, and what runs without one, if it or a GPU is
   *     missing
   */
  public static CudaDriver require() {
    return find()
        .orElseThrow(
            () ->
                new DeviceError(
                    whyMissing() + "; Device.best() takes the CPU then, as new CpuDevice() does"));
  }

  /** {@return {@link #version} for people: {@code 13.0}} */
  public String versionText() {
    return version / 1000 + "." + version % 1000 / 10;
  }

  /** {@return how many devices the driver shows, at least 1} */
  public int deviceCount() {
    return deviceCount;
  }

  /** {@return all devices, in the driver's order} */
  public List<CudaDevice> devices() {
    return IntStream.range(0, deviceCount).mapToObj(this::device).toList();
  }

  /**
   * {@return one device}
   *
   * @param ordinal from 0 to {@link #deviceCount} − 1
   * @throws DeviceError if there is no such device
   */
  public CudaDevice device(int ordinal) {
    if (ordinal < 0 || ordinal >= deviceCount) {
      throw new DeviceError(
          "no GPU " + ordinal + ": this machine has " + deviceCount + ", counted from 0");
    }
    try (Out out = new Out()) {
      CudaError.check(DeviceCalls.get(out.address(), ordinal), "cuDeviceGet");
      int handle = out.asInt();
      CudaError.check(DeviceCalls.memory(out.address(), handle), "cuDeviceTotalMem");
      long memory = out.asLong();
      return new CudaDevice(
          ordinal,
          handle,
          name(handle),
          uuid(handle),
          attribute(handle, 75),
          attribute(handle, 76),
          attribute(handle, 16),
          memory,
          attribute(handle, 38),
          attribute(handle, 97),
          attribute(handle, 13),
          version);
    }
  }

  private static String name(int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocate(256);
      CudaError.check(
          DeviceCalls.name(text.address(), (int) text.byteSize(), device), "cuDeviceGetName");
      return text.getString(0);
    }
  }

  private static UUID uuid(int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(16);
      CudaError.check(DeviceCalls.uuid(bytes.address(), device), "cuDeviceGetUuid");
      ByteBuffer big = ByteBuffer.wrap(bytes.toArray(JAVA_BYTE));
      return new UUID(big.getLong(), big.getLong());
    }
  }

  /** A {@code CUdevice_attribute}. */
  private static int attribute(int device, int attribute) {
    try (Out out = new Out()) {
      CudaError.check(
          DeviceCalls.attribute(out.address(), attribute, device),
          "cuDeviceGetAttribute " + attribute);
      return out.asInt();
    }
  }
}
