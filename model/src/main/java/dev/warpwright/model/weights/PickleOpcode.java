package dev.warpwright.model.weights;

import org.jspecify.annotations.Nullable;

/** The instructions of pickles up to protocol 5; most are here only to be refused by name. */
enum PickleOpcode {
  MARK('('),
  STOP('.'),
  POP('0'),
  POP_MARK('1'),
  DUP('2'),
  FLOAT('F'),
  INT('I'),
  BININT('J'),
  BININT1('K'),
  LONG('L'),
  BININT2('M'),
  NONE('N'),
  PERSID('P'),
  BINPERSID('Q'),
  REDUCE('R'),
  STRING('S'),
  BINSTRING('T'),
  SHORT_BINSTRING('U'),
  UNICODE('V'),
  BINUNICODE('X'),
  APPEND('a'),
  BUILD('b'),
  GLOBAL('c'),
  DICT('d'),
  EMPTY_DICT('}'),
  APPENDS('e'),
  GET('g'),
  BINGET('h'),
  INST('i'),
  LONG_BINGET('j'),
  LIST('l'),
  EMPTY_LIST(']'),
  OBJ('o'),
  PUT('p'),
  BINPUT('q'),
  LONG_BINPUT('r'),
  SETITEM('s'),
  TUPLE('t'),
  EMPTY_TUPLE(')'),
  SETITEMS('u'),
  BINFLOAT('G'),
  PROTO(0x80),
  NEWOBJ(0x81),
  EXT1(0x82),
  EXT2(0x83),
  EXT4(0x84),
  TUPLE1(0x85),
  TUPLE2(0x86),
  TUPLE3(0x87),
  NEWTRUE(0x88),
  NEWFALSE(0x89),
  LONG1(0x8a),
  LONG4(0x8b),
  BINBYTES('B'),
  SHORT_BINBYTES('C'),
  SHORT_BINUNICODE(0x8c),
  BINUNICODE8(0x8d),
  BINBYTES8(0x8e),
  EMPTY_SET(0x8f),
  ADDITEMS(0x90),
  FROZENSET(0x91),
  NEWOBJ_EX(0x92),
  STACK_GLOBAL(0x93),
  MEMOIZE(0x94),
  FRAME(0x95),
  BYTEARRAY8(0x96),
  NEXT_BUFFER(0x97),
  READONLY_BUFFER(0x98);

  private static final @Nullable PickleOpcode[] BY_CODE = new @Nullable PickleOpcode[256];

  static {
    for (PickleOpcode opcode : values()) {
      BY_CODE[opcode.code] = opcode;
    }
  }

  private final int code;

  PickleOpcode(int code) {
    this.code = code;
  }

  /** The instruction of a byte, or null. */
  static @Nullable PickleOpcode of(int code) {
    return BY_CODE[code];
  }
}
