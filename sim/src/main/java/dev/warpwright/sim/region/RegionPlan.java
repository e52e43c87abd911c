package dev.warpwright.sim.region;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A kernel cut at its block barriers: between two of them lies a region, which all threads of a
 * block can execute one after the other.
 *
 * @param root what a block does
 * @param buffers shared and local buffers, by number
 * @param threads of a block
 */
public record RegionPlan(Kernel kernel, Node root, List<Storage> buffers, int threads) {
  /** What a block does. */
  sealed interface Node {}

  /**
   * Something that each thread does without waiting.
   *
   * @param uniforms variables with a value for the whole block, which the region may use
   * @param lets values around it that differ from thread to thread, computed anew in each region
   */
  record Region(int number, Stmt body, List<Var> uniforms, List<Stmt.Let> lets) implements Node {}

  record Sequence(List<Node> nodes) implements Node {}

  record Barrier() implements Node {}

  /** A loop that all threads go round together. */
  record Loop(Stmt.For loop, Node body) implements Node {}

  record Branch(Expr condition, Node then, Node otherwise) implements Node {}

  /** A value for the whole block. */
  record Uniform(Var var, Expr value, Node body) implements Node {}

  /** Elements of a buffer of each thread are undefined from here on. */
  record Fresh(int buffer, Node body) implements Node {}

  /**
   * A shared or local buffer.
   *
   * @param perThread whether each thread has one that lives longer than a region
   */
  record Storage(Buffer buffer, boolean perThread, int elements) {
    boolean isFloat() {
      return buffer.dtype().isFloat();
    }

    boolean isShared() {
      return buffer.scope() == Scope.SHARED;
    }
  }

