/** {@code order} and {@code analyze}: tile orders, traffic and bounds. */
@NullMarked
package dev.warpwright.cli.orders;

import org.jspecify.annotations.NullMarked;
