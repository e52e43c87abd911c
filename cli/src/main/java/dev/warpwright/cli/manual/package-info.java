/** What shells and {@code man} are told of the command line. */
@NullMarked
package dev.warpwright.cli.manual;

import org.jspecify.annotations.NullMarked;
