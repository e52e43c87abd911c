package dev.warpwright.model.function;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.Pointwise;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Which formulas are epilogues of products. */
final class Endings {
  private final FunctionBody body;

  Endings(FunctionBody body) {
    this.body = body;
  }

  /** What the epilogue of a product is with a function behind it; null if it is none. */
  @Nullable Ending of(Pointwise function, List<Element> operands) {
    Element first = operands.getFirst();
    if (first.ending() != null && function instanceof Activation activation) {
      return first.ending().then(activation);
    }
    if (function == ElementwiseOp.IDENTITY) {
      return first.ending();
    }
    if (function == ElementwiseOp.MUL) {
      Ending second = operands.get(1).ending();
      return first.ending() == null || second == null ? null : Ending.glu(first.ending(), second);
    }
    if (function != ElementwiseOp.ADD) {
      return null;
    }
    Element second = operands.get(1);
    boolean isFirst = place(first) > place(second);
    Element last = isFirst ? first : second;
    Buffer addend = read(isFirst ? second : first);
    return last.ending() == null || addend == null ? null : last.ending().plus(addend);
  }

  /** Where the product stands, of which an element is what an epilogue makes; or before all. */
  private int place(Element element) {
    Ending ending = element.ending();
    return ending == null
        ? -1
        : IntStream.range(0, body.stages.size())
            .filter(i -> body.stages.get(i).block().equals(ending.accumulator().name()))
            .findFirst()
            .orElseThrow();
  }

  /** The buffer that an element is read from, if it is nothing but read. */
  private static @Nullable Buffer read(Element element) {
    if (element.loaded() != null) {
      return element.loaded().get().buffer();
    }
    Ending ending = element.ending();
    return ending != null && ending.epilogue().equals(Epilogue.NONE) ? ending.accumulator() : null;
  }
}
