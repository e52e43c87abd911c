/**
 * What the primitives have to know about a function: paths, accesses, linear forms, dependences.
 */
package dev.warpwright.schedule.analysis;
