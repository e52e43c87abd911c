package dev.warpwright.target.intrinsic;

/** Lanes whose memory is one array of words for each operand and lane. */
final class WarpOfArrays implements Lanes {
  final int[][][] memory;
  final long[][] values;
  final long[] results;
  private final int count;

  /** {@code operands} of {@code words} words in each of {@code count} lanes. */
  WarpOfArrays(int count, int operands, int words) {
    this.count = count;
    memory = new int[operands][count][words];
    values = new long[operands][count];
    results = new long[count];
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public boolean active(int lane) {
    return true;
  }

  @Override
  public int load32(int operand, int lane, int byteOffset) {
    return memory[operand][lane][byteOffset / 4];
  }

  @Override
  public void store32(int operand, int lane, int byteOffset, int bits) {
    memory[operand][lane][byteOffset / 4] = bits;
  }

  @Override
  public long value(int operand, int lane) {
    return values[operand][lane];
  }

  @Override
  public void result(int lane, long bits) {
    results[lane] = bits;
  }

  void run(TargetIntrinsic intrinsic) {
    ((TargetIntrinsic.Computes) intrinsic.effect()).meaning().execute(this);
  }
}
