package dev.warpwright.model.onnx;

import dev.warpwright.ir.UserError;
import dev.warpwright.model.Names;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The state of one import: what each name stands for, and the nodes so far. */
final class Lowering {
  private final String file;
  private final Map<String, Term> terms = new HashMap<>();
  private final List<Node> nodes = new ArrayList<>();
  private final IdentityHashMap<Tensor, Tensor> transposed = new IdentityHashMap<>();

  /** Bytes that constants computed during import may still take. */
  private long foldingBudget;

  Lowering(String file, long fileSize) {
    this.file = file;
    // a weight is transposed at most once, the rest is scalars and vectors
    this.foldingBudget = 2 * fileSize + (16 << 20);
  }

  @Nullable Term find(String name) {
    return terms.get(name);
  }

  /**
   * Gives a name its meaning.
   *
   * @param what what defines it, for the error if the name is taken
   */
  void define(String name, Term term, String what) {
    if (name.isEmpty()) {
      throw error(what + " has no name");
    }
    if (terms.put(name, term) != null) {
      throw error(what + " defines the name " + Names.quote(name) + " a second time");
    }
  }

  void emit(Node node) {
    nodes.add(node);
  }

  List<Node> nodes() {
    return nodes;
  }

  /** A matrix with rows and columns exchanged; each tensor is copied at most once. */
  Tensor transpose(Tensor matrix) {
    Tensor known = transposed.get(matrix);
    if (known == null) {
      reserve(matrix.data().byteSize());
      known = ConstantFolder.transpose(matrix);
      transposed.put(matrix, known);
    }
    return known;
  }

  /** Accounts for memory of a computed constant, so that a small file cannot ask for a lot. */
  void reserve(long bytes) {
    foldingBudget -= bytes;
    if (foldingBudget < 0) {
      throw error("its constant subexpressions need too much memory; export with constant folding");
    }
  }

  UserError error(String what) {
    return new UserError(Names.printable(file) + ": " + what);
  }
}
