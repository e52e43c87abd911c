package dev.warpwright.cli;

/** Entry point of the {@code warpwright} command. */
public final class Main {
  private Main() {}

  /** Runs the command and exits with its code. */
  public static void main(String[] args) {
    System.out.println("warpwright");
  }
}
