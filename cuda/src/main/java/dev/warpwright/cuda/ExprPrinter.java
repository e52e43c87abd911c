package dev.warpwright.cuda;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.TensorMaps;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Prints expressions. A vector expression is printed lane by lane, or as one {@code Vec} where it
 * is an aligned access of memory.
 */
final class ExprPrinter {
  /** Bytes that descriptors of operands count in. */
  private static final int CHUNK = 16;

  private final Names names;
  private final Uses uses;
  private final Facts facts;
  private final Constants constants;
  private final FlatIndex flat;
  private final HopperArguments hopper;
  private final Arithmetic arithmetic;

  /** Vector expressions that a variable holds. */
  private final Map<Expr, String> held = new IdentityHashMap<>();

  private Set<String> streamed = Set.of();

  /** Of the loop over items around; null without one. */
  private @Nullable LoopPointers running;

  /** The variable without which asynchronous copies do not happen; null for none. */
  private @Nullable String guard;

  ExprPrinter(
      Names names, Uses uses, Facts facts, Constants constants, Map<TensorMaps.Spec, String> maps) {
    this.names = names;
    this.uses = uses;
    this.constants = constants;
    this.facts = facts;
    this.flat = new FlatIndex(facts);
    this.hopper = new HopperArguments(this, uses, maps);
    this.arithmetic = new Arithmetic(this, uses, facts);
  }

  /** Parameters of which TMA copies tell L2 that they are read once. */
  void stream(Set<String> parameters) {
    streamed = parameters;
  }

  /** Lets asynchronous copies that are printed from now on depend on a variable, or not: null. */
  void guard(@Nullable String variable) {
    guard = variable;
  }

  /** Names of sizes. */
  Constants constants() {
    return constants;
  }

  /** A scalar expression. */
  Text print(Expr e) {
    if (!e.type().isScalar()) {
      throw new IllegalArgumentException("vector where a scalar is needed: " + e);
    }
    return lane(e, 0);
  }

  /** One lane; a scalar is the same in every lane. */
  Text lane(Expr e, int lane) {
    String variable = held.get(e);
    if (variable != null) {
      return Text.atom(variable + ".lane[" + lane + "]");
    }
    return switch (e) {
      case Var v ->
          Text.atom(v.type().isScalar() ? names.of(v) : names.of(v) + ".lane[" + lane + "]");
      case Expr.IntImm imm -> CudaTypes.constant(imm);
      case Expr.FloatImm imm -> {
        uses.type(imm.type().dtype());
        yield CudaTypes.constant(imm);
      }
      case Expr.Binary b -> arithmetic.binary(b, lane);
      case Expr.Unary u -> arithmetic.unary(u, lane);
      case Expr.Select s ->
          new Text(
              lane(s.condition(), lane).in(Text.OR)
                  + " ? "
                  + lane(s.then(), lane).in(Text.TERNARY)
                  + " : "
                  + lane(s.otherwise(), lane).in(Text.TERNARY),
              Text.TERNARY);
      case Expr.Cast c ->
          Conversions.cast(uses, c.a().type().dtype(), c.type().dtype(), lane(c.a(), lane));
      case Expr.Bitcast b -> bitcast(b, lane);
      case Expr.Load l -> element(l.buffer(), FlatIndex.lane(l.indices(), lane));
      case Expr.Ramp r -> lane(Exprs.add(r.base(), lane * r.stride()), lane);
      case Expr.Broadcast b -> lane(b.value(), lane);
      case Expr.Call c -> call(c, lane);
      case Expr.AddressOf a -> address(a.buffer(), a.indices());
    };
  }

  /** An element as an lvalue. */
  Text element(Buffer buffer, List<Expr> indices) {
    if (isScalarVariable(buffer)) {
      return Text.atom(names.of(buffer));
    }
    Text reached = running == null ? null : running.element(this, facts, buffer, indices);
    if (reached != null) {
      return reached;
    }
    Buffer outer = constants.enter(buffer);
    Text offset = offset(buffer, indices);
    constants.enter(outer);
    return Text.atom(names.of(buffer) + "[" + offset + "]");
  }

