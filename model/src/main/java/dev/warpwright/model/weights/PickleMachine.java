package dev.warpwright.model.weights;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.model.io.Utf8;
import dev.warpwright.model.weights.PickleValue.Bool;
import dev.warpwright.model.weights.PickleValue.Dict;
import dev.warpwright.model.weights.PickleValue.Global;
import dev.warpwright.model.weights.PickleValue.Int;
import dev.warpwright.model.weights.PickleValue.None;
import dev.warpwright.model.weights.PickleValue.Storage;
import dev.warpwright.model.weights.PickleValue.Text;
import dev.warpwright.model.weights.PickleValue.Tuple;
import dev.warpwright.model.weights.PickleValue.View;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Executes the pickle of a state dict. A pickle is a program, and in Python it may call anything;
 * here it can build texts, whole numbers, tuples, dictionaries and views of storages. Every other
 * instruction, and every global but the few that PyTorch needs, is refused by name. Steps, stack
 * and memo are bounded, and nothing recurses.
 */
final class PickleMachine {
  private static final long MAX_BYTES = 16 << 20;
  private static final int MAX_STACK = 100_000;
  private static final int MAX_STEPS = 4_000_000;
  private static final int MAX_MEMO = 1_000_000;
  private static final int MAX_RANK = 16;
  private static final int MAX_NAME = 300;
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final String ORDERED_DICT = "collections.OrderedDict";
  private static final String REBUILD_TENSOR = "torch._utils._rebuild_tensor_v2";
  private static final String REBUILD_PARAMETER = "torch._utils._rebuild_parameter";
  private static final Set<String> CALLABLE =
      Set.of(ORDERED_DICT, REBUILD_TENSOR, REBUILD_PARAMETER);

  private final String where;
  private final MemorySegment bytes;
  private final String advice;
  private final List<PickleValue> stack = new ArrayList<>();
  private final List<Integer> marks = new ArrayList<>();
  private final Map<Integer, PickleValue> memo = new HashMap<>();
  private long at;

  private PickleMachine(String where, MemorySegment bytes, String advice) {
    this.where = where;
    this.bytes = bytes;
    this.advice = advice;
  }

  /**
   * Executes a pickle.
   *
   * @param where what messages begin with, printable
   * @param advice what messages about forbidden parts end with
   * @return what the pickle builds
   * @throws UserError if the pickle is corrupt, too large, or does what no state dict needs
   */
  static PickleValue run(String where, MemorySegment bytes, String advice) {
    if (bytes.byteSize() > MAX_BYTES) {
      throw new UserError(
          where + ": the pickle has " + bytes.byteSize() + " bytes, more than " + MAX_BYTES);
    }
    return new PickleMachine(where, bytes, advice).run();
  }

  private PickleValue run() {
    for (int step = 0; step < MAX_STEPS; step++) {
      int code = u8();
      PickleOpcode opcode = PickleOpcode.of(code);
      if (opcode == null) {
        throw error(String.format(Locale.ROOT, "unknown instruction 0x%02X", code));
      }
      if (opcode == PickleOpcode.STOP) {
        PickleValue result = pop();
        if (!stack.isEmpty() || !marks.isEmpty()) {
          throw error("values are left over at the end");
        }
        return result;
      }
      execute(opcode);
    }
    throw error("more than " + MAX_STEPS + " instructions");
  }

