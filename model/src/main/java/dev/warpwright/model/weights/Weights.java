package dev.warpwright.model.weights;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Origin;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The named tensors of a file. */
public final class Weights {
  private final String file;
  private final boolean inOrder;
  private final Map<String, StoredTensor> tensors;
  private final Map<String, ConstantTensor> used = new HashMap<>();

  /**
   * The tensors of a file.
   *
   * @param file the file's name in messages, printable
   * @param inOrder whether the tensors are in the order in which the network defines them
   */
  Weights(String file, boolean inOrder, Map<String, StoredTensor> tensors) {
    this.file = file;
    this.inOrder = inOrder;
    this.tensors = new LinkedHashMap<>(tensors);
  }

  /**
   * Tensors that are in no file, in the order in which the network defines them.
   *
   * @param called what they are called in messages, printable
   */
  public static Weights of(String called, List<ConstantTensor> tensors) {
    Map<String, StoredTensor> stored = new LinkedHashMap<>();
    for (ConstantTensor tensor : tensors) {
      stored.put(
          tensor.name(),
          new StoredTensor(ElementType.of(tensor.dtype()), tensor.shape(), tensor.data()));
    }
    return new Weights(called, true, stored);
  }

  /** The file's name in messages, printable. */
  public String file() {
    return file;
  }

  /** Whether {@link #names} are in the order in which the network defines them. */
  public boolean inOrder() {
    return inOrder;
  }

  /** The names of all tensors, in the order of the file. */
  public List<String> names() {
    return List.copyOf(tensors.keySet());
  }

  /** The shape of a tensor, or null if there is none of this name. */
  public @Nullable List<Long> shape(String name) {
    StoredTensor tensor = tensors.get(name);
    return tensor == null ? null : tensor.shape();
  }

  /** Whether there is a floating-point tensor of this name that can be computed with. */
  public boolean isUsable(String name) {
    StoredTensor tensor = tensors.get(name);
    return tensor != null && tensor.isUsable();
  }

  /**
   * A floating-point tensor; the same object whenever it is asked for.
   *
   * @throws UserError if there is none of this name, or it has another type
   */
  public ConstantTensor tensor(String name) {
    StoredTensor stored = tensors.get(name);
    if (stored == null) {
      throw new UserError(
          file + ": has no tensor " + Names.quote(name) + "; it has " + someNames());
    }
    if (!stored.isUsable()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: tensor %s has type %s; supported: F32, F16, BF16, F64",
              file,
              Names.quote(name),
              stored.type()));
    }
    return used.computeIfAbsent(name, stored::toTensor);
  }

  /**
   * A tensor of any type that constants can have, under another name; null if there is none of this
   * name.
   *
   * @param called what the tensor is called from now on
   * @throws UserError if constants cannot have its type
   */
  public @Nullable ConstantTensor constant(String name, String called) {
    StoredTensor stored = tensors.get(name);
    if (stored == null) {
      return null;
    }
    DType dtype = stored.type().dtype();
    if (dtype == null || dtype == DType.F8E4M3 || dtype == DType.F8E5M2) {
      throw new UserError(
          file + ": tensor " + Names.quote(name) + " has unsupported type " + stored.type());
    }
    return new ConstantTensor(
        called, dtype, stored.shape(), stored.data(), new Origin.Stored(name));
  }

  /** The tensors as they are in the file. */
  Map<String, StoredTensor> stored() {
    return tensors;
  }

  private String someNames() {
    if (tensors.isEmpty()) {
      return "none at all";
    }
    String some = String.join(", ", tensors.keySet().stream().limit(8).map(Names::quote).toList());
    return tensors.size() > 8 ? some + " and " + (tensors.size() - 8) + " more" : some;
  }
}
