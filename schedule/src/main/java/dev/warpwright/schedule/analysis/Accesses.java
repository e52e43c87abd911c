package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Collects the {@link Access}es of a statement, in program order. */
public final class Accesses {
  private static final LeafFacts<List<Access>> ALONE = new LeafFacts<>();

  private final List<Access> found = new ArrayList<>();
  private final List<Iteration> inner = new ArrayList<>();

  /** Null for all buffers. */
  private final @Nullable Buffer only;

  private Accesses(@Nullable Buffer only) {
    this.only = only;
  }

  public static List<Access> of(Stmt root) {
    Accesses collector = new Accesses(null);
    collector.visit(root);
    return collector.found;
  }

  /** The accesses of a statement to one buffer. */
  public static List<Access> of(Stmt root, Buffer buffer) {
    Accesses collector = new Accesses(buffer);
    collector.visit(root);
    return List.copyOf(collector.found);
  }

  /** What a leaf accesses, by itself, which is found once. */
  private static List<Access> alone(Stmt leaf) {
    return ALONE.of(
        leaf,
        s -> {
          Accesses collector = new Accesses(null);
          collector.leaf(s);
          return List.copyOf(collector.found);
        });
  }

  private void addAlone(Stmt leaf) {
    List<Iteration> around = null;
    for (Access access : alone(leaf)) {
      if (only != null && access.buffer() != only) {
        continue;
      }
      if (around == null) {
        around = List.copyOf(inner);
      }
      if (around.isEmpty()) {
        found.add(access);
      } else if (access.inner().isEmpty()) {
        found.add(new Access(leaf, access.region(), access.isWrite(), around));
      } else {
        List<Iteration> all = new ArrayList<>(around);
        all.addAll(access.inner());
        found.add(new Access(leaf, access.region(), access.isWrite(), all));
      }
    }
  }

  public static boolean reads(Stmt root, Buffer buffer) {
    return of(root, buffer).stream().anyMatch(a -> !a.isWrite());
  }

  public static Set<Buffer> written(Stmt root) {
    Set<Buffer> buffers = new LinkedHashSet<>();
    of(root).stream().filter(Access::isWrite).forEach(a -> buffers.add(a.buffer()));
    return buffers;
  }

  public static Set<Buffer> read(Stmt root) {
    Set<Buffer> buffers = new LinkedHashSet<>();
    of(root).stream().filter(a -> !a.isWrite()).forEach(a -> buffers.add(a.buffer()));
    return buffers;
  }

  /** The regions that the loads in an expression touch, a point each, without repetition. */
  public static List<Region> loads(Expr e) {
    Set<Region> regions = new LinkedHashSet<>();
    Walk.expressions(
        e,
        x -> {
          if (x instanceof Expr.Load(Buffer buffer, List<Expr> indices)) {
            regions.add(point(buffer, indices));
          }
        });
    return List.copyOf(regions);
  }

  /** The region of one element. */
  public static Region point(Buffer buffer, List<Expr> indices) {
    return new Region(buffer, indices.stream().map(Range::at).toList());
  }

  private void add(Stmt leaf, Region region, boolean isWrite) {
    if (only != null && region.buffer() != only) {
      return;
    }
    found.add(new Access(leaf, region, isWrite, inner));
  }

  private void addLoads(Stmt leaf, Expr e) {
    if (!(e instanceof Expr.IntImm || e instanceof Var)) {
      loads(e).forEach(region -> add(leaf, region, false));
    }
  }

  private void addStore(Stmt leaf, Stmt.Store store) {
    addLoads(leaf, store.value());
    store.indices().forEach(index -> addLoads(leaf, index));
    add(leaf, point(store.buffer(), store.indices()), true);
  }

  /** What a block and the blocks inside it do; all of it counts as done by {@code leaf}. */
  private void inside(Stmt.Block leaf, Stmt s) {
    if (s instanceof Stmt.Store store) {
      addStore(leaf, store);
    } else if (s instanceof Stmt.For loop) {
      inner.add(Iteration.of(loop));
      inside(leaf, loop.body());
      inner.removeLast();
    } else if (s instanceof Stmt.Block block) {
      Substitution bound = Substitution.ofVars(bindings(block));
      // The stores themselves, not the declared regions: those may be larger.
      if (block.init() != null) {
        inside(leaf, bound.stmt(block.init()));
      }
      inside(leaf, bound.stmt(block.body()));
      if (block.predicate() != null) {
        addLoads(leaf, block.predicate());
      }
    } else {
      Tree.children(s).forEach(child -> inside(leaf, child));
    }
  }

