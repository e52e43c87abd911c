/**
 * The CPU back end: compiles a host {@link dev.warpwright.ir.Kernel} to bytecode and runs it.
 *
 * <p>{@link dev.warpwright.jvm.HostCompiler} writes one hidden class for a kernel. Buffers are Java
 * arrays, vector expressions are values of {@code jdk.incubator.vector}, parallel loops go to a
 * {@link dev.warpwright.jvm.Parallel}. The JIT compiler decides what such code is worth, so its
 * rules shape the code:
 *
 * <ul>
 *   <li>methods over 8000 bytecodes are never compiled, and methods with several hundred vector
 *       operations badly: loop nests become methods of their own, their free variables parameters;
 *   <li>vectors live in registers only as long as they are plain local variables: local buffers
 *       that are accessed at constant indices become local variables;
 *   <li>species and operators must be constants: they are read from static final fields.
 * </ul>
 */
@NullMarked
package dev.warpwright.jvm;

import org.jspecify.annotations.NullMarked;