  /** Lets elements be reached by the pointers of a loop, or not: null. */
  @Nullable LoopPointers run(@Nullable LoopPointers pointers) {
    LoopPointers outer = running;
    running = pointers;
    return outer;
  }

  private Text offset(Buffer buffer, List<Expr> indices) {
    Expr offset = flat.offset(buffer, indices);
    Swizzle swizzle = FlatIndex.swizzle(buffer);
    if (swizzle.isIdentity()) {
      return print(offset);
    }
    FlatIndex.Parts parts = flat.swizzleParts(offset, swizzle);
    if (parts.inside() instanceof Expr.IntImm imm) {
      long swizzled = swizzle.apply(imm.value());
      return print(Exprs.add(parts.outside(), new Expr.IntImm(imm.type(), swizzled)));
    }
    if (flat.isLeftAlone(parts.inside(), swizzle)) {
      return print(offset);
    }
    String function = uses.helper(Helper.SWIZZLE);
    String parameters =
        "<" + swizzle.bits() + ", " + swizzle.base() + ", " + swizzle.shift() + ">(";
    Text inside = Text.atom(function + parameters + print(parts.inside()) + ")");
    return Exprs.isConst(parts.outside(), 0)
        ? inside
        : new Text(print(parts.outside()) + " + " + inside, Text.ADDITIVE);
  }

  /** Whether the buffer is printed as a variable instead of an array. */
  static boolean isScalarVariable(Buffer buffer) {
    return buffer.scope() == Scope.LOCAL && buffer.storageElements() == 1;
  }

  /**
   * Where rows begin before the swizzle: the copy engine applies that to each address by itself.
   */
  Text rows(Expr.AddressOf tile) {
    Expr offset = flat.offset(tile.buffer(), tile.indices());
    String name = names.of(tile.buffer());
    return Exprs.isConst(offset, 0)
        ? Text.atom(name)
        : new Text("&" + name + "[" + print(offset) + "]", Text.UNARY);
  }

  /**
   * The buffer's name and by how many times 16 bytes the address lies behind its start, as two
   * arguments; empty if that is no sum of constants and products by them.
   */
  Optional<String> chunks(Expr.AddressOf tile) {
    Buffer buffer = tile.buffer();
    Expr offset = flat.offset(buffer, tile.indices());
    Swizzle swizzle = FlatIndex.swizzle(buffer);
    if (!swizzle.isIdentity()
        && !flat.isLeftAlone(flat.swizzleParts(offset, swizzle).inside(), swizzle)) {
      return Optional.empty();
    }
    return FlatIndex.quotient(offset, CHUNK / buffer.dtype().bytes())
        .map(chunks -> names.of(buffer) + ", " + print(chunks));
  }

  private Text address(Buffer buffer, List<Expr> indices) {
    if (!isScalarVariable(buffer) && Exprs.isConst(flat.offset(buffer, indices), 0)) {
      return Text.atom(names.of(buffer));
    }
    return new Text("&" + element(buffer, indices), Text.UNARY);
  }

  private Text call(Expr.Call c, int lane) {
    return switch (c.op()) {
      case MathOp op ->
          MathFunctions.call(
              uses,
              op,
              c.type().dtype(),
              c.args().stream().map(arg -> lane(arg, lane).string()).toList());
      case Intrinsic intrinsic -> intrinsic(intrinsic, c);
    };
  }

  private Text intrinsic(Intrinsic intrinsic, Expr.Call call) {
    if (!(intrinsic instanceof TargetIntrinsic target)) {
      throw new IllegalArgumentException("intrinsic without CUDA text: " + intrinsic.text());
    }
    List<String> args = hopper.arguments(call, target);
    if (guard != null && Intrinsics.guarded(target).isPresent()) {
      return Text.atom(uses.guarded(target) + "(" + guard + ", " + String.join(", ", args) + ")");
    }
    boolean once =
        target == HopperIntrinsics.BULK_LOAD
            && call.args().get(1) instanceof Expr.AddressOf from
            && streamed.contains(from.buffer().name());
    String function = once ? uses.helper(Helper.BULK_LOAD_2D_STREAMED) : uses.intrinsic(target);
    if (!target.takesConstant()) {
      return Text.atom(function + "(" + String.join(", ", args) + ")");
    }
    if (!(call.args().getFirst() instanceof Expr.IntImm)) {
      throw new IllegalArgumentException(intrinsic.text() + " needs a constant, not " + args);
    }
    return Text.atom(function + "<" + args.getFirst() + ">()");
  }

