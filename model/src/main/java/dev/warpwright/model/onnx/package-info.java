/**
 * Import of ONNX files: bytes → {@link dev.warpwright.model.onnx.Proto} messages → {@link
 * dev.warpwright.model.graph.Graph}.
 *
 * <p>{@link dev.warpwright.model.onnx.WireReader} knows the protobuf encoding, {@link
 * dev.warpwright.model.onnx.ProtoParser} and {@link dev.warpwright.model.onnx.TensorParser} the
 * messages, {@link dev.warpwright.model.onnx.OnnxImporter} names and order, and the classes whose
 * names end in {@code Rules} the operators. Messages nest to a fixed depth, since subgraphs are
 * refused, so nothing here recurses.
 */
package dev.warpwright.model.onnx;
