package dev.warpwright.parallel.program;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Puts programs of one device together to one for several. */
final class ParallelAssembly {
  private final Graph graph;
  private final int parts;
  private final int partRows;
  private final boolean shardedRows;
  private final Predicate<PackedConstant> sharded;

  /** In the order in which pieces read or give them. */
  private final Map<Value, Buffer> ofValues = new LinkedHashMap<>();

  private final List<ProgramParam> constants = new ArrayList<>();
  private final List<Buffer> workspace = new ArrayList<>();
  private final List<Program.View> views = new ArrayList<>();
  private final Map<Buffer, List<Buffer>> ofParts = new IdentityHashMap<>();
  private final List<Program.Step> steps = new ArrayList<>();
  private final Set<String> names = new HashSet<>();
  private final Map<Kernel, Kernel> renamed = new IdentityHashMap<>();

  /**
   * An assembly.
   *
   * @param shardedRows whether each device has its own inputs and outputs
   * @param sharded whether each device has its own constant
   */
  ParallelAssembly(
      Graph graph,
      int parts,
      int partRows,
      boolean shardedRows,
      Predicate<PackedConstant> sharded) {
    this.graph = graph;
    this.parts = parts;
    this.partRows = partRows;
    this.shardedRows = shardedRows;
    this.sharded = sharded;
  }

  /** The program of everything that was added. */
  Program program(String name, int devices) {
    List<ProgramParam> params = new ArrayList<>();
    inputs().forEach(b -> params.add(new ProgramParam(Role.INPUT, b, shardedRows)));
    outputs().forEach(b -> params.add(new ProgramParam(Role.OUTPUT, b, shardedRows)));
    params.addAll(constants);
    List<Buffer> between = new ArrayList<>();
    ofValues.forEach(
        (value, buffer) -> {
          if (!graph.inputs().contains(value) && !graph.outputs().contains(value)) {
            between.add(buffer);
          }
        });
    between.addAll(workspace);
    Program program = new Program(name, devices, params, between, views, steps);
    List<Problem> problems = Verifier.verify(program);
    if (!problems.isEmpty()) {
      throw new IllegalStateException(name + " is not well formed: " + problems.getFirst());
    }
    return program;
  }

  /** Of all inputs of the graph, though no piece may read some. */
  List<Buffer> inputs() {
    return graph.inputs().stream()
        .map(input -> ofValues.computeIfAbsent(input, this::unread))
        .toList();
  }

  private Buffer unread(Value input) {
    return Buffer.of(
        input.name(), input.dtype(), Scope.GLOBAL, (long) parts * partRows, input.features());
  }

  List<Buffer> outputs() {
    return graph.outputs().stream().map(ofValues::get).toList();
  }

  /** Adds kernels for all parts of the rows, and behind each part's the sums of these outputs. */
  void add(Graph piece, CompiledProgram compiled, Set<Value> summed) {
    Map<Buffer, Buffer> own = new IdentityHashMap<>();
    List<Buffer> ends = new ArrayList<>(compiled.network().inputs());
    ends.addAll(compiled.network().outputs());
    List<Value> values = new ArrayList<>(piece.inputs());
    values.addAll(piece.outputs());
    for (int i = 0; i < ends.size(); i++) {
      own.put(ends.get(i), buffer(values.get(i), ends.get(i)));
    }
    for (PackedConstant constant : compiled.constants()) {
      own.put(constant.buffer(), constant.buffer());
      constants.add(new ProgramParam(Role.CONSTANT, constant.buffer(), sharded.test(constant)));
    }
    Map<Var, Long> rows = Map.of(compiled.network().rows().var(), (long) partRows);
    for (Buffer buffer : compiled.program().workspace()) {
      Buffer fixed = sized(buffer, rows);
      own.put(buffer, fixed);
      workspace.add(fixed);
    }
    for (int part = 0; part < parts; part++) {
      for (Program.Step step : compiled.program().steps()) {
        steps.add(step(step, own, part, rows));
      }
      for (Value sum : piece.outputs()) {
        if (summed.contains(sum)) {
          steps.add(
              new Program.AllReduce(ofPart(own.get(ends.get(values.lastIndexOf(sum))), part)));
        }
      }
    }
  }

