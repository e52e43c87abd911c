package dev.warpwright.cli.networks;

import dev.warpwright.target.DeviceModel;
import org.jspecify.annotations.Nullable;

/**
 * Asks what the ways to compute a whole network are worth.
 *
 * @param model the device to predict for; null to measure on the one here, if there is one
 */
public record NetworkExplainRequest(NetworkTask task, @Nullable DeviceModel model) {}
