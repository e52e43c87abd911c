package dev.warpwright.tune.fleet;

import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Consumer;

/** Opens fleets; found by {@link ServiceLoader}. */
public interface FleetProvider {
  /**
   * {@return whether this one understands such a name, as {@code spark://host:7077}}
   *
   * @param where what the user calls the fleet
   */
  boolean takes(String where);

  /**
   * Connects.
   *
   * @param where of which {@link #takes} is true
   * @param settings of the engine, by its own names
   * @param log is told, in lines for the user, what happens to machines
   * @return the fleet, to be closed
   * @throws dev.warpwright.base.UserError if a setting cannot be
   * @throws dev.warpwright.base.DeviceError if nothing answers there
   */
  Fleet open(String where, Map<String, String> settings, Consumer<String> log);
}
