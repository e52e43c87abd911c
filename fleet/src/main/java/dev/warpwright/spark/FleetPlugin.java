package dev.warpwright.spark;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.jspecify.annotations.Nullable;

/** How executors and the driver talk beside tasks and their results: messages both ways. */
public final class FleetPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new Driver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Executor();
  }

  private static final class Driver implements DriverPlugin {
    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
      FleetDesk.open(FleetSettings.of(plugin.conf()));
      return Map.of();
    }

    @Override
    public @Nullable Object receive(Object message) {
      return message instanceof String[] words
          ? FleetDesk.current().receive(FleetMessage.of(words))
          : null;
    }
  }

  private static final class Executor implements ExecutorPlugin {
    @Override
    public void init(PluginContext context, Map<String, String> extra) {
      ExecutorStation.open(context);
    }

    @Override
    public void shutdown() {
      ExecutorStation.shut();
    }
  }
}
