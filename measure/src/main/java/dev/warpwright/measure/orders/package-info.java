/**
 * What orders of tiles cost on a device: time, counters of Nsight Compute, and which SM computed
 * which tile when.
 *
 * <p>An {@link dev.warpwright.measure.orders.OrderMeasurer} answers: {@link
 * dev.warpwright.measure.orders.GpuOrderMeasurer} by the GPU of this machine, {@link
 * dev.warpwright.measure.orders.RecordedOrders} by what an H200 once said, {@link
 * dev.warpwright.measure.orders.SimulatedOrderMeasurer} by the simulator, which knows the course of
 * things but no times.
 */
package dev.warpwright.measure.orders;