  private void execute(PickleOpcode opcode) {
    switch (opcode) {
      case PROTO -> checkProtocol(u8());
      case FRAME -> need(i64());
      case MARK -> marks.add(stack.size());
      case NONE -> push(new None());
      case NEWTRUE -> push(new Bool(true));
      case NEWFALSE -> push(new Bool(false));
      case BININT -> push(new Int(i32()));
      case BININT1 -> push(new Int(u8()));
      case BININT2 -> push(new Int(u8() | u8() << 8));
      case LONG1 -> push(new Int(longOf(u8())));
      case BINUNICODE -> push(new Text(text(Integer.toUnsignedLong(i32()))));
      case SHORT_BINUNICODE -> push(new Text(text(u8())));
      case EMPTY_TUPLE -> push(new Tuple(List.of()));
      case TUPLE1 -> push(new Tuple(pop(1)));
      case TUPLE2 -> push(new Tuple(pop(2)));
      case TUPLE3 -> push(new Tuple(pop(3)));
      case TUPLE -> push(new Tuple(popToMark()));
      case EMPTY_DICT -> push(new Dict());
      case SETITEM -> set(pop(2));
      case SETITEMS -> set(popToMark());
      case BINPUT -> remember(u8());
      case LONG_BINPUT -> remember(i32());
      case MEMOIZE -> remember(memo.size());
      case BINGET -> push(recall(u8()));
      case LONG_BINGET -> push(recall(i32()));
      case GLOBAL -> push(global(line(), line()));
      case STACK_GLOBAL -> stackGlobal();
      case BINPERSID -> push(storage(pop()));
      case REDUCE -> reduce();
      case BUILD -> build();
      default -> throw error("instruction " + opcode + ", which no state dict has; " + advice);
    }
  }

  private void checkProtocol(int protocol) {
    if (protocol < 2 || protocol > 5) {
      throw error("protocol " + protocol + "; supported: 2 to 5");
    }
  }

  private void push(PickleValue value) {
    if (stack.size() == MAX_STACK) {
      throw error("more than " + MAX_STACK + " values on the stack");
    }
    stack.add(value);
  }

  private PickleValue top() {
    int floor = marks.isEmpty() ? 0 : marks.getLast();
    if (stack.size() <= floor) {
      throw error("a value is missing on the stack");
    }
    return stack.getLast();
  }

  private PickleValue pop() {
    top();
    return stack.removeLast();
  }

