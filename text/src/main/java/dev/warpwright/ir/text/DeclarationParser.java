package dev.warpwright.ir.text;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;

/** Reads declarations of buffers, their layouts, and attributes. */
final class DeclarationParser {
  private static final int DEFAULT_ALIGNMENT = 16;
  private static final int MOST_BITS = 16;

  private final Cursor cursor;
  private final Definitions definitions;
  private final ExprParser exprs;

  DeclarationParser(Cursor cursor, Definitions definitions, ExprParser exprs) {
    this.cursor = cursor;
    this.definitions = definitions;
    this.exprs = exprs;
  }

  /** {@code name: f32[64, M] shared layout … align 128}; the name is known from here on. */
  Buffer buffer() {
    return buffer(Scope.GLOBAL);
  }

  /** A declaration that need not say its scope. */
  Buffer buffer(Scope usual) {
    Token name = cursor.expectName("the name of a buffer");
    cursor.expect(":");
    Type type = exprs.expectType();
    if (!type.isScalar()) {
      throw cursor.error(name, "the elements of " + name.found() + " are vectors: " + type);
    }
    DType dtype = type.dtype();
    List<Expr> shape = exprs.indices();
    Scope scope = usual;
    for (Scope each : Scope.values()) {
      if (cursor.accept(each.text())) {
        scope = each;
        break;
      }
    }
    Layout layout = cursor.accept("layout") ? layout() : null;
    int alignment = Math.max(DEFAULT_ALIGNMENT, dtype.bytes());
    if (cursor.accept("align")) {
      alignment = cursor.expectInt("an alignment in bytes");
    }
    Scope chosen = scope;
    int bytes = alignment;
    return definitions.define(
        name,
        cursor.make(
            name, () -> measured(new Buffer(name.text(), dtype, shape, chosen, layout, bytes))));
  }

  /** Refuses sizes that cannot be computed with. */
  private static Buffer measured(Buffer buffer) {
    for (Expr extent : buffer.shape()) {
      if (extent instanceof Expr.IntImm imm && imm.value() < 0) {
        throw new IllegalArgumentException("an extent of " + buffer.name() + " is negative");
      }
    }
    Layout layout = buffer.layout();
    if (layout != null || buffer.hasConstantShape()) {
      Math.multiplyExact(buffer.storageElements(), 64);
    }
    if (layout != null) {
      for (int i = 0; i < layout.rank(); i++) {
        Math.multiplyExact(layout.extent(i), 64);
      }
    }
    return buffer;
  }

  /** {@code (16:1,4:1024),(64:16)^<3,3,3>}. */
  Layout layout() {
    Token start = cursor.peek();
    List<List<Mode>> dimensions = new ArrayList<>();
    do {
      cursor.expect("(");
      List<Mode> modes = new ArrayList<>();
      while (!cursor.isAt(")")) {
        Token at = cursor.peek();
        long extent = cursor.expectInteger("an extent");
        cursor.expect(":");
        long stride = cursor.expectInteger("a stride");
        modes.add(cursor.make(at, () -> new Mode(extent, stride)));
        if (!cursor.accept(",")) {
          break;
        }
      }
      cursor.expect(")");
      dimensions.add(modes);
    } while (cursor.isAt(",") && cursor.peekSecond().is("(") && cursor.accept(","));
    if (dimensions.size() == 1 && dimensions.getFirst().isEmpty()) {
      dimensions.clear();
    }
    Swizzle swizzle = Swizzle.NONE;
    if (cursor.accept("^")) {
      cursor.expect("<");
      int bits = cursor.expectInt("a number of bits");
      cursor.expect(",");
      int base = cursor.expectInt("a bit position");
      cursor.expect(",");
      int shift = cursor.expectInt("a distance in bits");
      cursor.expect(">");
      if (bits > MOST_BITS || base > MOST_BITS || shift > MOST_BITS) {
        throw cursor.error(start, "a swizzle reaches over at most " + MOST_BITS + " bits");
      }
      swizzle = cursor.make(start, () -> new Swizzle(bits, base, shift));
    }
    Swizzle chosen = swizzle;
    return cursor.make(start, () -> new Layout(dimensions, chosen));
  }

  /** Each is copied when the next one is added. */
  private static final int MOST_ATTRIBUTES = 1000;

  /** {@code [fast = 1, instr = "…"]}, or nothing. */
  Attrs attrs() {
    Attrs attrs = Attrs.NONE;
    if (!cursor.accept("[")) {
      return attrs;
    }
    while (!cursor.isAt("]")) {
      Token key = cursor.expectName("the name of an attribute");
      if (attrs.values().size() == MOST_ATTRIBUTES) {
        throw cursor.error(key, "more than " + MOST_ATTRIBUTES + " attributes");
      }
      cursor.expect("=");
      if (cursor.peek().kind() == Token.Kind.STRING) {
        attrs = attrs.with(key.text(), cursor.next().text());
      } else {
        attrs = attrs.with(key.text(), cursor.expectInteger("a whole number or a string"));
      }
      if (!cursor.accept(",")) {
        break;
      }
    }
    cursor.expect("]");
    return attrs;
  }
}
