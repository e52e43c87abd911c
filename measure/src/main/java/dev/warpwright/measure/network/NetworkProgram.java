package dev.warpwright.measure.network;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Var;
import java.util.List;
import java.util.Map;

/**
 * One way to compute a network.
 *
 * @param name in reports
 * @param rows that it computes: those asked for, or more, where it was compiled for a row count
 * @param constants elements of its constants in storage order: {@code float[]}, {@code int[]}, or
 *     {@code short[]} with the bits of 16-bit types
 */
public record NetworkProgram(
    String name, Program program, int rows, Map<Buffer, Object> constants) {
  public NetworkProgram {
    constants = Map.copyOf(constants);
  }

  List<Buffer> inputs() {
    return buffers(Role.INPUT);
  }

  List<Buffer> outputs() {
    return buffers(Role.OUTPUT);
  }

  /** Of each output the input that it begins as, by its place among them; -1 for none. */
  int[] carried() {
    List<Buffer> inputs = inputs();
    return outputs().stream()
        .mapToInt(
            output ->
                program.steps().stream()
                    .filter(step -> step instanceof Program.Carry c && c.to() == output)
                    .mapToInt(step -> inputs.indexOf(((Program.Carry) step).from()))
                    .findFirst()
                    .orElse(-1))
        .toArray();
  }

  private List<Buffer> buffers(Role role) {
    return program.params().stream()
        .filter(param -> param.role() == role)
        .map(ProgramParam::param)
        .map(Buffer.class::cast)
        .toList();
  }

  /** The values of its scalars, of which the row count is the only one. */
  Map<Var, Long> scalars() {
    return program.params().stream()
        .map(ProgramParam::param)
        .filter(ScalarParam.class::isInstance)
        .map(ScalarParam.class::cast)
        .collect(java.util.stream.Collectors.toMap(ScalarParam::var, scalar -> (long) rows));
  }
}
