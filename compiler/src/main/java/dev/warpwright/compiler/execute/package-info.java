/** Runs programs on devices: constants packed and uploaded once, launches repeated. */
package dev.warpwright.compiler.execute;
