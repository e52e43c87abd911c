package dev.warpwright.cuda;

import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * C++ names for variables and buffers. Names from files can be anything; what comes out is always a
 * snake-case identifier that is no keyword, no macro, nothing the printer uses itself, and
 * different from every other name that is visible.
 */
final class Names {
  private static final int LONGEST = 48;

  private static final Set<String> RESERVED =
      words(
          """
          alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t
          char16_t char32_t class compl concept const consteval constexpr constinit const_cast
          continue co_await co_return co_yield decltype default delete do double dynamic_cast else
          enum explicit export extern false float for friend goto if inline int long mutable
          namespace new noexcept not not_eq nullptr operator or or_eq private protected public
          register reinterpret_cast requires restrict return short signed sizeof static
          static_assert static_cast struct switch template this thread_local throw true try typedef
          typeid typename typeof union unsigned using virtual void volatile wchar_t while xor
          xor_eq linux unix stdin stdout stderr alloca assert offsetof errno major minor
          thread_idx block_idx block_dim grid_dim warp_size main
          f16 bf16 f8e4m3 f8e5m2 to_f32 to_f16 to_bf16 to_f8e4m3 to_f8e5m2 floor_div floor_mod
          exp2_approx tanh_approx rcp_approx sin_approx cos_approx swizzle load_if
          shared_memory
          min max abs llabs fma fmaf exp expf exp2 exp2f log logf sqrt sqrtf rsqrt rsqrtf sin sinf
          cos cosf tanh tanhf erf erff pow powf fabs fabsf floor floorf ceil ceilf fmin fminf fmax
          fmaxf
          """);

  /** Functions of the C library and of CUDA that a kernel with C linkage would collide with. */
  private static final Set<String> LIBRARY =
      words(
          """
          abort abs access acos acosf acosh acoshf asin asinf asinh asinhf assert atan atan2 atan2f
          atanf atanh atanhf atexit atof atoi atol atoll bcmp bcopy bsearch bzero calloc cbrt cbrtf
          ceil ceilf clock copysign copysignf cos cosf cosh coshf cospi cospif ctime cyl_bessel_i0
          cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f difftime div erand48 erf erfc erfcf erfcinv
          erfcinvf erfcx erfcxf erff erfinv erfinvf exit exp exp10 exp10f exp2 exp2f expf expm1
          expm1f fabs fabsf fdim fdimf fdivide fdividef ffs ffsll floor floorf fma fmaf fmax fmaxf
          fmin fminf fmod fmodf free frexp frexpf gamma getenv gmtime hypot hypotf ilogb ilogbf
          index isalnum isalpha isdigit isfinite isinf isnan isspace j0 j0f j1 j1f jn jnf labs
          ldexp ldexpf ldiv lgamma lgammaf llabs lldiv llmax llmin llrint llrintf llround llroundf
          localtime log log10 log10f log1p log1pf log2 log2f logb logbf logf lrint lrintf lround
          lroundf main malloc max memccpy memchr memcmp memcpy memmove memset min mktime modf modff
          nan nanf nearbyint nearbyintf nextafter nextafterf norm norm3d norm3df norm4d norm4df
          normcdf normcdff normcdfinv normcdfinvf normf pow powf powi powif printf putenv qsort rand
          random rcbrt rcbrtf realloc remainder remainderf remquo remquof remove rhypot rhypotf
          rindex rint rintf rnorm rnorm3d rnorm3df rnorm4d rnorm4df rnormf round roundf rsqrt rsqrtf
          scalb scalbln scalblnf scalbn scalbnf select setenv signbit signgam sin sincos sincosf
          sincospi sincospif sinf sinh sinhf sinpi sinpif sqrt sqrtf srand srandom strcat strchr
          strcmp strcpy strdup strlen strstr strtod strtof strtok strtol strtoul swab system tan
          tanf tanh tanhf tanpi tanpif tgamma tgammaf time trunc truncf uabs ullmax ullmin umax umin
          unsetenv y0 y0f y1 y1f yn ynf
          threadIdx blockIdx blockDim gridDim warpSize Vec dim3 char1 char2 char3 char4 uchar1
          uchar2 uchar3 uchar4 short1 short2 short3 short4 ushort1 ushort2 ushort3 ushort4 int1 int2
          int3 int4 uint1 uint2 uint3 uint4 long1 long2 long3 long4 ulong1 ulong2 ulong3 ulong4
          longlong1 longlong2 longlong3 longlong4 ulonglong1 ulonglong2 ulonglong3 ulonglong4 float1
          float2 float3 float4 double1 double2 double3 double4 size_t clock64 div_t uint ushort ulong
          """);

