package dev.warpwright.cli;

import dev.warpwright.compiler.tune.GemmTuning;
import dev.warpwright.families.GemmWorkload;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A search for the fastest kernel of a product.
 *
 * @param folder where the result's files go; null for a folder of its name in the data folder
 * @param rounds of the last measurement, beside the peers
 */
record TuneRequest(
    GemmWorkload workload,
    GemmTuning.Options options,
    Path database,
    @Nullable Path folder,
    int rounds) {}
