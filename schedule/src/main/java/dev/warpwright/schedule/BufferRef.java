package dev.warpwright.schedule;

/**
 * A buffer of a scheduled function, by its name, which is unique.
 *
 * @param name as in the program's text
 */
public record BufferRef(String name) {
  @Override
  public String toString() {
    return name;
  }
}
