/** The fusion planner: which stages of a network share a kernel, and how each is scheduled. */
package dev.warpwright.compiler.fusion;
