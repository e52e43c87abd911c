package dev.warpwright.cli.tuning;

import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Asks what the decisions behind a product's kernel are worth.
 *
 * @param model the device to predict for; null to measure on the one here, if there is one
 * @param folder where the winner's folder is; null for the data folder
 * @param untuned whether records are ignored
 */
public record ExplainRequest(
    GemmWorkload workload,
    Path database,
    @Nullable DeviceModel model,
    @Nullable Path folder,
    boolean untuned) {}
