/**
 * Networks from weights and a description: an {@link dev.warpwright.model.arch.Architecture}
 * becomes a list of {@link dev.warpwright.model.arch.Step}s, these a graph.
 */
@NullMarked
package dev.warpwright.model.arch;

import org.jspecify.annotations.NullMarked;
