/**
 * Import of the archives that {@code torch.export.save} writes (.pt2).
 *
 * <p>{@link dev.warpwright.model.pt2.ProgramReader} reads the program, which is JSON, into {@link
 * dev.warpwright.model.pt2.Program}; the classes whose names end in {@code Rules} say each ATen
 * operator in operators of ONNX, as PyTorch's own exporter does; {@link
 * dev.warpwright.model.onnx.OnnxImporter} does the rest. So both formats support the same, and mean
 * the same.
 */
package dev.warpwright.model.pt2;
