/** A user's own programs in text: scheduled by hand or searched for, lowered, run on own data. */
@NullMarked
package dev.warpwright.cli.program;

import org.jspecify.annotations.NullMarked;
