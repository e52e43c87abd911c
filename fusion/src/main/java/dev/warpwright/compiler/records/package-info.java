/** What is known of whole networks from earlier measurements, and by which key it is found. */
@NullMarked
package dev.warpwright.compiler.records;

import org.jspecify.annotations.NullMarked;
