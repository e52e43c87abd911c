package dev.warpwright.lower.flow;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.MMajor;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Makes a loop of layers that follow each other and differ in their weights and biases alone. Warps
 * that wait for nobody are each in another layer; of layers written one after another their
 * instructions would not fit the caches.
 *
 * <pre>{@code
 * alloc Ws: f32[1, 64, 64] shared                 alloc Ws: f32[3, 64, 64] shared
 * alloc Vs: f32[1, 64, 64] shared                 tile.copy Ws[0] <- W
 * alloc Us: f32[1, 64, 64] shared                 tile.copy Ws[1] <- V
 * tile.copy Ws[0] <- W …                          tile.copy Ws[2] <- U
 * roles { role math[16] as g warps 1 {            roles { role math[16] as g warps 1 {
 *   tile.copy x <- X[…]                             tile.copy x <- X[…]
 *   tile.fill a = 0                                 for layer in 3 {
 *   tile.mma a += x * Ws[0]                    →      tile.fill a = 0
 *   tile.map h = f(a)                                 tile.mma a += x * Ws[layer]
 *   tile.fill b = 0                                   if layer < 2 { tile.map x = f(a) }
 *   tile.mma b += h * Vs[0]                         }
 *   tile.map i = f(b)                               tile.map y = g(a)
 *   tile.fill c = 0                               } }
 *   tile.mma c += i * Us[0]
 *   tile.map y = g(c)
 * } }
 * }</pre>
 *
 * <p>Vectors that are added to each row, biases, come into shared memory beside the weights, in the
 * order of the layers. Requires nothing: layers that are not alike stay as they are, and so do
 * those whose results somebody else reads, too. Of warps that compute by fma alone ({@link
 * MMajor}); stands behind {@code LowerPipes}, where weights are tiles and no longer pipes, and
 * before {@code LowerTiles}.
 */
final class RollLayers {
  /** By tile of one layer's weights its place among those of all. */
  private final Map<Buffer, Slot> stacked = new HashMap<>();

  private record Slot(Buffer all, int layer) {}

  /** By vector of the first layer those of all, and the tile that holds them. */
  private final List<List<Buffer>> vectors = new ArrayList<>();

  private final List<Buffer> vectorTiles = new ArrayList<>();

  private RollLayers() {}

  static PrimFunc apply(PrimFunc func, PassListener listener) {
    if (!LowerPipes.hasRoles(func) || !WarpTiles.are(func)) {
      return func;
    }
    RollLayers pass = new RollLayers();
    Stmt rolled = pass.roles(func.body());
    return pass.stacked.isEmpty()
        ? func
        : listener.tell("RollLayers", func.withBody(pass.beside(rolled)));
  }

  // --- in the roles

