/**
 * Plants mistakes in kernels by rewriting them, to see whether the simulator reports them: {@link
 * dev.warpwright.verify.mutation.Mutations} lists the kinds, {@link
 * dev.warpwright.verify.mutation.Mutation#plant} gives a kernel for each place where one is
 * possible.
 */
package dev.warpwright.verify.mutation;