  private Text bitcast(Expr.Bitcast b, int lane) {
    DType to = b.type().dtype();
    DType from = b.a().type().dtype();
    if (isMemory(b.a()) && b.a() instanceof Expr.Load l && b.type().isScalar()) {
      return Text.atom("*(const " + CudaTypes.name(to) + "*)" + first(l));
    }
    if (to.bits() == from.bits()) {
      return Conversions.bitcast(uses, from, to, lane(b.a(), lane));
    }
    if (to.bits() < from.bits()) {
      int parts = from.bits() / to.bits();
      Text raw = Conversions.bits(from, lane(b.a(), lane / parts));
      int shift = lane % parts * to.bits();
      return Conversions.fromBits(
          uses, to, shift == 0 ? raw : new Text(raw.in(Text.UNARY) + " >> " + shift, Text.SHIFT));
    }
    int parts = to.bits() / from.bits();
    String wide = to.bits() == 64 ? "(unsigned long long)" : "(unsigned)";
    List<String> bits = new ArrayList<>();
    for (int i = 0; i < parts; i++) {
      Text raw = Conversions.bits(from, lane(b.a(), lane * parts + i));
      String widened = wide + raw.in(Text.UNARY);
      bits.add(i == 0 ? widened : "(" + widened + " << " + i * from.bits() + ")");
    }
    return Conversions.fromBits(uses, to, new Text(String.join(" | ", bits), Text.BIT_OR));
  }

  /** The address of the first element that is loaded. */
  private String first(Expr.Load l) {
    return pointer(l.buffer(), FlatIndex.lane(l.indices(), 0));
  }

  // Vectors as a whole.

  /** The {@code Vec} type of a vector. */
  String vecType(Type type) {
    uses.helper(Helper.VEC);
    uses.type(type.dtype());
    return "Vec<" + CudaTypes.name(type.dtype()) + ", " + type.lanes() + ">";
  }

  /** Whether a store at these indices is one aligned access. */
  boolean isVectorAccess(Buffer buffer, List<Expr> indices) {
    return flat.isVectorAccess(buffer, indices);
  }

  /** The elements at vector indices as an lvalue of a type of the same size. */
  String vectorElement(Buffer buffer, List<Expr> indices, Type as) {
    String type = as.isScalar() ? CudaTypes.name(as.dtype()) : vecType(as);
    return "*(" + type + "*)" + pointer(buffer, FlatIndex.lane(indices, 0));
  }

  /** The address of an element, for a cast. */
  private String pointer(Buffer buffer, List<Expr> indices) {
    return address(buffer, indices).in(Text.UNARY);
  }

  /**
   * Whether a vector is printed as a whole: it is held by a variable, or loaded by one instruction,
   * perhaps only where a condition holds.
   */
  boolean isMemory(Expr e) {
    if (e.type().isScalar()) {
      return false;
    }
    if (held.containsKey(e)) {
      return true;
    }
    return switch (e) {
      case Var v -> true;
      case Expr.Load l -> flat.isVectorAccess(l.buffer(), l.indices());
      case Expr.Select s ->
          isUniform(s.condition())
              && (isMemory(s.then()) || isMemory(s.otherwise()))
              && (isMemory(s.then()) || isConstant(s.then()))
              && (isMemory(s.otherwise()) || isConstant(s.otherwise()));
      case Expr.Bitcast b -> isMemory(b.a()) && b.a() instanceof Expr.Load;
      default -> false;
    };
  }

