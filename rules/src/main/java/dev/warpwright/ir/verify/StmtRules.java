package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.verify.Verifier.Findings;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The rules for statements, at every level. */
final class StmtRules {
  private final Findings findings;
  private final @Nullable Kernel kernel;
  private final ExprRules exprs;
  private final BlockRules blocks;
  private final TileRules tiles;

  /** Whether what is checked is a role's; roles hold no roles. */
  private boolean inRole;

  /**
   * Rules.
   *
   * @param kernel whose body the statements are; null in a PrimFunc
   */
  StmtRules(Findings findings, @Nullable Kernel kernel) {
    this.findings = findings;
    this.kernel = kernel;
    AccessRules accesses = new AccessRules(findings, kernel == null ? null : kernel.kind());
    this.exprs = new ExprRules(findings, new IntrinsicRules(findings, kernel), accesses);
    this.blocks = new BlockRules(findings);
    this.tiles = new TileRules(findings);
  }

  ExprRules exprs() {
    return exprs;
  }

  void check(Stmt s, Place place) {
    switch (s) {
      case Stmt.Seq seq -> seq.stmts().forEach(each -> check(each, place));
      case Stmt.For f -> loop(f, place);
      case Stmt.While(Expr condition, Stmt body) -> {
        if (kernel == null && !inRole) {
          level(s, "'while' belongs into kernels and roles");
        }
        condition(s, condition, place);
        check(body, place.uncertain().partedBy(condition));
      }
      case Stmt.If i -> {
        condition(s, i.condition(), place);
        Place behind = place.uncertain().partedBy(i.condition());
        check(i.then(), behind.with(place.bounds().assuming(i.condition())));
        if (i.otherwise() != null) {
          check(i.otherwise(), behind.with(place.bounds().assumingNot(i.condition())));
        }
      }
      case Stmt.Let(Var v, Expr value, Stmt body) -> {
        exprs.check(value, place);
        declared(s, v, place);
        if (!v.type().equals(value.type())) {
          findings.add(
              Rule.TYPES, s, "'" + v.name() + "' is " + v.type() + ", its value " + value.type());
          check(body, place.with(v));
        } else {
          check(body, place.withLet(v, value));
        }
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) -> {
        alloc(buffer, place);
        check(body, place.with(buffer));
      }
      case Stmt.Store store -> store(store, place);
      case Stmt.Evaluate(Expr.Call call) -> {
        exprs.call(call, place);
        if (!(call.op() instanceof Intrinsic)) {
          findings.add(Rule.INTRINSICS, call, call.op().text() + " has no effect");
        }
      }
      case Stmt.Comment c -> {}
      case Stmt.Block b -> {
        if (kernel != null) {
          level(s, "a block belongs into a PrimFunc");
        }
        block(b, place);
      }
      case Stmt.TileCopy c -> {
        tile(s);
        region(c.to(), place, false);
        region(c.from(), place, false);
        tiles.copy(c);
      }
      case Stmt.TileFill f -> {
        tile(s);
        region(f.to(), place, true);
        exprs.check(f.value(), place);
        tiles.fill(f);
      }
      case Stmt.TileMma m -> {
        tile(s);
        List.of(m.c(), m.a(), m.b()).forEach(r -> region(r, place, true));
        tiles.mma(m);
      }
      case Stmt.TileMap m -> {
        tile(s);
        m.extents().forEach(e -> exprs.check(e, place));
        Place inside = box(s, m.vars(), m.extents(), place);
        m.stores().forEach(store -> store(store, inside));
        tiles.map(m, inside.bounds());
      }
      case Stmt.TileReduce r -> {
        tile(s);
        r.extents().forEach(e -> exprs.check(e, place));
        r.reduceExtents().forEach(e -> exprs.check(e, place));
        Place kept = box(s, r.vars(), r.extents(), place);
        exprs.access(s, r.to(), r.indices(), kept);
        Place all = box(s, r.reduceVars(), r.reduceExtents(), kept);
        exprs.check(r.value(), all);
        tiles.reduce(r);
      }
      case Stmt.Flow flow -> {
        if (kernel != null) {
          level(s, "pipes, roles and signals belong into a tile program");
        }
        flow(flow, place);
      }
    }
  }

