/** Networks of given shapes with random weights, and what random errors do to any. */
package dev.warpwright.synthetic;
