package dev.warpwright.ir.verify;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Substitution;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The rules for programs. */
final class ProgramRules {
  private final Program program;
  private final Findings findings;
  private final StmtRules rules;
  private final DeviceRules devices;
  private final Map<Buffer, Program.Role> roles = new HashMap<>();
  private final Set<Buffer> written = new HashSet<>();
  private final Set<Buffer> reported = new HashSet<>();

  /** Inputs whose memory an output may have by now. */
  private final Set<Buffer> carried = new HashSet<>();

  private ProgramRules(Program program, Findings findings) {
    this.program = program;
    this.findings = findings;
    this.rules = new StmtRules(findings, null);
    this.devices = new DeviceRules(program, findings);
  }

  static void check(Program p, Findings findings) {
    new ProgramRules(p, findings).check();
  }

  private void check() {
    List<Param> params = program.params().stream().map(Program.ProgramParam::param).toList();
    Place place = PrimFuncRules.params(params, rules, findings);
    for (Program.ProgramParam param : program.params()) {
      if (param.param() instanceof Buffer buffer) {
        roles.put(buffer, param.role());
        if (param.role() != Program.Role.OUTPUT) {
          written.add(buffer);
        }
      }
    }
    written.addAll(program.counters());
    for (Buffer buffer : program.workspace()) {
      for (Expr extent : buffer.shape()) {
        rules.exprs().check(extent, place);
      }
      AccessRules.layout(buffer, findings);
      if (buffer.scope() != Scope.GLOBAL) {
        findings.add(
            Rule.SCOPES,
            buffer,
            String.format(
                Locale.ROOT,
                "workspace '%s' has scope %s, not global",
                buffer.name(),
                buffer.scope()));
      }
      if (place.buffers().contains(buffer)) {
        findings.add(
            Rule.DECLARED_ONCE, buffer, "buffer '" + buffer.name() + "' is declared twice");
      }
      place = place.with(buffer);
    }
    for (Program.View view : program.views()) {
      declared(view, view.of(), place);
      if (place.buffers().contains(view.view())) {
        findings.add(
            Rule.DECLARED_ONCE, view, "buffer '" + view.view().name() + "' is declared twice");
      } else if (devices.view(view)) {
        place = place.with(view.view());
      }
    }
    kernels();
    for (Program.Step step : program.steps()) {
      switch (step) {
        case Program.Memset memset -> memset(memset, place);
        case Program.Launch launch -> launch(launch, place);
        case Program.Carry carry -> carry(carry, place);
        case Program.AllReduce sum -> sum(sum, place);
      }
    }
    roles.forEach(
        (buffer, role) -> {
          if (role == Program.Role.OUTPUT && !written.contains(buffer)) {
            dataflow(buffer, "output '" + buffer.name() + "' is never written");
          }
        });
    devices.outputs();
  }

  private void kernels() {
    Set<String> names = new HashSet<>();
    for (Kernel kernel : program.kernels()) {
      KernelRules.check(kernel, findings);
      if (!names.add(kernel.name())) {
        findings.add(Rule.KERNEL_NAMES, kernel, "there are two kernels '" + kernel.name() + "'");
      }
    }
  }

  private void dataflow(Object node, String message) {
    findings.add(Rule.DATAFLOW, node, message);
  }

  private void writes(Object step, Buffer view) {
    Buffer buffer = devices.base(view);
    Program.Role role = roles.get(buffer);
    if (role == Program.Role.INPUT || role == Program.Role.CONSTANT) {
      dataflow(step, role.text() + " '" + buffer.name() + "' is written");
    }
    written.add(buffer);
  }

  private void memset(Program.Memset memset, Place place) {
    Buffer buffer = memset.buffer();
    declared(memset, buffer, place);
    if (memset.value() < 0 || memset.value() > 255) {
      findings.add(Rule.ARGUMENTS, memset, memset.value() + " is no byte");
    }
    writes(memset, buffer);
    devices.same(buffer);
  }

