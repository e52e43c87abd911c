package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.FragmentInference;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.MapLowering;
import dev.warpwright.lower.gpu.RowVectors;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.GridLoops;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The part of {@code LowerTiles} for blocks whose threads all do the same, tile after tile, with
 * barriers where one tile needs another. In order:
 *
 * <ol>
 *   <li>{@link FragmentInference}: which thread holds which element of each fragment. First,
 *       because everything that touches a fragment follows it.
 *   <li>{@link SharedLayouts}: row pitches without bank conflicts. Before sizes are needed.
 *   <li>{@link SharedPlan}: where shared buffers lie, sharing space over time. Before barriers,
 *       which must also separate buffers that share space.
 *   <li>{@link BarrierInsertion}: barriers between tile statements. Before tiles become threads, so
 *       that no barrier can diverge.
 *   <li>Tiles to threads: {@link CopyLowering}, {@link MapLowering}, {@link ReduceLowering} (of
 *       rows in registers {@link RowVectors}), {@link MmaLowering}.
 *   <li>{@link FlattenShared}: the plan made explicit.
 * </ol>
 */
public final class BlockTiles {
  private BlockTiles() {}

  /**
   * The kernel of a program.
   *
   * @param program loops bound to block indices around tile statements; attribute {@code threads}
   *     is the block's size
   * @throws LoweringException if the program asks for what this lowering cannot do
   */
  public static Kernel kernel(PrimFunc program, PassListener listener) {
    int threads = Math.toIntExact(program.attrs().getLong("threads", 128));
    List<ThreadBinding> bindings = new ArrayList<>();
    Stmt body = takeBindings(program.body(), bindings);
    Var thread = Var.index("tid");
    bindings.add(new ThreadBinding(ThreadAxis.THREAD_X, thread, Exprs.i32(threads)));

    Map<Buffer, FragmentLayout> layouts = FragmentInference.infer(body, threads);
    body = told(listener, "SharedLayouts", program, SharedLayouts.apply(body));
    SharedPlan plan = SharedPlan.of(body);
    body = told(listener, "BarrierInsertion", program, new BarrierInsertion(plan).in(body));
    TilesToThreads tiles = new TilesToThreads(new ThreadCode(thread, threads, layouts));
    body = tiles.stmt(body);
    Kernel kernel =
        new Kernel(
            program.name(), Kernel.Kind.GRID, program.params(), bindings, body, program.attrs());
    listener.tell("TilesToThreads", kernel);
    return kernel.withBody(tiles.reductions.around(FlattenShared.apply(body, plan)));
  }

  /** Tells the body of a block's loops. */
  private static Stmt told(PassListener listener, String pass, PrimFunc program, Stmt body) {
    listener.tell(pass, program.withBody(body));
    return body;
  }

  private static Stmt takeBindings(Stmt body, List<ThreadBinding> bindings) {
    return switch (body) {
      case Stmt.For loop when GridLoops.is(loop) -> {
        bindings.add(GridLoops.binding(loop));
        yield takeBindings(loop.body(), bindings);
      }
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 ->
          takeBindings(stmts.getFirst(), bindings);
      case Stmt.Alloc(Buffer buffer, Stmt inner) ->
          new Stmt.Alloc(buffer, takeBindings(inner, bindings));
      default -> body;
    };
  }

  /** Expands every tile statement; fragments become registers where they are allocated. */
  static final class TilesToThreads extends Rewriter {
    private final ThreadCode code;
    private final CopyLowering copies;
    private final MapLowering maps;
    private final ReduceLowering reductions;
    private final MmaLowering products;

    TilesToThreads(ThreadCode code) {
      this.code = code;
      this.maps = new MapLowering(code);
      this.copies = new CopyLowering(code, maps);
      this.reductions = new ReduceLowering(code);
      this.products = new MmaLowering(code);
    }

    @Override
    public Stmt stmt(Stmt s) {
      return switch (s) {
        case Stmt.Alloc(Buffer buffer, Stmt inner) when buffer.scope() == Scope.FRAGMENT ->
            new Stmt.Alloc(code.registers(buffer), stmt(inner));
        case Stmt.TileCopy copy -> copies.copy(copy);
        case Stmt.TileFill fill -> fill(fill);
        case Stmt.TileMma mma -> products.mma(mma);
        case Stmt.TileMap map -> maps.map(map);
        case Stmt.TileReduce reduce when RowVectors.is(reduce.to()) ->
            new RowVectors(code, maps).reduce(reduce);
        case Stmt.TileReduce reduce -> reductions.reduce(reduce);
        case Stmt.For loop when loop.kind() == ForKind.THREAD_BOUND ->
            throw new LoweringException("loop " + loop.var() + " is bound inside a tile program");
        default -> super.stmt(s);
      };
    }

    private Stmt fill(Stmt.TileFill fill) {
      Buffer buffer = fill.to().buffer();
      if (buffer.scope() == Scope.FRAGMENT) {
        return code.fill(buffer, fill.value());
      }
      long points = 1;
      for (var range : fill.to().tile()) {
        points *= Guards.extent(range);
      }
      return code.spread(
          points,
          piece -> {
            List<Expr> point = new ArrayList<>();
            Expr rest = piece;
            for (var range : fill.to().tile().reversed()) {
              point.addFirst(Exprs.mod(rest, Guards.extent(range)));
              rest = Exprs.div(rest, Guards.extent(range));
            }
            return new Stmt.Store(buffer, Guards.indices(fill.to(), point), fill.value());
          });
    }
  }
}