  private static boolean isUniform(Expr condition) {
    return condition.type().isScalar() || condition instanceof Expr.Broadcast;
  }

  private static boolean isConstant(Expr e) {
    return e instanceof Expr.Broadcast b
        && (b.value() instanceof Expr.IntImm || b.value() instanceof Expr.FloatImm);
  }

  /** Loads of more than one element from memory that a lane-by-lane print would repeat. */
  boolean isWorthHolding(Expr e) {
    if (!isMemory(e) || held.containsKey(e)) {
      return false;
    }
    return switch (e) {
      case Expr.Load l -> l.buffer().scope() != Scope.LOCAL;
      case Expr.Select s -> true;
      case Expr.Bitcast b -> true;
      default -> false;
    };
  }

  /** Whether a guarded load and its place are one access each. */
  boolean isWhole(Expr.Select guarded, Buffer buffer, List<Expr> indices) {
    if (!guarded.type().isScalar()) {
      return isMemory(guarded.then()) && flat.isVectorAccess(buffer, indices);
    }
    return guarded.then() instanceof Expr.Load || isScalarLoad(guarded.then());
  }

  /** Whether bits of a scalar, not of several elements, are loaded as another scalar. */
  private static boolean isScalarLoad(Expr e) {
    return e instanceof Expr.Bitcast(Type to, Expr.Load l) && to.isScalar() && l.type().isScalar();
  }

  /** An element or several as one lvalue. */
  String whole(Buffer buffer, List<Expr> indices, Type type) {
    return type.isScalar()
        ? element(buffer, indices).string()
        : vectorElement(buffer, indices, type);
  }

  /** A load that depends on a condition without a branch; elsewhere there are zeros. */
  String loadIf(Expr.Select guarded) {
    Expr.Load load = Objects.requireNonNull(GuardedLoads.loaded(guarded.then()));
    Type type = guarded.type();
    String as = type.isScalar() ? CudaTypes.name(type.dtype()) : vecType(type);
    String cast = type.isScalar() && load == guarded.then() ? "" : "(const " + as + "*)";
    return String.format(
        Locale.ROOT,
        "%s(%s, %s%s)",
        uses.helper(Helper.LOAD_IF),
        lane(guarded.condition(), 0),
        cast,
        first(load));
  }

  /** Lets lanes of the expression be read from a variable, up to {@link #release}. */
  void hold(Expr e, String variable) {
    held.put(e, variable);
  }

  boolean isHeld(Expr e) {
    return held.containsKey(e);
  }

  /** Ends what {@link #hold} began: the same expression in the next statement may differ. */
  void release() {
    held.clear();
  }

  /** A vector as a {@code Vec}. */
  Text vector(Expr e) {
    String variable = held.get(e);
    if (variable != null) {
      return Text.atom(variable);
    }
    String type = vecType(e.type());
    if (isMemory(e)) {
      switch (e) {
        case Var v -> {
          return Text.atom(names.of(v));
        }
        case Expr.Load l -> {
          return new Text("*(const " + type + "*)" + first(l), Text.UNARY);
        }
        case Expr.Bitcast(Type to, Expr.Load l) -> {
          return new Text("*(const " + type + "*)" + first(l), Text.UNARY);
        }
        case Expr.Select s -> {
          Text condition = lane(s.condition(), 0);
          return new Text(
              condition.in(Text.OR) + " ? " + vector(s.then()) + " : " + vector(s.otherwise()),
              Text.TERNARY);
        }
        default -> {}
      }
    }
    if (isConstant(e) && isZero(((Expr.Broadcast) e).value())) {
      return Text.atom(type + "{}");
    }
    List<String> lanes = new ArrayList<>();
    for (int i = 0; i < e.type().lanes(); i++) {
      lanes.add(lane(e, i).string());
    }
    return Text.atom(type + "{{" + String.join(", ", lanes) + "}}");
  }

  private static boolean isZero(Expr e) {
    return Exprs.isConst(e, 0)
        || (e instanceof Expr.FloatImm imm && Double.doubleToRawLongBits(imm.value()) == 0);
  }
}
