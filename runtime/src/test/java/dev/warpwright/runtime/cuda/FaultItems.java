package dev.warpwright.runtime.cuda;

import dev.warpwright.base.DeviceError;
import java.util.LinkedHashMap;
import java.util.Map;

/** A kernel that faults; the context is lost afterwards. */
final class FaultItems extends SelfTestItems {
  FaultItems(SelfTestBench bench) {
    super(bench);
  }

  @Override
  Map<String, Item> items() {
    Map<String, Item> items = new LinkedHashMap<>();
    items.put("a fault is reported and the context is lost", this::fault);
    return items;
  }

  private String fault() {
    CudaModule module = module();
    CudaBuffer buffer = context.allocate(64);
    // A pointer to memory that was never allocated: the address is passed as a number.
    CudaLaunch launch =
        new CudaLaunch(module.function("fault"), LaunchConfig.of(1, 1), KernelArgument.of(8L));
    launch.run(stream);
    fails(DeviceError.class, "CUDA_ERROR_ILLEGAL_ADDRESS", stream::synchronize);
    check(context.isLost(), "the context is lost");
    fails(DeviceError.class, "CUDA_ERROR_ILLEGAL_ADDRESS", () -> buffer.poison((byte) 0, stream));
    // Closing says nothing new.
    buffer.close();
    context.close();
    return "closed quietly";
  }
}
