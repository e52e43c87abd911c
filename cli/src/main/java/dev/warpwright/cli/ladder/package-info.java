/** {@code ladder}: the classic optimisation ladder. */
package dev.warpwright.cli.ladder;
