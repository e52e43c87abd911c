# Finds a JDK 25 or newer. To be sourced by a POSIX shell (mvnw) or by bash (warpwright).
#
# find_jdk prints the JDK's folder and succeeds, or prints one line on standard error and fails. It
# looks at JAVA_HOME, then at the java on PATH, then in the folders where installers put JDKs; it
# reads each candidate's "release" file and starts no JVM.

WANTED_JAVA=25

# Whether the folder $1 holds a JDK (a compiler too, not only a runtime) of a wanted version.
is_wanted_jdk() {
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
  while IFS='=' read -r key value; do
    if [ "$key" = JAVA_VERSION ]; then
      value=${value#\"}
      value=${value%%[!0-9]*}
      [ -n "$value" ] && [ "$value" -ge "$WANTED_JAVA" ]
      return
    fi
  done <"$1/release"
  return 1
}

find_jdk() {
  if [ -n "${JAVA_HOME:-}" ] && is_wanted_jdk "$JAVA_HOME"; then
    printf '%s\n' "$JAVA_HOME"
    return 0
  fi
  jdk_on_path=$(command -v java || :)
  if [ -n "$jdk_on_path" ]; then
    jdk_on_path=$(readlink -f "$jdk_on_path" 2>/dev/null || printf '%s' "$jdk_on_path")
    jdk_on_path=${jdk_on_path%/bin/java}
    if is_wanted_jdk "$jdk_on_path"; then
      printf '%s\n' "$jdk_on_path"
      return 0
    fi
  fi
  # mvnw runs with globbing off; the subshell keeps that its own business.
  (
    set +f
    for jdk in /usr/lib/jvm/* /opt/java /opt/java/* /opt/jdk* "${HOME:-}"/.sdkman/candidates/java/* \
      "${HOME:-}"/.jdks/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
      if is_wanted_jdk "$jdk"; then
        printf '%s\n' "$jdk"
        exit 0
      fi
    done
    exit 1
  ) || {
    echo "warpwright: no JDK $WANTED_JAVA or newer found; install one (for example Eclipse Temurin" \
      "$WANTED_JAVA from https://adoptium.net) or set JAVA_HOME to it" >&2
    return 1
  }
}
