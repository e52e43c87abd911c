# shellcheck shell=bash
# How Warpwright's jars are started. Sourced by ./warpwright, bin/dist and the distribution's
# bin/warpwright; needs bash only.
#
# An application folder holds lib/*.jar and, if training succeeded, light.aot and heavy.aot: the
# classes of a trained run, parsed and linked ahead of time. A cache serves only a JVM that is
# started with the flags of its training, so the flags are here, once.

# For what needs no device: version and help.
LIGHT_FLAGS=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1)

# For everything else. The incubating vector module makes every start slower, so that it is not
# among the flags above; java.io is opened for Streams.err.
HEAVY_FLAGS=(-XX:+UseParallelGC --add-modules=jdk.incubator.vector
  --enable-native-access=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED)

# For both. The JVM's log would go to standard output, which is for results.
COMMON_FLAGS=(-Xlog:disable -XX:-UsePerfData)

# Java takes file names and arguments for what the locale says: in C, and in one that is not
# installed, no letter beyond ASCII can be in them. Locales of other character sets stay.
case "${LC_ALL:-${LC_CTYPE:-${LANG:-C}}}" in
  C | POSIX | *.[Uu][Tt][Ff]-8* | *.[Uu][Tt][Ff]8*) export LC_ALL=C.UTF-8 ;;
esac

# Ends with exit code 3 and one line where the java command $1 cannot run with the other arguments,
# its flags. Java itself would end with 1, which here means a wrong result. Asked only where
# something unusual could be the reason, for it costs the start of a JVM.
require_java() {
  local said line
  pwd -P >/dev/null 2>&1 || {
    echo 'warpwright: the folder you are in was deleted; change to another' >&2
    exit 3
  }
  [[ -n ${JAVA_TOOL_OPTIONS-}${_JAVA_OPTIONS-}${JDK_JAVA_OPTIONS-}${WARPWRIGHT_JAVA_OPTS-} ||
    $(ulimit -v) != unlimited ]] || return 0
  said=$("$@" -version 2>&1 </dev/null) && return 0
  while IFS= read -r line; do
    case $line in
      'Picked up '* | NOTE:* | WARNING:* | '') ;;
      *) break ;;
    esac
  done <<<"$said"
  echo "warpwright: Java does not start with its options (${line:-it says nothing}); see" \
    'WARPWRIGHT_JAVA_OPTS, JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS and ulimit -v' >&2
  exit 3
}

# The jars of the application folder $1, as a class path.
class_path() {
  local IFS=: jars=("$1"/lib/*.jar)
  printf '%s' "${jars[*]}"
}

# Makes the caches of the application folder $2 for the java command $1. What a first run of a model
# needs is learnt from the model in folder $3.
train_warpwright() {
  local java=$1 app=$2 example=$3
  "$java" -XX:AOTCacheOutput="$app/light.aot" "${COMMON_FLAGS[@]}" "${LIGHT_FLAGS[@]}" \
    -cp "$(class_path "$app")" dev.warpwright.cli.Training \
    version -- version --json -- --help -- version --help &&
    "$java" -XX:AOTCacheOutput="$app/heavy.aot" "${COMMON_FLAGS[@]}" "${HEAVY_FLAGS[@]}" \
      -cp "$(class_path "$app")" dev.warpwright.cli.Training \
      version --json -- devices -- plan "$example/model.onnx" --target sm_90a --precision f16 -- \
      run "$example/model.onnx" --target cpu -- \
      run "$example/model.onnx" --target cpu --input "$example/input.npy" \
      --expect "$example/expected_f64.npy"
}

# Starts the application in folder $2 with the java command $1 in place of this shell; the other
# arguments are Warpwright's. WARPWRIGHT_JAVA_OPTS may hold more flags for Java.
start_warpwright() {
  local java=$1 app=$2 flags cache filter=
  shift 2
  case "${1-} ${2-}" in
    ' ' | version\ * | --version\ * | help\ * | --help\ * | -h\ * | *\ --help | *\ -h)
      flags=("${LIGHT_FLAGS[@]}")
      cache=$app/light.aot
      ;;
    *)
      flags=("${HEAVY_FLAGS[@]}" -Dwarpwright.stderr=3)
      # Where progress is seen in a terminal, it is one line that is drawn over itself.
      [[ ! -t 2 ]] || flags+=(-Dwarpwright.terminal=true)
      cache=$app/heavy.aot
      filter=yes
      ;;
  esac
  # shellcheck disable=SC2086 # several flags in one variable
  require_java "$java" "${COMMON_FLAGS[@]}" "${flags[@]}" ${WARPWRIGHT_JAVA_OPTS-}
  if [[ -n $filter ]]; then
    # Java warns on every start that the vector module is incubating, and has no flag against it.
    # Its own lines pass this filter; what Warpwright itself says goes straight to descriptor 3.
    exec 3>&2 2> >(
      exec 1>&3 3>&-
      while IFS= read -r line || [[ -n $line ]]; do
        [[ $line == 'WARNING: Using incubator modules: jdk.incubator.vector' ]] ||
          printf '%s\n' "$line"
      done
    )
  fi
  [[ ! -r $cache ]] || flags+=("-XX:AOTCache=$cache")
  local IFS=: jars=("$app"/lib/*.jar)
  local class_path="${jars[*]}"
  IFS=' '
  # shellcheck disable=SC2086 # several flags in one variable
  exec "$java" "${COMMON_FLAGS[@]}" "${flags[@]}" ${WARPWRIGHT_JAVA_OPTS-} \
    -cp "$class_path" dev.warpwright.cli.Main "$@"
}