  private Stmt roles(Stmt body) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return s instanceof Stmt.Flow.Roles(List<Role> all)
            ? new Stmt.Flow.Roles(
                all.stream()
                    .map(
                        role ->
                            new Role(
                                role.name(),
                                role.instance(),
                                role.instances(),
                                role.warps(),
                                role.attrs(),
                                items(role.body())))
                    .toList())
            : super.stmt(s);
      }
    }.stmt(body);
  }

  /** Down to what is done for an item. */
  private Stmt items(Stmt s) {
    return switch (s) {
      case Stmt.If i when i.otherwise() == null ->
          new Stmt.If(i.condition(), items(i.then()), null);
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), items(l.body()));
      case Stmt.For f -> f.withBody(items(f.body()));
      case Stmt.Alloc _ -> item(s);
      case Stmt.Seq(List<Stmt> stmts) -> Stmts.seq(stmts.stream().map(this::items).toList());
      default -> s;
    };
  }

  private Stmt item(Stmt s) {
    List<Buffer> allocated = new ArrayList<>();
    Stmt inner = s;
    while (inner instanceof Stmt.Alloc(Buffer buffer, Stmt body)) {
      allocated.add(buffer);
      inner = body;
    }
    List<Stmt> stmts = StageNumbers.flat(inner).stream().map(RollLayers::plain).toList();
    int first = 0;
    int most = 0;
    for (int start = 0; start < stmts.size(); start++) {
      int count = layers(stmts, start).size();
      if (count > most) {
        first = start;
        most = count;
      }
    }
    if (most < 2) {
      return s;
    }
    List<FmaLayer> layers = layers(stmts, first);
    List<Stmt> result = new ArrayList<>(stmts.subList(0, first));
    result.addAll(loop(layers));
    result.addAll(stmts.subList(first + 3 * most, stmts.size()));
    Stmt body = Stmts.seq(result);
    Set<Buffer> used = touched(body);
    return Stmts.alloc(allocated.stream().filter(used::contains).toList(), body);
  }

  private static Set<Buffer> touched(Stmt body) {
    Set<Buffer> used = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          Leaves leaves = Leaves.of(s);
          used.addAll(leaves.reads());
          used.addAll(leaves.writes());
        });
    return used;
  }

  /** A loop of one step is its step. */
  private static Stmt plain(Stmt s) {
    return s instanceof Stmt.For f && Exprs.isConst(f.extent(), 1)
        ? plain(Substitution.ofVars(Map.of(f.var(), f.min())).stmt(f.body()))
        : s instanceof Stmt.Seq(List<Stmt> stmts) && stmts.size() == 1
            ? plain(stmts.getFirst())
            : s;
  }

  /** The longest run of layers from a statement on that are one loop. */
  private static List<FmaLayer> layers(List<Stmt> stmts, int start) {
    List<FmaLayer> layers = new ArrayList<>();
    for (int i = start; FmaLayer.at(stmts, i) instanceof FmaLayer layer; i += 3) {
      if (!layers.isEmpty()) {
        FmaLayer first = layers.getFirst();
        FmaLayer last = layers.getLast();
        boolean follows =
            layer.in() == last.out()
                && layer.multipliesLike(first)
                && FmaLayer.isAlike(last.out(), first.in())
                && last.vectors(first) != null
                && readers(stmts, last.out()) == 1
                && readers(stmts, last.sums()) == 1;
        if (!follows) {
          break;
        }
      } else if (readers(stmts, layer.in()) != 1) {
        break;
      }
      layers.add(layer);
    }
    return layers;
  }

  private static int readers(List<Stmt> stmts, Buffer buffer) {
    int[] count = {0};
    for (Stmt s : stmts) {
      boolean reads = Leaves.of(s).reads().contains(buffer);
      boolean adds = s instanceof Stmt.TileMma mma && mma.c().buffer() == buffer;
      count[0] += reads && !adds ? 1 : 0;
    }
    return count[0];
  }

  private List<Stmt> loop(List<FmaLayer> layers) {
    FmaLayer first = layers.getFirst();
    int count = layers.size();
    Buffer weights = first.weights();
    List<Expr> shape = new ArrayList<>(weights.shape());
    shape.set(0, Exprs.i32(count));
    Buffer all = weights.withShape(shape);
    for (int i = 0; i < count; i++) {
      stacked.put(layers.get(i).weights(), new Slot(all, i));
    }
    Var layer = Var.index("layer");
    Stmt map = inner(layers, layer);
    List<Range> slices = new ArrayList<>(first.mma().b().ranges());
    slices.set(0, Range.at(layer));
    Stmt.TileMma mma =
        new Stmt.TileMma(
            first.mma().c(),
            first.mma().a(),
            new Region(all, slices),
            first.mma().transposeA(),
            first.mma().transposeB(),
            first.mma().attrs());
    Stmt guarded = new Stmt.If(Exprs.lt(layer, Exprs.i32(count - 1)), map, null);
    Stmt body = Stmts.seq(first.fill(), mma, guarded);
    Stmt.For loop =
        new Stmt.For(
            layer,
            Exprs.i32(0),
            Exprs.i32(count),
            ForKind.SERIAL,
            null,
            Attrs.NONE.with("unroll", 1),
            body);
    Stmt.TileMap last = layers.getLast().map();
    return List.of(
        loop, Substitution.ofBuffers(Map.of(layers.getLast().sums(), first.sums())).stmt(last));
  }

  /** The map of all layers but the last, into what the next one reads. */
  private Stmt inner(List<FmaLayer> layers, Var layer) {
    FmaLayer first = layers.getFirst();
    List<Buffer> reads = first.reads();
    Map<Buffer, Buffer> tiles = new HashMap<>();
    for (Buffer vector : reads) {
      List<Buffer> each = new ArrayList<>();
      for (FmaLayer other : layers.subList(0, layers.size() - 1)) {
        each.add(Objects.requireNonNull(other.vectors(first)).get(vector));
      }
      Buffer tile =
          Buffer.of(
              vector.name() + "_shared",
              vector.dtype(),
              Scope.SHARED,
              layers.size() - 1L,
              vector.extent(0));
      vectors.add(each);
      vectorTiles.add(tile);
      tiles.put(vector, tile);
    }
    Stmt renamed = Substitution.ofBuffers(Map.of(first.out(), first.in())).stmt(first.map());
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        return e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
                && tiles.get(buffer) instanceof Buffer tile
            ? new Expr.Load(tile, List.of(layer, expr(indices.getFirst())))
            : super.expr(e);
      }
    }.stmt(renamed);
  }

  // --- beside the roles

  /** Weights are copied to their places among all, and vectors behind them. */
  private Stmt beside(Stmt body) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return switch (s) {
          case Stmt.Alloc(Buffer buffer, Stmt inner)
              when stacked.get(buffer) instanceof Slot(Buffer all, int layer) ->
              layer == 0 ? allocated(all, stmt(inner)) : stmt(inner);
          case Stmt.TileCopy copy
              when stacked.get(copy.to().buffer()) instanceof Slot(Buffer all, int layer) -> {
            List<Range> ranges = new ArrayList<>(copy.to().ranges());
            ranges.set(0, Range.at(Exprs.i32(layer)));
            yield new Stmt.TileCopy(new Region(all, ranges), copy.from(), copy.attrs());
          }
          case Stmt.Flow.Roles _ -> s;
          default -> super.stmt(s);
        };
      }
    }.stmt(body);
  }

  private Stmt allocated(Buffer weights, Stmt inner) {
    List<Stmt> stmts = new ArrayList<>();
    for (int i = 0; i < vectors.size(); i++) {
      Buffer tile = vectorTiles.get(i);
      List<Buffer> each = vectors.get(i);
      for (int slot = 0; slot < each.size(); slot++) {
        stmts.add(
            new Stmt.TileCopy(
                new Region(tile, List.of(Range.at(Exprs.i32(slot)), Range.of(tile.extent(1)))),
                Region.whole(each.get(slot)),
                Attrs.NONE.with(ChooseMovement.BY, ChooseMovement.REGISTERS)));
      }
    }
    stmts.add(inner);
    List<Buffer> tiles = new ArrayList<>(List.of(weights));
    tiles.addAll(vectorTiles);
    return Stmts.alloc(tiles, Stmts.seq(stmts));
  }
}
