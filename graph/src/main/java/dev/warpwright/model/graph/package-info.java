/**
 * The graph of a network: linear layers, elementwise operators, normalisation and reductions of
 * rows, and choices of features, and what they mean.
 *
 * <p>Every {@link dev.warpwright.model.graph.Value} is a matrix [rows, features]. All values of a
 * graph have the same, dynamic number of rows; a tensor of higher rank in the original file has its
 * leading dimensions flattened to rows. {@link dev.warpwright.model.graph.GraphEvaluator} gives the
 * meaning of a graph in double precision and knows nothing of the compiler.
 */
@NullMarked
package dev.warpwright.model.graph;

import org.jspecify.annotations.NullMarked;
