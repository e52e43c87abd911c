/** {@code explore}: the local web page. */
@NullMarked
package dev.warpwright.cli.explore;

import org.jspecify.annotations.NullMarked;
