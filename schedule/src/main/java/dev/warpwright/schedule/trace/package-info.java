/** What was done to a function, as data: recorded, written as JSON, read, replayed. */
@NullMarked
package dev.warpwright.schedule.trace;

import org.jspecify.annotations.NullMarked;
