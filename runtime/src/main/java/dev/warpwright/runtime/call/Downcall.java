package dev.warpwright.runtime.call;

import java.lang.invoke.MethodHandle;

/**
 * Calls handles of {@code DriverLibrary}, one method a shape. The handles are constants of the
 * caller, so the compiler inlines these.
 */
public final class Downcall {
  private Downcall() {}

  public static int call(MethodHandle function) {
    try {
      return (int) function.invokeExact();
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, int a) {
    try {
      return (int) function.invokeExact(a);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a) {
    try {
      return (int) function.invokeExact(a);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, long b) {
    try {
      return (int) function.invokeExact(a, b);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, int b) {
    try {
      return (int) function.invokeExact(a, b);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, int a, long b) {
    try {
      return (int) function.invokeExact(a, b);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, int b, int c) {
    try {
      return (int) function.invokeExact(a, b, c);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, long b, long c) {
    try {
      return (int) function.invokeExact(a, b, c);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, long b, int c) {
    try {
      return (int) function.invokeExact(a, b, c);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, int b, long c) {
    try {
      return (int) function.invokeExact(a, b, c);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, long b, long c, long d) {
    try {
      return (int) function.invokeExact(a, b, c, d);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, int b, long c, long d) {
    try {
      return (int) function.invokeExact(a, b, c, d);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  public static int call(MethodHandle function, long a, long b, int c, long d, long e) {
    try {
      return (int) function.invokeExact(a, b, c, d, e);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Downcalls throw nothing of their own but what a handle for a missing function throws. */
  public static RuntimeException unexpected(Throwable t) {
    if (t instanceof Error error) {
      throw error;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }
}
