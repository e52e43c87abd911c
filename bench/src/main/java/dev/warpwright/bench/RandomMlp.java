package dev.warpwright.bench;

import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A fully connected network of one width with random weights and ReLU between its layers.
 *
 * @param weights of each layer, [out, in] row-major
 * @param biases of each layer
 */
record RandomMlp(int width, List<float[]> weights, List<float[]> biases) {
  static RandomMlp of(int layers, int width) {
    List<float[]> weights = new ArrayList<>();
    List<float[]> biases = new ArrayList<>();
    for (int l = 0; l < layers; l++) {
      weights.add(Products.random(width * width, 1 / Math.sqrt(width), 10 + l));
      biases.add(Products.random(width, 1, 20 + l));
    }
    return new RandomMlp(width, weights, biases);
  }

  byte[] onnx() {
    int[] widths = new int[weights.size() + 1];
    Arrays.fill(widths, width);
    return OnnxFile.mlp(widths, weights, biases);
  }

  /** The network as Warpwright reads it. */
  Model model() {
    try {
      Path file = Files.createTempFile("mlp", ".onnx");
      try {
        Files.write(file, onnx());
        return Warpwright.load(file);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write a temporary file", e);
    }
  }

  /** What it computes, in double precision. */
  double[] outputs(float[] input, int rows) {
    double[] values = Products.widened(input);
    for (int l = 0; l < weights.size(); l++) {
      boolean relu = l < weights.size() - 1;
      values = Products.linear(values, weights.get(l), biases.get(l), rows, width, width, relu);
    }
    return values;
  }
}
