package dev.warpwright.ir;

/** A parameter of a {@link PrimFunc}, a {@link Kernel} or a {@link Program}. */
public sealed interface Param permits Buffer, ScalarParam {
  /** {@return its name, unique among a function's parameters} */
  String name();
}
