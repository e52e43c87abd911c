package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.verify.Verifier.Findings;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Views of a program's buffers, and what may differ between its devices: a sum over devices is of
 * what differs, and what all should have does not.
 */
final class DeviceRules {
  private final Program program;
  private final Findings findings;
  private final Map<Buffer, Program.View> views = new HashMap<>();

  /** Rows of each buffer that may differ between devices; a single row for one of unknown shape. */
  private final Map<Buffer, BitSet> differing = new HashMap<>();

  DeviceRules(Program program, Findings findings) {
    this.program = program;
    this.findings = findings;
    program.params().forEach(this::param);
  }

  private void param(Program.ProgramParam param) {
    if (!param.sharded()) {
      return;
    }
    if (param.param() instanceof Buffer buffer && program.devices() > 1) {
      if (param.role() != Program.Role.OUTPUT) {
        mark(buffer, true);
      }
    } else {
      add(param, "'" + param.param().name() + "' is sharded: needs buffers and several devices");
    }
  }

  private void add(Object node, String message) {
    findings.add(Rule.DEVICES, node, message);
  }

  /** The buffer in whose memory a view lies; any other is itself. */
  Buffer base(Buffer buffer) {
    Program.View view = views.get(buffer);
    return view == null ? buffer : view.of();
  }

  /** Takes a view; true if it is rows of what it is said to be of. */
  boolean view(Program.View view) {
    Buffer rows = view.view();
    Buffer of = view.of();
    boolean fits =
        isPlain(rows)
            && isPlain(of)
            && rows.dtype() == of.dtype()
            && rows.rank() == of.rank()
            && !views.containsKey(of)
            && view.first() >= 0
            && view.first() + rows.extent(0) <= of.extent(0)
            && tail(rows).equals(tail(of));
    if (!fits) {
      add(view, "'" + rows.name() + "' is not rows of '" + of.name() + "'");
      return false;
    }
    long bytes = view.first() * (of.storageElements() / of.extent(0)) * of.dtype().bytes();
    if (rows.alignment() > of.alignment() || bytes % rows.alignment() != 0) {
      add(view, "'" + rows.name() + "' is not aligned to " + rows.alignment() + " bytes");
    }
    views.put(rows, view);
    return true;
  }

  /** Whether it is row-major and of constant extents, the first at least one. */
  private static boolean isPlain(Buffer buffer) {
    return buffer.layout() == null
        && buffer.rank() > 0
        && buffer.shape().stream().allMatch(e -> e instanceof Expr.IntImm i && i.value() > 0);
  }

  private static List<Long> tail(Buffer buffer) {
    return buffer.shape().stream().skip(1).map(e -> ((Expr.IntImm) e).value()).toList();
  }

  /** What a kernel leaves may differ if anything does that it reads. */
  void launch(List<Buffer> read, List<Buffer> written) {
    if (read.stream().anyMatch(this::differs)) {
      written.forEach(buffer -> mark(buffer, true));
    }
  }

  void same(Buffer buffer) {
    mark(buffer, false);
  }

  void sum(Program.AllReduce sum) {
    Buffer buffer = sum.buffer();
    String name = "'" + buffer.name() + "'";
    if (program.devices() == 1) {
      add(sum, name + " is added over devices, and there is one");
    } else if (!differs(buffer)) {
      add(sum, name + " is the same on all devices: the sum is as often too large");
    }
    if (!buffer.dtype().isFloat() || buffer.dtype().bytes() < 2) {
      findings.add(Rule.TYPES, sum, name + " of type " + buffer.dtype() + " is not added");
    }
    mark(buffer, false);
  }

  /** At the end: outputs that are not sharded are the same everywhere. */
  void outputs() {
    for (Program.ProgramParam param : program.params()) {
      if (param.role() == Program.Role.OUTPUT
          && !param.sharded()
          && param.param() instanceof Buffer buffer
          && differs(buffer)) {
        add(param, "output '" + buffer.name() + "' may differ between devices: no sum over them");
      }
    }
  }

  private int from(Buffer buffer) {
    Program.View view = views.get(buffer);
    return view == null ? 0 : (int) view.first();
  }

  private int to(Buffer buffer) {
    return from(buffer) + (isPlain(buffer) ? (int) buffer.extent(0) : 1);
  }

  private void mark(Buffer buffer, boolean differs) {
    differing
        .computeIfAbsent(base(buffer), b -> new BitSet())
        .set(from(buffer), to(buffer), differs);
  }

  private boolean differs(Buffer buffer) {
    BitSet rows = differing.get(base(buffer));
    int first = rows == null ? -1 : rows.nextSetBit(from(buffer));
    return first >= 0 && first < to(buffer);
  }
}
