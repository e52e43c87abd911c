/**
 * What the importers share: the operators of deep learning frameworks on tensors of any rank, made
 * of the few nodes of a {@link dev.warpwright.model.graph.Graph}.
 *
 * <p>During import a name stands for a {@link dev.warpwright.model.build.Term}: a value of the new
 * graph, a constant, or sizes of dimensions. {@link dev.warpwright.model.build.GraphBuilder} holds
 * the nodes so far and words the errors; the other classes are the operators by kind. An importer
 * reads names and attributes and calls them.
 *
 * <p>The dimensions of a computed tensor are its rows, then its features. Operators act within
 * rows; those that would move elements between rows are refused. How many of an input's dimensions
 * are rows is not said in a file: all but the last at first, and fewer if an operator needs that
 * ({@link dev.warpwright.model.build.RowSplit}).
 */
package dev.warpwright.model.build;
