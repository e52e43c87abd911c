package dev.warpwright.measure.reference;

import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmDeviation;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongFunction;

/**
 * An element of a product's result behind its epilogue, on the host: of one sum, or, of a gated
 * linear unit, of two.
 *
 * @param value in f64
 * @param deviation {@link GemmDeviation} of it
 */
record FinishedElement(double value, double deviation) {
  /**
   * Computes it.
   *
   * @param column of the result
   * @param sums of a column of the product
   * @param operands what the epilogue reads for a column of the product
   */
  static FinishedElement of(
      GemmDeviation deviation,
      long column,
      LongFunction<HostReference.Sums> sums,
      LongFunction<Map<Epilogue.Operand, Double>> operands) {
    Epilogue epilogue = deviation.epilogue();
    if (!epilogue.glu()) {
      return one(deviation, epilogue, sums.apply(column), operands.apply(column));
    }
    long at = Epilogue.gateColumn(column);
    long next = at + Epilogue.GLU_GROUP;
    Map<Epilogue.Operand, Double> read = operands.apply(at);
    double residual = read.getOrDefault(Epilogue.Operand.RESIDUAL, 0.0);
    FinishedElement gate = part(deviation.gatePart(), sums.apply(at), read);
    FinishedElement up = part(deviation.upPart(), sums.apply(next), operands.apply(next));
    return new FinishedElement(
        gate.value * up.value + residual,
        deviation.ofProduct(gate.value, gate.deviation, up.value, up.deviation, residual));
  }

  /** A part, which adds no residual. */
  private static FinishedElement part(
      GemmDeviation deviation, HostReference.Sums sums, Map<Epilogue.Operand, Double> operands) {
    Map<Epilogue.Operand, Double> own = new EnumMap<>(Epilogue.Operand.class);
    own.putAll(operands);
    own.keySet().retainAll(deviation.epilogue().operands());
    return one(deviation, deviation.epilogue(), sums, own);
  }

  private static FinishedElement one(
      GemmDeviation deviation,
      Epilogue epilogue,
      HostReference.Sums sums,
      Map<Epilogue.Operand, Double> operands) {
    return new FinishedElement(
        HostReference.epilogue(epilogue, sums.sum(), operands),
        deviation.of(sums.sum(), sums.squares(), operands));
  }
}