  private void carry(Program.Carry carry, Place place) {
    Buffer from = carry.from();
    Buffer to = carry.to();
    declared(carry, from, place);
    declared(carry, to, place);
    if (roles.get(from) != Program.Role.INPUT || roles.get(to) != Program.Role.OUTPUT) {
      findings.add(
          Rule.ARGUMENTS,
          carry,
          "an input is carried to an output, not '" + from.name() + "' to '" + to.name() + "'");
    }
    if (from.dtype() != to.dtype()
        || !from.shape().equals(to.shape())
        || from.layout() != null
        || to.layout() != null) {
      findings.add(
          Rule.ARGUMENTS,
          carry,
          "'" + from.name() + "' and '" + to.name() + "' differ in type, shape or layout");
    }
    if (written.contains(to)) {
      dataflow(
          carry, "'" + to.name() + "' is written before '" + from.name() + "' is carried to it");
    }
    reads(carry, from);
    writes(carry, to);
    devices.same(to);
    carried.add(from);
  }

  private void sum(Program.AllReduce sum, Place place) {
    Buffer buffer = sum.buffer();
    declared(sum, buffer, place);
    boolean known = written.contains(devices.base(buffer));
    reads(sum, buffer);
    writes(sum, buffer);
    if (known) {
      devices.sum(sum);
    }
  }

  private void reads(Object step, Buffer actual) {
    if (carried.contains(actual)) {
      dataflow(step, "'" + actual.name() + "' is read when an output may have its memory");
    }
    if (!written.contains(devices.base(actual)) && reported.add(actual)) {
      dataflow(step, "'" + actual.name() + "' is read before anything is written to it");
    }
  }

  private void declared(Object step, Buffer buffer, Place place) {
    if (!place.buffers().contains(buffer)) {
      findings.add(Rule.DECLARED, step, "buffer '" + buffer.name() + "' is not declared here");
    }
  }

  private void launch(Program.Launch launch, Place place) {
    Kernel kernel = launch.kernel();
    Map<Var, Expr> scalars = new HashMap<>();
    for (int i = 0; i < launch.arguments().size(); i++) {
      if (kernel.params().get(i) instanceof ScalarParam param
          && launch.arguments().get(i) instanceof Program.ScalarArgument(Expr value)) {
        rules.exprs().check(value, place);
        scalar(launch, param, value, place);
        scalars.put(param.var(), value);
      }
    }
    Set<Buffer> loaded = new HashSet<>();
    Set<Buffer> stored = new HashSet<>();
    Uses.of(kernel.body(), loaded, stored);
    Set<Buffer> writtenHere = new HashSet<>();
    List<Buffer> readHere = new ArrayList<>();
    Set<String> ahead =
        LaunchOrder.overlaps(kernel) ? LaunchOrder.constants(kernel.attrs()) : Set.of();
    for (int i = 0; i < launch.arguments().size(); i++) {
      Param param = kernel.params().get(i);
      Program.Argument argument = launch.arguments().get(i);
      boolean fits = (param instanceof Buffer) == (argument instanceof Program.BufferArgument);
      if (!fits) {
        findings.add(
            Rule.ARGUMENTS,
            launch,
            String.format(
                Locale.ROOT,
                "argument %d of '%s' should be a %s",
                i,
                kernel.name(),
                param instanceof Buffer ? "buffer" : "scalar"));
      } else if (param instanceof Buffer formal
          && argument instanceof Program.BufferArgument(Buffer actual)) {
        declared(launch, actual, place);
        buffer(launch, formal, actual, scalars, place);
        // A kernel that writes what it reads may write it first.
        if (loaded.contains(formal) && !stored.contains(formal)) {
          reads(launch, actual);
        }
        if (loaded.contains(formal)) {
          readHere.add(actual);
        }
        if (stored.contains(formal)) {
          writtenHere.add(actual);
        }
        if (ahead.contains(formal.name()) && roles.get(actual) != Program.Role.CONSTANT) {
          argument(
              launch,
              String.format(
                  Locale.ROOT,
                  "'%s' reads '%s' before it waits for earlier launches: '%s' is no constant",
                  kernel.name(),
                  formal.name(),
                  actual.name()));
        }
      }
    }
    writtenHere.forEach(buffer -> writes(launch, buffer));
    devices.launch(readHere, List.copyOf(writtenHere));
  }

