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
 *
 * <p>Until the JIT compiler has seen a method often enough, vectors are objects and some hundred
 * times slower. A program that starts its own JVM shortens that from about a second to about a
 * quarter of one by having the generated methods compiled early, and by waiting for it:
 *
 * <pre>{@code
 * -XX:CompileCommand=quiet
 * -XX:CompileCommand=CompileThresholdScaling,dev.warpwright.jvm.Generated*::*,0.02
 * -XX:CompileCommand=BackgroundCompilation,dev.warpwright.jvm.Generated*::*,false
 * }</pre>
 */
package dev.warpwright.jvm;
