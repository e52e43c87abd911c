package dev.warpwright.cuda;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.intrinsic.TensorMaps;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints one grid kernel. */
final class KernelPrinter {
  private static final String SHARED_BLOCK = "shared_memory";

  private final Kernel kernel;
  private final Uses uses;
  private final KernelResources resources;
  private final int sharedAlignment;
  private final AccessSummary accesses;
  private final Facts facts;
  private final Names names;
  private final Constants constants;
  private final ExprPrinter exprs;
  private final Map<TensorMaps.Spec, String> maps = new LinkedHashMap<>();
  private final Lines lines = new Lines();
  private final Stores stores;

  private KernelPrinter(
      Kernel kernel, GpuTarget target, Uses uses, Constants constants, int sharedAlignment) {
    this.sharedAlignment = sharedAlignment;
    this.kernel = kernel;
    this.uses = uses;
    this.constants = constants;
    this.resources = KernelResources.of(kernel);
    this.accesses = AccessSummary.of(kernel);
    this.names = new Names(accesses.functions());
    this.facts = new Facts(Simplify.ofKernel(kernel));
    TensorMaps.of(kernel)
        .maps()
        .forEach(spec -> maps.put(spec, names.declare(spec.global().name() + "_map")));
    this.exprs = new ExprPrinter(names, uses, facts, constants, maps);
    exprs.stream(LaunchOrder.names(kernel.attrs(), LaunchOrder.STREAMED));
    this.stores = new Stores(lines, exprs, names, accesses);
    if (cluster() > 1 && !target.supports(90, false)) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + " runs in clusters, which need sm_90 or newer, the target is "
              + target.name());
    }
    if (resources.sharedBytes() > target.sharedPerBlock()) {
      throw new UserError(
          "kernel "
              + kernel.name()
              + " needs "
              + resources.sharedBytes()
              + " bytes of shared memory, a block has "
              + target.sharedPerBlock()
              + " on "
              + target.name());
    }
  }

  /**
   * Prints a kernel.
   *
   * @param sharedAlignment of dynamic shared memory, of which a translation unit has one
   *     declaration, whatever each of its kernels needs
   */
  static String print(
      Kernel kernel, GpuTarget target, Uses uses, Constants constants, int sharedAlignment) {
    KernelPrinter printer = new KernelPrinter(kernel, target, uses, constants, sharedAlignment);
    printer.function();
    return printer.lines.text();
  }

  private void function() {
    List<String> params = new ArrayList<>();
    for (Param param : kernel.params()) {
      params.add(parameter(param));
    }
    for (String map : maps.values()) {
      uses.helper(Helper.TENSOR_MAP);
      params.add("const __grid_constant__ TensorMap " + map);
    }
    String above = kernel.attrs().getString(Attrs.COMMENT);
    if (above != null) {
      lines.comment(above);
    }
    lines.line("// " + launch());
    maps.forEach((spec, map) -> lines.comment(described(spec, map)));
    int minBlocks = (int) kernel.attrs().getLong("minBlocks", 0);
    lines.line(
        "extern \"C\" __global__ void __launch_bounds__("
            + kernel.threadsPerBlock()
            + (minBlocks > 0 ? ", " + minBlocks : "")
            + ")"
            + (cluster() > 1 ? " __cluster_dims__(" + cluster() + ", 1, 1)" : ""));
    String head = CudaPrinter.functionName(kernel) + "(";
    String joined = String.join(", ", params);
    String separator = head.length() + joined.length() <= 96 ? ", " : ",\n    ";
    lines.line(
        head + (separator.equals(", ") ? "" : "\n    ") + String.join(separator, params) + ") {");
    lines.indent();
    int top = lines.length();
    for (ThreadBinding binding : kernel.bindings()) {
      if (accesses.uses(binding.var())) {
        lines.line(
            "const int "
                + names.declare(binding.var(), binding.var().name())
                + " = "
                + binding.axis().text()
                + ";");
      }
    }
    if (resources.dynamic()) {
      lines.line(
          "extern __shared__ __align__("
              + sharedAlignment
              + ") unsigned char "
              + SHARED_BLOCK
              + "[];");
    } else if (resources.overlapping()) {
      lines.line(
          "__shared__ __align__("
              + resources.alignment()
              + ") unsigned char "
              + SHARED_BLOCK
              + "["
              + resources.sharedBytes()
              + "];");
    }
    prefetchMaps();
    stmt(kernel.body());
    lines.insert(top, constants.definitions());
    lines.outdent();
    lines.line("}");
  }

  /** One thread asks for all tensor maps, long before the first copy: a hint, not a statement. */
  private void prefetchMaps() {
    if (maps.isEmpty()) {
      return;
    }
    String prefetch = uses.helper(Helper.PREFETCH_TENSOR_MAP);
    lines.line("if (threadIdx.x == 0) {");
    lines.indent();
    maps.values().forEach(map -> lines.line(prefetch + "(&" + map + ");"));
    lines.outdent();
    lines.line("}");
  }

  /** Blocks that run as a cluster. */
  private long cluster() {
    return kernel.attrs().getLong("cluster", 1);
  }

  /** What the launch has to look like, for the reader. */
  private String launch() {
    List<String> grid = new ArrayList<>();
    List<String> block = new ArrayList<>();
    for (ThreadAxis axis : ThreadAxis.values()) {
      (axis.isBlock() ? grid : block).add(exprs.print(kernel.extent(axis)).string());
    }
    String shared =
        resources.sharedBytes() == 0
            ? ""
            : ", "
                + resources.sharedBytes()
                + " bytes of "
                + (resources.dynamic() ? "dynamic" : "static")
                + " shared memory";
    String clusters = cluster() > 1 ? " in clusters of " + cluster() : "";
    return "Grid " + dimensions(grid) + clusters + ", block " + dimensions(block) + shared + ".";
  }

  /** How the host has to make a tensor map. */
  private String described(TensorMaps.Spec spec, String map) {
    return String.format(
        Locale.ROOT,
        "%s cuts %s into boxes of %d rows of %d%s.",
        map,
        names.of(spec.global()),
        spec.rows(),
        spec.cols(),
        spec.swizzleBytes() == 0
            ? ", not swizzled"
            : ", swizzled over " + spec.swizzleBytes() + " bytes");
  }

  private static String dimensions(List<String> parts) {
    int last = parts.size();
    while (last > 1 && parts.get(last - 1).equals("1")) {
      last--;
    }
    return String.join(
        " x ",
        parts.subList(0, last).stream()
            .map(part -> part.contains(" ") ? "(" + part + ")" : part)
            .toList());
  }

  private String parameter(Param param) {
    return switch (param) {
      case Buffer buffer -> {
        uses.type(buffer.dtype());
        String type = CudaTypes.name(buffer.dtype());
        String name = names.declare(buffer, buffer.name());
        yield accesses.writes(buffer)
            ? type + "* " + name
            : "const " + type + (mayChange(buffer) ? "* " : "* __restrict__ ") + name;
      }
      case ScalarParam scalar -> {
        yield CudaTypes.name(scalar.var().type().dtype())
            + " "
            + names.declare(scalar.var(), scalar.name());
      }
    };
  }

  /**
   * Whether the launches before may still write a buffer while the kernel runs: then nothing is
   * promised by which a compiler could read it ahead of the wait, or through a cache for constants.
   */
  private boolean mayChange(Buffer buffer) {
    return LaunchOrder.overlaps(kernel)
        && !LaunchOrder.constants(kernel.attrs()).contains(buffer.name());
  }

  private void braces(String head, Stmt body) {
    lines.line(head + " {");
    inBraces(body);
    lines.line("}");
  }

  private void inBraces(Stmt body) {
    names.open();
    lines.indent();
    stmt(body);
    lines.outdent();
    names.close();
  }

  private void stmt(Stmt s) {
    switch (s) {
      case Stmt.Seq seq -> seq.stmts().forEach(this::stmt);
      case Stmt.For f -> loop(f);
      case Stmt.While w -> braces("while (" + exprs.print(w.condition()) + ")", w.body());
      case Stmt.If i -> conditional("", i);
      case Stmt.Let l -> {
        int start = lines.length();
        let(l.var(), l.value());
        exprs.release();
        int end = lines.length();
        stmt(l.body());
        // Simplified offsets may have no use for a variable that the IR mentions.
        if (!names.isMentioned(l.var()) && !callsIntrinsic(l.value())) {
          lines.cut(start, end);
          names.withdraw(l.var());
        }
      }
      case Stmt.Alloc a -> {
        allocate(a.buffer());
        stmt(a.body());
      }
      case Stmt.Store store -> {
        stores.store(store);
        exprs.release();
      }
      case Stmt.Evaluate e -> lines.line(exprs.print(e.call()) + ";");
      case Stmt.Comment c -> lines.comment(c.text());
      case Stmt.Block _,
          Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _,
          Stmt.Flow _ ->
          throw notInKernel(s);
    }
  }

  private IllegalArgumentException notInKernel(Stmt s) {
    return new IllegalArgumentException(
        s.getClass().getSimpleName() + " in kernel " + kernel.name() + ": it is not lowered");
  }

  private void loop(Stmt.For f) {
    switch (f.kind()) {
      case SERIAL, UNROLLED, VECTORIZED -> {}
      case PARALLEL, THREAD_BOUND, PIPELINED, PERSISTENT ->
          throw new IllegalArgumentException(
              f.kind() + " loop in kernel " + kernel.name() + ": it is not lowered");
    }
    Expr end = facts.simplified(Exprs.add(f.min(), f.extent()));
    String type = CudaTypes.name(f.var().type().dtype());
    String bound = end instanceof Expr.IntImm || end instanceof Var ? "" : loopEnd(f, end, type);
    String from = exprs.print(f.min()).string();
    String until = bound.isEmpty() ? exprs.print(end).in(Text.SHIFT) : bound;
    LoopPointers pointers = LoopPointers.of(f, names);
    if (pointers != null) {
      pointers.pointers().forEach(p -> lines.line(p.declared(exprs, names, facts, accesses)));
    }
    if (f.kind() != ForKind.SERIAL) {
      lines.line("#pragma unroll");
    } else if (f.attrs().has("unroll")) {
      lines.line(pragma(f.attrs()));
    }
    names.open();
    String name = names.declare(f.var(), f.var().name());
    Bounds outside = facts.enter(facts.bounds().withRange(f.var(), f.min(), f.extent()));
    lines.line(
        String.format(
            Locale.ROOT, "for (%s %s = %s; %s < %s; ++%s) {", type, name, from, name, until, name));
    LoopPointers outer = pointers == null ? null : exprs.run(pointers);
    inBraces(f.body());
    if (pointers != null) {
      exprs.run(outer);
      lines.indent();
      pointers.pointers().stream()
          .filter(p -> p.step() != 0)
          .forEach(p -> lines.line(p.name() + " += " + p.step() + ";"));
      lines.outdent();
    }
    lines.line("}");
    facts.enter(outside);
    names.close();
  }

  private static String pragma(Attrs attrs) {
    return "#pragma unroll " + attrs.getLong("unroll", 1);
  }

  /** The end of a loop is computed once, before it, if the body could change it. */
  private String loopEnd(Stmt.For f, Expr end, String type) {
    boolean[] reads = new boolean[1];
    Walk.expressions(end, e -> reads[0] |= e instanceof Expr.Load);
    if (!reads[0]) {
      return "";
    }
    String name = names.declare(f.var().name() + "_end");
    lines.line("const " + type + " " + name + " = " + exprs.print(end) + ";");
    return name;
  }

  private void conditional(String prefix, Stmt.If i) {
    if (prefix.isEmpty() && GuardedCopies.suit(i)) {
      guardedCopies(i);
      return;
    }
    lines.line(prefix + "if (" + exprs.print(i.condition()) + ") {");
    Bounds outside = facts.enter(facts.bounds().assuming(i.condition()));
    inBraces(i.then());
    facts.enter(outside.assumingNot(i.condition()));
    switch (i.otherwise()) {
      case null -> lines.line("}");
      case Stmt.If inner -> conditional("} else ", inner);
      case Stmt other -> {
        lines.line("} else {");
        inBraces(other);
        lines.line("}");
      }
    }
    facts.enter(outside);
  }

  /** Copies that depend on a condition one by one, without a branch. */
  private void guardedCopies(Stmt.If i) {
    String guard = names.declare("copies");
    lines.line("const bool " + guard + " = " + exprs.print(i.condition()) + ";");
    Bounds outside = facts.enter(facts.bounds().assuming(i.condition()));
    exprs.guard(guard);
    stmt(i.then());
    exprs.guard(null);
    facts.enter(outside);
  }

  private void let(Var var, Expr value) {
    if (var.type().isScalar()) {
      uses.type(var.type().dtype());
      String text = exprs.print(value).string();
      facts.bind(var, value);
      String typed = CudaTypes.name(var.type().dtype()) + " " + text;
      if (isIndex(value) && names.standsIn(var, typed)) {
        return;
      }
      lines.line(
          "const "
              + CudaTypes.name(var.type().dtype())
              + " "
              + names.declare(var, var.name())
              + " = "
              + text
              + ";");
      if (isIndex(value)) {
        names.hasValue(var, typed);
      }
    } else {
      stores.holdLoadsInside(value);
      String text = exprs.vector(value).string();
      lines.line(
          "const "
              + exprs.vecType(var.type())
              + " "
              + names.declare(var, var.name())
              + " = "
              + text
              + ";");
    }
  }

  /** Whether a value is arithmetic on integers that do not change while they are in scope. */
  private static boolean isIndex(Expr value) {
    boolean[] plain = {value.type().isScalar() && value.type().dtype().isInt()};
    Walk.expressions(
        value,
        e -> plain[0] &= e instanceof Var || e instanceof Expr.IntImm || e instanceof Expr.Binary);
    return plain[0] && value instanceof Expr.Binary;
  }

  private static boolean callsIntrinsic(Expr value) {
    boolean[] found = new boolean[1];
    Walk.expressions(
        value, e -> found[0] |= e instanceof Expr.Call c && c.op() instanceof Intrinsic);
    return found[0];
  }

  private void allocate(Buffer buffer) {
    uses.type(buffer.dtype());
    String type = CudaTypes.name(buffer.dtype());
    String name = names.declare(buffer, buffer.name());
    switch (buffer.scope()) {
      case LOCAL -> {
        if (ExprPrinter.isScalarVariable(buffer)) {
          lines.line(type + " " + name + ";");
        } else {
          String align = accesses.isVectorAccessed(buffer) ? "__align__(16) " : "";
          lines.line(align + type + " " + name + "[" + buffer.storageElements() + "];");
        }
      }
      case SHARED -> {
        if (resources.dynamic() || resources.overlapping()) {
          lines.line(
              String.format(
                  Locale.ROOT,
                  "%s* const %s = reinterpret_cast<%s*>(%s);",
                  type,
                  name,
                  type,
                  sharedAddress(buffer)));
        } else {
          lines.line(
              String.format(
                  Locale.ROOT,
                  "__shared__ __align__(%d) %s %s[%d];",
                  KernelResources.alignment(buffer),
                  type,
                  name,
                  buffer.storageElements()));
        }
      }
      case GLOBAL, SHARED_CLUSTER, FRAGMENT ->
          throw new IllegalArgumentException(
              "allocation of " + buffer + " in kernel " + kernel.name());
    }
  }

  private String sharedAddress(Buffer buffer) {
    Integer offset = resources.offsets().get(buffer);
    return offset == null || offset == 0
        ? SHARED_BLOCK
        : SHARED_BLOCK + " + " + constants.begin(buffer, offset);
  }
}
