package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledProgram;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A way to make one program of a network, of several that a search may measure.
 *
 * @param name of the strategy and its parameters, the same whenever the network is compiled: {@code
 *     register chaining consumers=6 prefetch=1 stages=1}
 * @param compile makes the program; empty if the target turns out not to carry it
 */
public record Alternative(String name, Supplier<Optional<CompiledProgram>> compile) {}