  /** Why a kernel is left to the interpreter. */
  static final class Unsupported extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unsupported(String what) {
      super(what, null, false, false);
    }
  }

  /** The plan, or null if the kernel does what regions do not. */
  public static @Nullable RegionPlan of(Kernel kernel) {
    try {
      return new Planner(kernel).plan();
    } catch (Unsupported e) {
      return null;
    }
  }

  private static final class Planner {
    private static final Set<DType> SCALARS = Set.of(DType.I32, DType.BOOL, DType.F32);
    private static final Set<DType> ELEMENTS =
        Set.of(DType.I32, DType.BOOL, DType.F32, DType.F16, DType.BF16);

    private final Kernel kernel;
    private final List<Storage> buffers = new ArrayList<>();
    private final Map<Buffer, Integer> numbers = new IdentityHashMap<>();
    private final List<Var> uniforms = new ArrayList<>();
    private final List<Stmt.Let> lets = new ArrayList<>();
    private int regions;

    Planner(Kernel kernel) {
      this.kernel = kernel;
    }

    RegionPlan plan() {
      if (kernel.attrs().has("cluster")) {
        throw new Unsupported("clusters");
      }
      int threads = 1;
      for (ThreadBinding binding : kernel.bindings()) {
        if (binding.axis().isBlock()) {
          uniforms.add(binding.var());
        } else if (binding.extent() instanceof Expr.IntImm imm) {
          threads *= (int) imm.value();
        } else {
          throw new Unsupported("a symbolic number of threads");
        }
      }
      for (Param param : kernel.params()) {
        switch (param) {
          case ScalarParam scalar -> {
            requireType(scalar.var().type().dtype() == DType.I32, "a scalar");
            uniforms.add(scalar.var());
          }
          case Buffer buffer ->
              requireType(
                  ELEMENTS.contains(buffer.dtype()) && buffer.layout() == null, buffer.name());
        }
      }
      Walk.all(kernel.body(), this::check, this::check);
      Node root = node(kernel.body());
      return new RegionPlan(kernel, root, List.copyOf(buffers), threads);
    }

    private static void requireType(boolean fits, String what) {
      if (!fits) {
        throw new Unsupported(what);
      }
    }

    private void check(Stmt s) {
      switch (s) {
        case Stmt.For loop ->
            requireType(loop.kind() == ForKind.SERIAL || loop.kind() == ForKind.UNROLLED, "a loop");
        case Stmt.While w -> throw new Unsupported("while");
        case Stmt.Evaluate e -> requireType(isBarrier(e), "a call");
        case Stmt.Let l -> requireType(SCALARS.contains(l.var().type().dtype()), "a type");
        case Stmt.Alloc a ->
            requireType(
                ELEMENTS.contains(a.buffer().dtype())
                    && a.buffer().hasConstantShape()
                    && (a.buffer().scope() == Scope.SHARED || a.buffer().scope() == Scope.LOCAL),
                "a buffer");
        case Stmt.Seq _, Stmt.If _, Stmt.Store _, Stmt.Comment _ -> {}
        case Stmt.Block _,
            Stmt.TileCopy _,
            Stmt.TileFill _,
            Stmt.TileMma _,
            Stmt.TileMap _,
            Stmt.TileReduce _,
            Stmt.Flow _ ->
            throw new Unsupported("a statement of another level");
      }
    }

    private void check(Expr e) {
      requireType(
          !(e instanceof Expr.Call call && call.op() instanceof Intrinsic intrinsic)
              || isBarrier(intrinsic),
          "an intrinsic");
      requireType(!(e instanceof Expr.AddressOf) && !(e instanceof Expr.Bitcast), "an address");
      requireType(ELEMENTS.contains(e.type().dtype()) || e instanceof Expr.Call, "a type");
    }

    private static boolean isBarrier(Intrinsic intrinsic) {
      return intrinsic == Intrinsics.SYNC_THREADS;
    }

    private static boolean isBarrier(Stmt s) {
      return s instanceof Stmt.Evaluate(Expr.Call call)
          && call.op() instanceof Intrinsic intrinsic
          && isBarrier(intrinsic);
    }

    private static boolean waits(Stmt s) {
      boolean[] found = {false};
      Walk.statements(s, inner -> found[0] |= isBarrier(inner));
      return found[0];
    }

    private Node node(Stmt s) {
      if (!waits(s)) {
        allocate(s, false);
        return new Region(regions++, s, List.copyOf(uniforms), List.copyOf(lets));
      }
      return switch (s) {
        case Stmt.Evaluate e -> new Barrier();
        case Stmt.Seq(List<Stmt> stmts) -> sequence(stmts);
        case Stmt.For loop -> {
          requireUniform(loop.min());
          requireUniform(loop.extent());
          uniforms.add(loop.var());
          Node body = node(loop.body());
          uniforms.removeLast();
          yield new Loop(loop, body);
        }
        case Stmt.If branch -> {
          requireUniform(branch.condition());
          Stmt otherwise = branch.otherwise();
          yield new Branch(
              branch.condition(),
              node(branch.then()),
              otherwise == null ? new Sequence(List.of()) : node(otherwise));
        }
        case Stmt.Let let -> let(let);
        case Stmt.Alloc alloc -> {
          int number = allocate(alloc.buffer(), alloc.buffer().scope() == Scope.LOCAL);
          Node body = node(alloc.body());
          yield alloc.buffer().scope() == Scope.LOCAL ? new Fresh(number, body) : body;
        }
        case Stmt.While _,
            Stmt.Store _,
            Stmt.Comment _,
            Stmt.Block _,
            Stmt.TileCopy _,
            Stmt.TileFill _,
            Stmt.TileMma _,
            Stmt.TileMap _,
            Stmt.TileReduce _,
            Stmt.Flow _ ->
            throw new Unsupported("a barrier in " + s.getClass().getSimpleName());
      };
    }

    /** Statements between barriers are one region. */
    private Node sequence(List<Stmt> stmts) {
      List<Node> nodes = new ArrayList<>();
      List<Stmt> together = new ArrayList<>();
      for (Stmt s : stmts) {
        if (waits(s)) {
          if (!together.isEmpty()) {
            nodes.add(node(new Stmt.Seq(together)));
            together.clear();
          }
          nodes.add(node(s));
        } else {
          together.add(s);
        }
      }
      if (!together.isEmpty()) {
        nodes.add(node(new Stmt.Seq(together)));
      }
      return new Sequence(nodes);
    }

    private Node let(Stmt.Let let) {
      if (isUniform(let.value()) && !let.var().type().dtype().isFloat()) {
        uniforms.add(let.var());
        Node body = node(let.body());
        uniforms.removeLast();
        return new Uniform(let.var(), let.value(), body);
      }
      if (loads(let.value())) {
        throw new Unsupported("a loaded value that lives across a barrier");
      }
      lets.add(let);
      Node body = node(let.body());
      lets.removeLast();
      return body;
    }

    private void requireUniform(Expr e) {
      if (!isUniform(e)) {
        throw new Unsupported("a barrier that depends on the thread");
      }
    }

    private boolean isUniform(Expr e) {
      boolean[] uniform = {true};
      Walk.expressions(
          e,
          part -> {
            switch (part) {
              case Var v -> uniform[0] &= uniforms.contains(v);
              case Expr.Load load ->
                  uniform[0] &=
                      load.buffer().scope() == Scope.GLOBAL
                          && load.type().isScalar()
                          && !load.buffer().dtype().isFloat();
              default -> {}
            }
          });
      return uniform[0];
    }

    private static boolean loads(Expr e) {
      boolean[] found = {false};
      Walk.expressions(e, part -> found[0] |= part instanceof Expr.Load);
      return found[0];
    }

    /** Buffers that live inside a region. */
    private void allocate(Stmt s, boolean perThread) {
      Walk.statements(
          s,
          inner -> {
            if (inner instanceof Stmt.Alloc alloc) {
              allocate(alloc.buffer(), perThread);
            }
          });
    }

    private int allocate(Buffer buffer, boolean perThread) {
      Integer known = numbers.get(buffer);
      if (known != null) {
        return known;
      }
      numbers.put(buffer, buffers.size());
      buffers.add(new Storage(buffer, perThread, Math.toIntExact(buffer.storageElements())));
      return buffers.size() - 1;
    }
  }
}
