/**
 * What the primitives have to know about a function: paths, accesses, linear forms, dependences.
 */
@NullMarked
package dev.warpwright.schedule.analysis;

import org.jspecify.annotations.NullMarked;
