package dev.warpwright.model.pt2;

/** What messages advise. */
final class Hints {
  static final String ONNX =
      "export to ONNX with torch.onnx.export(model, (x,), \"model.onnx\", dynamo=True)";

  private Hints() {}
}