  /** The buffer of a value for all rows, made when its first piece comes. */
  private Buffer buffer(Value value, Buffer like) {
    Buffer known = ofValues.get(value);
    if (known == null) {
      String name = "v" + ofValues.size();
      if (graph.inputs().contains(value) || graph.outputs().contains(value)) {
        name = like.name();
      }
      known =
          new Buffer(
              name,
              like.dtype(),
              List.of(Exprs.i32((long) parts * partRows), like.shape().get(1)),
              like.scope(),
              null,
              like.alignment());
      ofValues.put(value, known);
    }
    if (known.dtype() != like.dtype()) {
      throw new UserError(
          "'"
              + value.name()
              + "' of "
              + value.features()
              + " features is read in "
              + like.dtype()
              + " and given in "
              + known.dtype()
              + ": the network is not split behind it; rows can be (--gpus N,data)");
    }
    return known;
  }

  private static Buffer sized(Buffer buffer, Map<Var, Long> rows) {
    return new Buffer(
        buffer.name(),
        buffer.dtype(),
        buffer.shape().stream().map(extent -> fixed(extent, rows)).toList(),
        buffer.scope(),
        buffer.layout(),
        buffer.alignment());
  }

  private static Expr fixed(Expr value, Map<Var, Long> rows) {
    return new Expr.IntImm(value.type(), ScalarEval.eval(value, rows));
  }

  /** The rows of a part; of what has not all rows, itself. */
  private Buffer ofPart(@Nullable Buffer known, int part) {
    Buffer buffer = Objects.requireNonNull(known);
    if (parts == 1 || !ofValues.containsValue(buffer)) {
      return buffer;
    }
    return ofParts.computeIfAbsent(buffer, this::parts).get(part);
  }

  private List<Buffer> parts(Buffer buffer) {
    List<Buffer> all = new ArrayList<>();
    for (int part = 0; part < parts; part++) {
      Buffer view =
          new Buffer(
              buffer.name() + "_" + part,
              buffer.dtype(),
              List.of(Exprs.i32(partRows), buffer.shape().get(1)),
              buffer.scope(),
              null,
              buffer.alignment());
      views.add(new Program.View(view, buffer, (long) part * partRows));
      all.add(view);
    }
    return all;
  }

  private Program.Step step(
      Program.Step step, Map<Buffer, Buffer> own, int part, Map<Var, Long> rows) {
    return switch (step) {
      case Program.AllReduce sum -> throw sum.alone();
      case Program.Memset(Buffer buffer, int value) ->
          new Program.Memset(ofPart(own.get(buffer), part), value);
      case Program.Carry(Buffer from, Buffer to) ->
          new Program.Carry(ofPart(own.get(from), part), ofPart(own.get(to), part));
      case Program.Launch(Kernel kernel, List<Program.Argument> arguments) ->
          new Program.Launch(
              renamed.computeIfAbsent(kernel, this::named),
              arguments.stream()
                  .<Program.Argument>map(
                      argument ->
                          switch (argument) {
                            case Program.BufferArgument(Buffer buffer) ->
                                new Program.BufferArgument(ofPart(own.get(buffer), part));
                            case Program.ScalarArgument(Expr value) ->
                                new Program.ScalarArgument(fixed(value, rows));
                          })
                  .toList());
    };
  }

  /** Pieces are named by themselves: two may have kernels of one name. */
  private Kernel named(Kernel kernel) {
    String name = kernel.name();
    for (int number = 2; !names.add(name); number++) {
      name = kernel.name() + "_" + number;
    }
    return name.equals(kernel.name()) ? kernel : kernel.withName(name);
  }
}