  /** Names and types; what is wrong with pipes and roles as such, {@link FlowRules} say. */
  private void flow(Stmt.Flow s, Place place) {
    switch (s) {
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) -> {
        pipe.buffers().forEach(buffer -> alloc(buffer, place));
        check(body, place);
      }
      case Stmt.Flow.Produce(Pipe pipe, Stmt body) -> check(body, inStage(pipe, place));
      case Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt body) ->
          check(body, inStage(pipe, place));
      case Stmt.Flow.Skip(Pipe pipe, Expr count) -> {
        exprs.check(count, place);
        if (!count.type().dtype().isInt() || place.bounds().of(count).min() < 0) {
          findings.add(Rule.PIPES, s, "'" + pipe.name() + "' may be skipped by less than 0 stages");
        }
      }
      case Stmt.Flow.Roles(List<Role> roles) -> roles.forEach(role -> role(role, place));
      case Stmt.Flow.Signal(Buffer counter, List<Expr> indices, Expr by) -> {
        exprs.access(s, counter, indices, place);
        exprs.check(by, place);
        if (!by.type().dtype().isInt() || place.bounds().of(by).min() < 1) {
          findings.add(
              Rule.SIGNALS, s, "'" + counter.name() + "' may not grow: a counter is only added to");
        }
      }
      case Stmt.Flow.Await(Buffer counter, List<Expr> indices, Expr atLeast) -> {
        exprs.access(s, counter, indices, place);
        exprs.check(atLeast, place);
        if (!atLeast.type().dtype().isInt()) {
          findings.add(
              Rule.TYPES, s, "'" + counter.name() + "' is compared with " + atLeast.type());
        }
      }
      case Stmt.Flow.Combine c -> {
        for (Expr number : List.of(c.slot(), c.part(), c.parts())) {
          exprs.check(number, place);
          if (!number.type().dtype().isInt()) {
            findings.add(Rule.TYPES, s, "parts of a tile are numbered by " + number.type());
          }
        }
        if (!place.buffers().contains(c.sums())) {
          findings.add(Rule.DECLARED, s, "buffer '" + c.sums().name() + "' is not declared here");
        }
        if (c.sums().scope() != Scope.FRAGMENT) {
          findings.add(
              Rule.LEVEL, s, "'" + c.sums().name() + "', whose parts are added, is no fragment");
        }
        check(c.body(), place);
      }
      case Stmt.Flow.AwaitPrevious _, Stmt.Flow.SignalNext _ -> {}
    }
  }

  private static Place inStage(Pipe pipe, Place place) {
    Place inside = place;
    for (Buffer buffer : pipe.buffers()) {
      inside = inside.with(buffer);
    }
    return inside;
  }

  private void role(Role role, Place place) {
    Var instance = role.instance();
    Place inside = place.uncertain();
    if (instance != null) {
      declared(role, instance, place);
      inside =
          inside
              .with(instance)
              .with(inside.bounds().withRange(instance, Exprs.i32(0), Exprs.i32(role.instances())));
    }
    inRole = true;
    check(role.body(), inside);
    inRole = false;
  }

  private void level(Object node, String message) {
    findings.add(Rule.LEVEL, node, message);
  }

  private void tile(Stmt s) {
    if (kernel != null) {
      level(s, "a tile statement belongs into a tile program");
    }
  }

  private void condition(Stmt s, Expr condition, Place place) {
    exprs.check(condition, place);
    if (!condition.type().equals(Type.BOOL)) {
      findings.add(Rule.TYPES, s, "the condition has type " + condition.type());
    }
  }

  private void declared(Object node, Var v, Place place) {
    if (place.vars().contains(v)) {
      findings.add(
          Rule.DECLARED_ONCE, node, "variable '" + v.name() + "' is declared inside its own scope");
    }
  }

  private void store(Stmt.Store store, Place place) {
    exprs.check(store.value(), place);
    exprs.access(store, store.buffer(), store.indices(), place);
  }

  private void loop(Stmt.For f, Place place) {
    exprs.check(f.min(), place);
    exprs.check(f.extent(), place);
    Var v = f.var();
    declared(f, v, place);
    Type type = v.type();
    if (!type.isScalar()
        || !type.dtype().isInt()
        || !f.min().type().equals(type)
        || !f.extent().type().equals(type)) {
      findings.add(
          Rule.TYPES,
          f,
          String.format(
              Locale.ROOT,
              "loop variable '%s' has type %s, its range %s and %s",
              v.name(),
              type,
              f.min().type(),
              f.extent().type()));
    }
    boolean constant = f.extent() instanceof Expr.IntImm;
    boolean needsConstant = f.kind() == ForKind.UNROLLED || f.kind() == ForKind.VECTORIZED;
    if (needsConstant && !constant) {
      findings.add(
          Rule.CONSTANT_EXTENTS,
          f,
          String.format(
              Locale.ROOT, "the extent of '%s %s' is not constant", f.kind().keyword(), v.name()));
    }
    if (f.kind() == ForKind.THREAD_BOUND && kernel != null) {
      level(f, "the launch indices of a kernel stand in its header, not in 'bind' loops");
    }
    if (f.kind() == ForKind.PARALLEL && kernel != null && kernel.kind() == Kernel.Kind.GRID) {
      level(f, "'parallel' loops belong into host kernels");
    }
    Place inside = place.withLoop(v).with(place.bounds().withRange(v, f.min(), f.extent()));
    boolean everyValue =
        f.min() instanceof Expr.IntImm && f.extent() instanceof Expr.IntImm n && n.value() > 0;
    inside = everyValue ? inside.withEveryValue(v) : inside.uncertain();
    check(f.body(), inside.partedBy(f.min()).partedBy(f.extent()));
  }

  private void alloc(Buffer buffer, Place place) {
    if (place.buffers().contains(buffer)) {
      findings.add(
          Rule.DECLARED_ONCE,
          buffer,
          "buffer '" + buffer.name() + "' is declared inside its own scope");
    }
    buffer.shape().forEach(e -> exprs.check(e, place));
    AccessRules.layout(buffer, findings);
    Scope scope = buffer.scope();
    if (kernel != null && !mayAllocate(kernel, scope)) {
      findings.add(
          Rule.SCOPES,
          buffer,
          String.format(
              Locale.ROOT,
              "buffer '%s' of scope %s cannot be allocated in a %s kernel",
              buffer.name(),
              scope,
              kernel.kind() == Kernel.Kind.GRID ? "grid" : "host"));
    }
    if (scope != Scope.GLOBAL && !buffer.hasConstantShape()) {
      findings.add(
          Rule.CONSTANT_EXTENTS,
          buffer,
          String.format(
              Locale.ROOT,
              "buffer '%s' of scope %s has an extent that is not constant",
              buffer.name(),
              scope));
    } else if (scope != Scope.GLOBAL && !fits(buffer)) {
      findings.add(
          Rule.CONSTANT_EXTENTS,
          buffer,
          String.format(
              Locale.ROOT, "buffer '%s' of scope %s has 2^31 bytes or more", buffer.name(), scope));
    }
    if (buffer.dtype() == DType.HANDLE) {
      findings.add(
          Rule.TYPES, buffer, "buffer '" + buffer.name() + "' would hold elements of type handle");
    }
  }

  /** Whether offsets in a buffer on chip, in bytes, are numbers of 32 bits. */
  private static boolean fits(Buffer buffer) {
    try {
      return Math.multiplyExact(buffer.storageElements(), (long) buffer.dtype().bytes())
          <= Integer.MAX_VALUE;
    } catch (ArithmeticException e) {
      return false;
    }
  }

  private static boolean mayAllocate(Kernel kernel, Scope scope) {
    return switch (scope) {
      case LOCAL, SHARED -> true;
      case SHARED_CLUSTER -> kernel.kind() == Kernel.Kind.GRID;
      case GLOBAL, FRAGMENT -> false;
    };
  }

  private void region(Region region, Place place, boolean inside) {
    Buffer buffer = region.buffer();
    for (Range range : region.ranges()) {
      exprs.check(range.min(), place);
      exprs.check(range.extent(), place);
    }
    // A copy may reach outside of its buffers; other tiles must begin inside.
    List<Expr> first = region.ranges().stream().map(r -> inside ? r.min() : Exprs.i32(0)).toList();
    if (inside || !place.buffers().contains(buffer)) {
      exprs.access(region, buffer, first, place.uncertain());
    }
  }

  private Place box(Stmt s, List<Var> vars, List<Expr> extents, Place place) {
    Place inside = place;
    for (int i = 0; i < vars.size(); i++) {
      Var v = vars.get(i);
      Expr extent = extents.get(i);
      declared(s, v, inside);
      inside = inside.with(v).with(inside.bounds().withRange(v, Exprs.i32(0), extent));
      boolean everyValue = extent instanceof Expr.IntImm n && n.value() > 0;
      inside = everyValue ? inside.withEveryValue(v) : inside.uncertain();
    }
    return inside;
  }

  private void block(Stmt.Block b, Place place) {
    if (b.predicate() != null) {
      condition(b, b.predicate(), place);
    }
    Bounds bounds = b.predicate() == null ? place.bounds() : place.bounds().assuming(b.predicate());
    Place inside = place.with(bounds).uncertain();
    for (var iv : b.iterVars()) {
      exprs.check(iv.extent(), place);
      exprs.check(iv.binding(), place);
      declared(b, iv.var(), place);
      if (!iv.var().type().equals(iv.binding().type())
          || !iv.var().type().equals(iv.extent().type())) {
        findings.add(
            Rule.TYPES,
            iv,
            String.format(
                Locale.ROOT,
                "iteration variable '%s' is %s, its value %s, its extent %s",
                iv.var().name(),
                iv.var().type(),
                iv.binding().type(),
                iv.extent().type()));
      }
      if (bounds.of(iv.binding()).max() < 0
          || bounds.of(iv.binding()).min() >= bounds.of(iv.extent()).max()) {
        findings.add(
            Rule.IN_BOUNDS,
            iv,
            "the value of '" + iv.var().name() + "' is always outside of its extent");
      }
      inside =
          inside
              .with(iv.var())
              .with(inside.bounds().withRange(iv.var(), Exprs.i32(0), iv.extent()));
    }
    Place within = inside;
    b.reads().forEach(r -> region(r, within, false));
    b.writes().forEach(r -> region(r, within, false));
    if (b.init() != null) {
      check(b.init(), within);
    }
    check(b.body(), within);
    blocks.check(b, place);
  }
}
