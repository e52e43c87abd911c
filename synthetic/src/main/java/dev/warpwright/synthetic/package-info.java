/** Networks of given shapes with random weights. */
package dev.warpwright.synthetic;
