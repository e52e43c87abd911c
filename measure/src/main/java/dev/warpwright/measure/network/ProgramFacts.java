package dev.warpwright.measure.network;

import java.util.List;

/**
 * What a compiler says of a program's kernels; of several, the most that one needs.
 *
 * @param sourceHash SHA-256 of the printed source in hexadecimal
 * @param threads of a block
 * @param sharedBytes of a block
 * @param spills bytes of spill stores and loads of all kernels
 */
public record ProgramFacts(
    String sourceHash,
    int kernels,
    long blocks,
    int threads,
    int registers,
    int sharedBytes,
    int spills,
    List<String> warnings) {
  public ProgramFacts {
    warnings = List.copyOf(warnings);
  }
}
