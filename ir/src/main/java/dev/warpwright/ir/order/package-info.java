/** Orders in which a grid, or a persistent loop, takes the tiles of its work. */
@NullMarked
package dev.warpwright.ir.order;

import org.jspecify.annotations.NullMarked;
