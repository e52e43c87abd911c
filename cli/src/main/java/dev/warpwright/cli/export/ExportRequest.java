package dev.warpwright.cli.export;

import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.export.CudaExport;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to export.
 *
 * @param what {@code ladder:RUNG}, {@code gemm}, a file of one kernel or one function, or a model's
 *     file
 * @param values of M, N, K, of the kernel's scalars, or what makes a product
 * @param folder made if it is not there
 * @param targets GPUs, at least one; of several one is found at run time
 * @param precision of a model; null for the file's
 * @param arch the architecture of weights without a graph; null for a file that has its own
 * @param rows that a model is compiled for, at least 1
 * @param name of the function, the operator and the project; null for one made of what it is
 * @param form sources, machine code with a loader in C, or a Java class
 * @param schedule the file of steps by which a function is scheduled; null for none
 * @param force whether files in the folder that no export wrote are replaced
 */
record ExportRequest(
    String what,
    KeyValues values,
    Path folder,
    List<TargetName> targets,
    @Nullable Precision precision,
    @Nullable Architecture arch,
    int rows,
    @Nullable String name,
    CudaExport.Form form,
    @Nullable Path schedule,
    boolean force) {
  ExportRequest {
    targets = List.copyOf(targets);
  }
}