  private void visit(Stmt s) {
    switch (s) {
      case Stmt.Seq seq when only != null -> Sought.of(only).children(seq).forEach(this::visit);
      case Stmt.Seq seq -> seq.stmts().forEach(this::visit);
      case Stmt.For loop when only != null && !Sought.of(only).mayBeIn(loop) -> {}
      case Stmt.For loop -> {
        addLoads(loop, loop.min());
        addLoads(loop, loop.extent());
        inner.add(Iteration.of(loop));
        visit(loop.body());
        inner.removeLast();
      }
      case Stmt.While loop -> {
        addLoads(loop, loop.condition());
        visit(loop.body());
      }
      case Stmt.If branch -> {
        addLoads(branch, branch.condition());
        visit(branch.then());
        if (branch.otherwise() != null) {
          visit(branch.otherwise());
        }
      }
      case Stmt.Let let -> {
        addLoads(let, let.value());
        // Without known bounds, so that nothing is concluded from an index that mentions it.
        inner.add(new Iteration(let.var(), let.value(), let.value()));
        visit(let.body());
        inner.removeLast();
      }
      case Stmt.Alloc alloc -> {
        Stmt body = alloc.body();
        while (body instanceof Stmt.Alloc next) {
          body = next.body();
        }
        visit(body);
      }
      case Stmt.Store leaf -> addAlone(leaf);
      case Stmt.Evaluate leaf -> addAlone(leaf);
      case Stmt.Comment leaf -> {}
      case Stmt.Block leaf -> addAlone(leaf);
      case Stmt.TileCopy leaf -> addAlone(leaf);
      case Stmt.TileFill leaf -> addAlone(leaf);
      case Stmt.TileMma leaf -> addAlone(leaf);
      case Stmt.TileMap leaf -> addAlone(leaf);
      case Stmt.TileReduce leaf -> addAlone(leaf);
      case Stmt.Flow flow -> Tree.children(flow).forEach(this::visit);
    }
  }

  private void leaf(Stmt s) {
    switch (s) {
      case Stmt.Seq none -> throw new IllegalArgumentException("no leaf");
      case Stmt.For none -> throw new IllegalArgumentException("no leaf");
      case Stmt.While none -> throw new IllegalArgumentException("no leaf");
      case Stmt.If none -> throw new IllegalArgumentException("no leaf");
      case Stmt.Let none -> throw new IllegalArgumentException("no leaf");
      case Stmt.Alloc none -> throw new IllegalArgumentException("no leaf");
      case Stmt.Flow none -> throw new IllegalArgumentException("no leaf");
      case Stmt.Store store -> addStore(store, store);
      case Stmt.Evaluate evaluate -> addLoads(evaluate, evaluate.call());
      case Stmt.Comment comment -> {}
      case Stmt.Block block -> inside(block, block);
      case Stmt.TileCopy copy -> {
        add(copy, copy.from(), false);
        add(copy, copy.to(), true);
      }
      case Stmt.TileFill fill -> {
        addLoads(fill, fill.value());
        add(fill, fill.to(), true);
      }
      case Stmt.TileMma mma -> {
        add(mma, mma.a(), false);
        add(mma, mma.b(), false);
        add(mma, mma.c(), false);
        add(mma, mma.c(), true);
      }
      case Stmt.TileMap map ->
          inBox(
              map.vars(), map.extents(), () -> map.stores().forEach(store -> addStore(map, store)));
      case Stmt.TileReduce reduce ->
          inBox(
              reduce.vars(),
              reduce.extents(),
              () ->
                  inBox(
                      reduce.reduceVars(),
                      reduce.reduceExtents(),
                      () -> {
                        addLoads(reduce, reduce.value());
                        add(reduce, point(reduce.to(), reduce.indices()), false);
                        add(reduce, point(reduce.to(), reduce.indices()), true);
                      }));
    }
  }

  private void inBox(List<Var> vars, List<Expr> extents, Runnable body) {
    for (int i = 0; i < vars.size(); i++) {
      inner.add(Iteration.of(vars.get(i), extents.get(i)));
    }
    body.run();
    vars.forEach(v -> inner.removeLast());
  }

  /** What the iteration variables of a block stand for. */
  public static Map<Var, Expr> bindings(Stmt.Block block) {
    Map<Var, Expr> bindings = new HashMap<>();
    for (IterVar iterVar : block.iterVars()) {
      bindings.put(iterVar.var(), iterVar.binding());
    }
    return bindings;
  }
}
