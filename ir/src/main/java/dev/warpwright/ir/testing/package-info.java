/**
 * Random programs for tests of everything that executes, prints or rewrites the IR. Part of the
 * module, so that the tests of every layer can use them.
 */
@NullMarked
package dev.warpwright.ir.testing;

import org.jspecify.annotations.NullMarked;
