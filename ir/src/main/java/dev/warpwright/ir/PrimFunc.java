package dev.warpwright.ir;

import java.util.List;

/**
 * A computation over buffers: loop nests around blocks, and, once scheduled, tile statements (then
 * it is called a tile program). The outputs are the buffers among {@code params} that the body
 * writes.
 *
 * @param name an identifier
 * @param params buffers and scalars, in the order of a caller's arguments
 */
public record PrimFunc(String name, List<Param> params, Stmt body, Attrs attrs) {
  public PrimFunc {
    params = List.copyOf(params);
  }

  public PrimFunc withBody(Stmt newBody) {
    return newBody == body ? this : new PrimFunc(name, params, newBody, attrs);
  }

  public PrimFunc withAttrs(Attrs newAttrs) {
    return new PrimFunc(name, params, body, newAttrs);
  }

  /** The buffers among the parameters. */
  public List<Buffer> buffers() {
    return params.stream().filter(Buffer.class::isInstance).map(Buffer.class::cast).toList();
  }

  /** The scalars among the parameters. */
  public List<ScalarParam> scalars() {
    return params.stream()
        .filter(ScalarParam.class::isInstance)
        .map(ScalarParam.class::cast)
        .toList();
  }
}