  private List<PickleValue> pop(int count) {
    List<PickleValue> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.addFirst(pop());
    }
    return List.copyOf(values);
  }

  private List<PickleValue> popToMark() {
    if (marks.isEmpty()) {
      throw error("a mark is missing on the stack");
    }
    List<PickleValue> tail = stack.subList(marks.removeLast(), stack.size());
    List<PickleValue> values = List.copyOf(tail);
    tail.clear();
    return values;
  }

  private void remember(int index) {
    if (memo.size() == MAX_MEMO) {
      throw error("more than " + MAX_MEMO + " values in the memo");
    }
    memo.put(index, top());
  }

  private PickleValue recall(int index) {
    PickleValue value = memo.get(index);
    if (value == null) {
      throw error("reads memo " + index + ", which nothing has written");
    }
    return value;
  }

  private void set(List<PickleValue> items) {
    if (!(top() instanceof Dict dict) || items.size() % 2 != 0) {
      throw error("sets items of what is no dictionary");
    }
    for (int i = 0; i < items.size(); i += 2) {
      if (!(items.get(i) instanceof Text(String key))) {
        throw error("a dictionary has a key that is no text; " + advice);
      }
      if (dict.items().put(key, items.get(i + 1)) != null) {
        throw error("a dictionary has key " + Names.quote(key) + " twice");
      }
    }
  }

  private void stackGlobal() {
    List<PickleValue> names = pop(2);
    if (!(names.getFirst() instanceof Text(String module))
        || !(names.getLast() instanceof Text(String name))) {
      throw error("a global's name is no text");
    }
    push(global(module, name));
  }

  private Global global(String module, String name) {
    String full = module + "." + name;
    boolean storage = module.equals("torch") && ElementType.ofStorage(name) != null;
    if (!storage && !CALLABLE.contains(full)) {
      throw error(
          "names "
              + Names.quote(full)
              + ", which no state dict needs; nothing was called; "
              + advice);
    }
    return new Global(full);
  }

  private Storage storage(PickleValue id) {
    if (id instanceof Tuple(List<PickleValue> parts)
        && parts.size() == 5
        && parts.get(0).equals(new Text("storage"))
        && parts.get(1) instanceof Global(String type)
        && parts.get(2) instanceof Text(String key)
        && parts.get(3) instanceof Text
        && parts.get(4) instanceof Int(long count)) {
      ElementType element = ElementType.ofStorage(type.substring(type.indexOf('.') + 1));
      if (element != null && count >= 0 && count <= Long.MAX_VALUE / 8) {
        return new Storage(element, key, count);
      }
    }
    throw error("refers to a storage in an unknown way");
  }

  private void reduce() {
    List<PickleValue> call = pop(2);
    if (!(call.getFirst() instanceof Global(String name))
        || !(call.getLast() instanceof Tuple(List<PickleValue> arguments))) {
      throw error("calls what is no function");
    }
    push(call(name, arguments));
  }

  private PickleValue call(String name, List<PickleValue> arguments) {
    int count = arguments.size();
    if (name.equals(ORDERED_DICT) && count == 0) {
      return new Dict();
    }
    if (name.equals(REBUILD_TENSOR) && (count == 6 || count == 7)) {
      return view(arguments);
    }
    if (name.equals(REBUILD_PARAMETER)
        && count == 3
        && arguments.getFirst() instanceof View parameter) {
      return parameter;
    }
    throw error("calls " + Names.quote(name) + " with arguments it cannot have");
  }

  /** Storage, offset, shape and strides; whether it needs a gradient and hooks do not matter. */
  private View view(List<PickleValue> arguments) {
    if (arguments.get(0) instanceof Storage storage
        && arguments.get(1) instanceof Int(long offset)
        && offset >= 0
        && arguments.get(2) instanceof Tuple(List<PickleValue> shape)
        && arguments.get(3) instanceof Tuple(List<PickleValue> strides)
        && shape.size() == strides.size()
        && shape.size() <= MAX_RANK) {
      return new View(storage, offset, numbers(shape), numbers(strides));
    }
    throw error("builds a tensor in an unknown way");
  }

  private List<Long> numbers(List<PickleValue> values) {
    List<Long> numbers = new ArrayList<>();
    for (PickleValue value : values) {
      if (!(value instanceof Int(long number)) || number < 0) {
        throw error("builds a tensor with a shape or strides that are no natural numbers");
      }
      numbers.add(number);
    }
    return numbers;
  }

  /** An ordered dictionary may get attributes; PyTorch gives it the versions of its modules. */
  private void build() {
    PickleValue state = pop();
    if (!(top() instanceof Dict)
        || !(state instanceof Dict attributes)
        || !attributes.items().keySet().equals(Set.of("_metadata"))) {
      throw error("sets the state of an object; " + advice);
    }
  }

  private void need(long count) {
    if (count < 0 || count > bytes.byteSize() - at) {
      throw error("truncated or corrupt");
    }
  }

  private int u8() {
    need(1);
    return Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, at++));
  }

  private int i32() {
    need(4);
    at += 4;
    return bytes.get(INT, at - 4);
  }

  private long i64() {
    need(8);
    at += 8;
    return bytes.get(LONG, at - 8);
  }

  /** A signed little-endian integer of this many bytes. */
  private long longOf(int count) {
    if (count > 8) {
      throw error("an integer of " + count + " bytes");
    }
    long value = 0;
    int last = 0;
    for (int i = 0; i < count; i++) {
      last = u8();
      value |= (long) last << 8 * i;
    }
    return last > 0x7F && count < 8 ? value - (1L << 8 * count) : value;
  }

  private String text(long count) {
    need(count);
    String text = Utf8.decode(bytes.asSlice(at, count));
    if (text == null) {
      throw error("a text that is no UTF-8");
    }
    at += count;
    return text;
  }

  private String line() {
    StringBuilder line = new StringBuilder();
    for (int c = u8(); c != '\n'; c = u8()) {
      if (line.length() == MAX_NAME) {
        throw error("a name longer than " + MAX_NAME + " characters");
      }
      line.append((char) c);
    }
    return line.toString();
  }

  private UserError error(String what) {
    return new UserError(where + ": at byte " + at + ": " + what);
  }
}