  private void argument(Object launch, String message) {
    findings.add(Rule.ARGUMENTS, launch, message);
  }

  private void scalar(Program.Launch launch, ScalarParam param, Expr value, Place place) {
    if (!value.type().equals(param.var().type())) {
      argument(
          launch,
          String.format(
              Locale.ROOT,
              "'%s' takes '%s' of type %s, not %s",
              launch.kernel().name(),
              param.name(),
              param.var().type(),
              value.type()));
      return;
    }
    Interval values = place.bounds().of(value);
    if (values.max() < param.min() || values.min() > param.max()) {
      argument(
          launch,
          String.format(
              Locale.ROOT,
              "'%s' is meant for '%s' in %d..%d, not %s",
              launch.kernel().name(),
              param.name(),
              param.min(),
              param.max(),
              IrPrinter.text(value)));
    }
  }

  /**
   * Whether arithmetic on an expression means anything; what is wrong with it is told elsewhere.
   */
  private static boolean isSound(Expr e, Place place) {
    Findings found = new Findings();
    new StmtRules(found, null).exprs().check(e, place);
    return found.isEmpty();
  }

  /** Whether both are row-major, and of as many elements: another view of the same memory. */
  private static boolean isReshaped(Buffer formal, Buffer actual) {
    return formal.layout() == null
        && actual.layout() == null
        && formal.shape().stream().allMatch(Expr.IntImm.class::isInstance)
        && actual.shape().stream().allMatch(Expr.IntImm.class::isInstance)
        && formal.storageElements() == actual.storageElements();
  }

  private void buffer(
      Program.Launch launch, Buffer formal, Buffer actual, Map<Var, Expr> scalars, Place place) {
    String pair =
        String.format(
            Locale.ROOT,
            "'%s' passed for '%s' of '%s'",
            actual.name(),
            formal.name(),
            launch.kernel().name());
    if (formal.dtype() != actual.dtype()) {
      argument(launch, pair + " has type " + actual.dtype() + ", not " + formal.dtype());
    }
    boolean reshaped = isReshaped(formal, actual);
    if (formal.rank() != actual.rank() && !reshaped) {
      argument(launch, pair + " has rank " + actual.rank() + ", not " + formal.rank());
      return;
    }
    for (int i = 0; i < formal.rank() && !reshaped; i++) {
      Expr wanted = Substitution.ofVars(scalars).expr(formal.shape().get(i));
      Expr given = actual.shape().get(i);
      if (wanted.type().equals(given.type())
          && isSound(wanted, place)
          && isSound(given, place)
          && new Simplifier(place.bounds()).proves(new Expr.Binary(BinaryOp.NE, wanted, given))) {
        argument(
            launch,
            String.format(
                Locale.ROOT,
                "%s has extent %s in dimension %d, not %s",
                pair,
                IrPrinter.text(given),
                i,
                IrPrinter.text(wanted)));
      }
    }
    if (!Objects.equals(formal.layout(), actual.layout())) {
      argument(
          launch,
          String.format(
              Locale.ROOT, "%s has layout %s, not %s", pair, actual.layout(), formal.layout()));
    }
    if (actual.alignment() < formal.alignment()) {
      argument(
          launch,
          String.format(
              Locale.ROOT,
              "%s is aligned to %d bytes, not %d",
              pair,
              actual.alignment(),
              formal.alignment()));
    }
  }
}
