/** {@code ladder}: the classic optimisation ladder. */
@NullMarked
package dev.warpwright.cli.ladder;

import org.jspecify.annotations.NullMarked;
