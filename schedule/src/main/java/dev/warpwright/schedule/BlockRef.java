package dev.warpwright.schedule;

/**
 * A block of a scheduled function, by its name, which is unique.
 *
 * @param name as in the program's text
 */
public record BlockRef(String name) {
  @Override
  public String toString() {
    return name;
  }
}
