package dev.warpwright.ir;

import java.util.List;

/**
 * A computation over buffers: loop nests around blocks, and, once scheduled, tile statements (then
 * it is called a tile program). The outputs are the buffers among {@code params} that the body
 * writes.
 *
 * @param name an identifier
 * @param params buffers and scalars, in the order of a caller's arguments
 * @param body what is computed
 * @param attrs what is said about it, which changes no result
 */
public record PrimFunc(String name, List<Param> params, Stmt body, Attrs attrs) {
  /** Copies the list. */
  public PrimFunc {
    params = List.copyOf(params);
  }

  /**
   * {@return the same with another body}
   *
   * @param newBody over the same parameters
   */
  public PrimFunc withBody(Stmt newBody) {
    return newBody == body ? this : new PrimFunc(name, params, newBody, attrs);
  }

  /**
   * {@return the same with other attributes}
   *
   * @param newAttrs instead of all of them
   */
  public PrimFunc withAttrs(Attrs newAttrs) {
    return new PrimFunc(name, params, body, newAttrs);
  }

  /** {@return the buffers among the parameters} */
  public List<Buffer> buffers() {
    return params.stream().filter(Buffer.class::isInstance).map(Buffer.class::cast).toList();
  }

  /** {@return the scalars among the parameters} */
  public List<ScalarParam> scalars() {
    return params.stream()
        .filter(ScalarParam.class::isInstance)
        .map(ScalarParam.class::cast)
        .toList();
  }
}