  private final Set<String> taken;
  private final Map<Object, String> names = new HashMap<>();
  private final Set<Object> mentioned = new HashSet<>();
  private final Deque<Set<String>> scopes = new ArrayDeque<>();

  /** Variables by the text of their values, for each brace. */
  private final Deque<Map<String, Object>> values = new ArrayDeque<>();

  /** Variables for which another one of the same value stands. */
  private final Map<Object, Object> same = new HashMap<>();

  /** Names of a function that calls these functions. */
  Names(Set<String> functions) {
    taken = new HashSet<>(functions);
    scopes.push(new HashSet<>());
    values.push(new HashMap<>());
  }

  private static Set<String> words(String text) {
    return Set.copyOf(Arrays.asList(text.strip().split("\\s+")));
  }

  /** Opens a brace. */
  void open() {
    scopes.push(new HashSet<>());
    values.push(new HashMap<>());
  }

  /** Closes a brace: the names declared inside are free again. */
  void close() {
    taken.removeAll(scopes.pop());
    values.pop();
  }

  /** Records that a declared variable has a value, which does not change, of this text. */
  void hasValue(Object variable, String text) {
    values.element().put(text, variable);
  }

  /** Takes a declared variable back, which is not printed. */
  void withdraw(Object variable) {
    values.element().values().remove(variable);
  }

  /** Lets a variable in scope with a value of this text stand for another; false without one. */
  boolean standsIn(Object variable, String text) {
    for (Map<String, Object> scope : values) {
      Object there = scope.get(text);
      if (there != null) {
        same.put(variable, there);
        return true;
      }
    }
    return false;
  }

  /** Declares a variable or buffer in the innermost brace. */
  String declare(Object object, String wish) {
    String name = declare(wish);
    names.put(object, name);
    return name;
  }

  /** A name for something that the printer introduces. */
  String declare(String wish) {
    String base = identifier(wish);
    String name = base;
    for (int i = 2; RESERVED.contains(name) || taken.contains(name); i++) {
      name = base + "_" + i;
    }
    taken.add(name);
    scopes.element().add(name);
    return name;
  }

  /** Whether the name of the object has been asked for. */
  boolean isMentioned(Object object) {
    return mentioned.contains(object);
  }

  /**
   * The name of a declared variable or buffer.
   *
   * @throws IllegalArgumentException if it is not declared: the kernel is malformed
   */
  String of(Object object) {
    Object declared = same.getOrDefault(object, object);
    String name = names.get(declared);
    if (name == null) {
      throw new IllegalArgumentException("used outside its scope: " + object);
    }
    mentioned.add(declared);
    return name;
  }

  /**
   * A snake-case identifier made of the letters and digits of {@code wish}; the name of a matrix or
   * extent, a capital and perhaps a digit, stays.
   */
  static String identifier(String wish) {
    String ascii = wish.replaceAll("[^A-Za-z0-9]+", "_");
    String snake =
        ascii.matches("[A-Za-z][0-9]?")
            ? ascii
            : ascii.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    String trimmed = snake.replaceAll("_+", "_").replaceAll("^_|_$", "");
    if (trimmed.length() > LONGEST) {
      trimmed = trimmed.substring(0, LONGEST).replaceAll("_$", "");
    }
    if (trimmed.isEmpty()) {
      return "x";
    }
    return Character.isDigit(trimmed.charAt(0)) ? "x" + trimmed : trimmed;
  }

  /** The symbol of a kernel: its name where C linkage allows it, else one made from it. */
  static String kernel(String name) {
    boolean fine =
        name.matches("[A-Za-z][A-Za-z0-9_]*")
            && !name.contains("__")
            && name.matches(".*[a-z].*")
            && !RESERVED.contains(name)
            && !LIBRARY.contains(name)
            && Intrinsics.all().stream()
                .noneMatch(i -> i.function().equals(name) || i.guardedFunction().equals(name));
    return fine ? name : identifier(name) + "_kernel";
  }
}
