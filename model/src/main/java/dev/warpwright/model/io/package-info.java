/** Reading whole files as memory and writing files so that no half-written one is ever seen. */
@NullMarked
package dev.warpwright.model.io;

import org.jspecify.annotations.NullMarked;
