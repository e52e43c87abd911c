/** Pictures: a PNG encoder, so that no desktop module is needed to show what a network draws. */
@NullMarked
package dev.warpwright.model.image;

import org.jspecify.annotations.NullMarked;
