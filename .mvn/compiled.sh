# shellcheck shell=bash
# Sourced by scripts that run test classes without Maven's tests.

# Sets "skip" to options that keep Maven from compiling, if module $1 was packaged after any source or POM has changed: a build
# of few phases sees other class paths than "verify" did, and compiles everything again.
skip_compiled() {
  local jars=("$1"/build/warpwright-*.jar)
  skip=()
  [[ -e ${jars[0]} && -z $(find ./*/src ./*/pom.xml pom.xml -newer "${jars[0]}" -print -quit) ]] || return 0
  skip=(-Dmaven.main.skip=true -Dmaven.test.skip=true)
}
