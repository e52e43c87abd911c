package dev.warpwright.families;

/**
 * What follows a product: {@code f(alpha · sum + beta · R + bias)}, computed in f32 and rounded
 * once.
 *
 * @param alpha factor of the product
 * @param beta factor of the matrix {@code R}, which has the shape and type of the result; 0 for
 *     none
 * @param bias whether a value for each column, {@code bias: f32[N]}, is added
 * @param activation the function f
 */
public record Epilogue(double alpha, double beta, boolean bias, Activation activation) {
  /** The sum itself. */
  public static final Epilogue NONE = new Epilogue(1, 0, false, Activation.NONE);
}
