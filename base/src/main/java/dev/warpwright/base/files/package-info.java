/** Where a user's files lie, and how files are written so that none is ever half there. */
@NullMarked
package dev.warpwright.base.files;

import org.jspecify.annotations.NullMarked;
