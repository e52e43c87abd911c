package dev.warpwright.model.build;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Columns;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The graph that an import makes, node by node. {@link #at} names the node of the file that is
 * being imported; errors and new values carry its name until the next call.
 */
public final class GraphBuilder {
  private final String file;
  private final int maxRowDims;
  private final LinkedHashSet<Value> inputs = new LinkedHashSet<>();
  private final List<Node> nodes = new ArrayList<>();
  private final Map<ConstantTensor, ConstantTensor> transposed = new IdentityHashMap<>();
  private List<Dim> rows = List.of();
  private String where = "";
  private String node = "";
  private String result = "";

  /** Bytes that constants computed during import may still take. */
  private long foldingBudget;

  /**
   * An empty graph.
   *
   * @param file the name of the file in messages
   * @param fileSize its bytes, which bound what its constants may grow to
   * @param maxRowDims how many dimensions of an input may be rows
   */
  public GraphBuilder(String file, long fileSize, int maxRowDims) {
    this.file = file;
    this.maxRowDims = maxRowDims;
    this.foldingBudget = 2 * fileSize + (16 << 20);
  }

  /**
   * Goes on to a node of the file.
   *
   * @param newWhere how messages call it, for example {@code node '/fc1/Gemm' (Gemm)}
   * @param nodeName its name
   * @param resultName the name of what it computes
   */
  public void at(String newWhere, String nodeName, String resultName) {
    where = newWhere;
    node = nodeName;
    result = resultName;
  }

  /**
   * An input.
   *
   * @param dtype a floating-point type
   * @param shape its dimensions; fixed ones are positive
   * @throws UserError if the features are dynamic, or the rows differ from another input's
   */
  public Term.Computed input(String name, DType dtype, List<Dim> shape) {
    int outer = Math.min(maxRowDims, Math.max(shape.size() - 1, 0));
    if (shape.size() == 1 && shape.getFirst() instanceof Dim.Symbolic) {
      outer = 1;
    }
    // Where features were found to be more than the last dimension, those of size 1 belong to them.
    boolean several = shape.size() - outer > 1;
    while (several && outer > 0 && shape.get(outer - 1).equals(new Dim.Fixed(1))) {
      outer--;
    }
    List<Long> inner = new ArrayList<>();
    for (Dim dim : shape.subList(outer, shape.size())) {
      if (!(dim instanceof Dim.Fixed(long size))) {
        throw error(
            "input "
                + Names.quote(name)
                + " has a dynamic last dimension; only leading dimensions may be dynamic");
      }
      inner.add(size);
    }
    long features = ConstantTensor.elementCount(inner);
    if (features < 1 || features > Integer.MAX_VALUE) {
      throw error("input " + Names.quote(name) + " has too many features");
    }
    List<Dim> leading = shape.subList(0, outer);
    Value value = new Value(name, dtype, (int) features, leading, inner);
    if (inputs.isEmpty()) {
      rows = leading;
    } else if (!rows.equals(leading)) {
      throw actsOnRows(
          "inputs "
              + describe(inputs.getFirst())
              + " and "
              + describe(value)
              + " have different rows, which is not supported");
    }
    inputs.add(value);
    return new Term.Computed(value, leading, inner, dtype);
  }

  private static String describe(Value value) {
    return Names.quote(value.name()) + " " + Names.printable(value.typeText());
  }

  /** A new value like another, with as many features. */
  Value value(Value like, long features) {
    if (features < 1 || features > Integer.MAX_VALUE) {
      throw error("computes " + features + " features, which is not supported");
    }
    return new Value(result, like.dtype(), (int) features, rows);
  }

  /** Adds a node. */
  Value emit(Node made) {
    nodes.add(made);
    return made.output();
  }

  /** Adds a choice of features. */
  Value columns(Value input, long[] sources) {
    boolean same = sources.length == input.features();
    int[] columns = new int[sources.length];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = Math.toIntExact(sources[i]);
      same &= columns[i] == i;
    }
    return same
        ? input
        : emit(new Columns(value(input, columns.length), input, columns, nodeName()));
  }

  /** The name of the node of the file. */
  String nodeName() {
    return node;
  }

  /** The name of what is being computed. */
  String resultName() {
    return result;
  }

  /** A matrix with rows and columns exchanged; each tensor is copied at most once. */
  ConstantTensor transpose(ConstantTensor matrix) {
    ConstantTensor known = transposed.get(matrix);
    if (known == null) {
      reserve(matrix.data().byteSize());
      known = Constants.transpose(matrix);
      transposed.put(matrix, known);
    }
    return known;
  }

  /** Accounts for memory of a computed constant, so that a small file cannot ask for a lot. */
  void reserve(long bytes) {
    foldingBudget -= bytes;
    if (foldingBudget < 0 || bytes < 0) {
      throw error("constant subexpressions need too much memory; export with constant folding");
    }
  }

  /** As {@link #reserve(long)}, for so many elements of so many bytes. */
  void reserve(long count, long bytesEach) {
    reserve(count > Long.MAX_VALUE / bytesEach ? Long.MAX_VALUE : count * bytesEach);
  }

  /** An error at the current node. */
  public UserError error(String what) {
    return new UserError(file + ": " + (where.isEmpty() ? "" : where + ": ") + what);
  }

  /** The error of an operator that acts on rows, as the dimensions are split now. */
  RowSplit.ActsOnRows actsOnRows(String what) {
    return new RowSplit.ActsOnRows(error(what));
  }

  /**
   * The graph. What is only an output gets the name and the dimensions that the file promises; what
   * is something else too is copied.
   *
   * @param outputs what it computes
   */
  public Graph finish(String name, Map<String, Term.Computed> outputs) {
    Map<Value, Integer> producers = new HashMap<>();
    Set<Value> taken = new HashSet<>();
    for (int i = 0; i < nodes.size(); i++) {
      producers.put(nodes.get(i).output(), i);
      taken.addAll(nodes.get(i).inputs());
    }
    List<Value> values = new ArrayList<>();
    Map<Value, Value> renamed = new HashMap<>();
    outputs.forEach(
        (label, term) -> {
          Value value = term.value();
          Value output = new Value(label, dtype(term), value.features(), rows, term.inner());
          Integer producer = producers.get(value);
          if (producer != null && taken.add(value)) {
            nodes.set(producer, nodes.get(producer).to(output));
            renamed.put(value, output);
          } else {
            List<Operand> operands =
                List.of(new Operand.OfValue(renamed.getOrDefault(value, value)));
            emit(new Elementwise(output, ElementwiseOp.IDENTITY, operands, label));
          }
          values.add(output);
        });
    return new Graph(name, List.copyOf(inputs), values, nodes);
  }

  private static DType dtype(Term.Computed term) {
    return term.dtype().isFloat() ? term.dtype() : term.value().dtype();
  }
}
