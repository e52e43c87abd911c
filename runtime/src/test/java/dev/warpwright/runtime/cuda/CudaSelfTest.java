package dev.warpwright.runtime.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Tries everything that the runtime does with a GPU, and prints PASS, FAIL or SKIP for each item.
 *
 * <p>As a program it needs nothing but the class folders: {@code java
 * --enable-native-access=ALL-UNNAMED -cp
 * runtime/build/test-classes:runtime/build/classes:cuda/build/classes:target/build/classes:ir/build/classes
 * dev.warpwright.runtime.cuda.CudaSelfTest}. It ends with 0 if nothing failed, 1 if something did,
 * 3 without a GPU.
 */
public final class CudaSelfTest {
  private final List<String> failures = new ArrayList<>();

  private CudaSelfTest() {}

  public static void main(String[] args) {
    Optional<CudaDriver> driver = CudaDriver.find();
    if (driver.isEmpty()) {
      System.out.println("SKIP everything: " + CudaDriver.whyMissing());
      System.exit(3);
    }
    List<String> failures = run(driver.get(), Long.getLong("seed", System.nanoTime()), true);
    System.exit(failures.isEmpty() ? 0 : 1);
  }

  /**
   * Runs all items on the first device and returns the names of those that failed.
   *
   * @param fault whether to let a kernel fault at the end, which costs this process the device
   */
  static List<String> run(CudaDriver driver, long seed, boolean fault) {
    CudaDevice device = driver.device(0);
    System.out.println("driver " + driver.versionText() + ", seed " + seed + ", " + device);
    SelfTestBench bench = SelfTestBench.on(device, seed);
    CudaSelfTest test = new CudaSelfTest();
    List.of(
            new LaunchItems(bench),
            new MemoryItems(bench),
            new GraphItems(bench),
            new HopperItems(bench))
        .forEach(group -> group.items().forEach(test::item));
    if (fault) {
      new FaultItems(bench).items().forEach(test::item);
    }
    bench.context().close();
    System.out.println(
        test.failures.isEmpty() ? "all passed" : "FAILED: " + String.join(", ", test.failures));
    return test.failures;
  }

  private void item(String name, SelfTestItems.Item item) {
    try {
      String result = item.run();
      System.out.println(
          result.startsWith("SKIP")
              ? "SKIP " + name + ":" + result.substring("SKIP".length())
              : "PASS " + name + ": " + result);
    } catch (Throwable t) {
      failures.add(name);
      System.out.println("FAIL " + name + ": " + t);
      t.printStackTrace(System.out);
    }
  }
}
