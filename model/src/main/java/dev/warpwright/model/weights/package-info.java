/**
 * Files with weights and no graph: safetensors, and state dicts as {@code torch.save} writes them.
 *
 * <p>{@link dev.warpwright.model.weights.SafetensorsReader} and {@link
 * dev.warpwright.model.weights.StateDictReader} give the same {@link
 * dev.warpwright.model.weights.Weights}. A state dict is a {@link
 * dev.warpwright.model.zip.ZipArchive} with a pickle in it, which {@link
 * dev.warpwright.model.weights.PickleMachine} executes: it can build tensors and dictionaries and
 * nothing else. The tensors' bytes stay where they are in the file.
 */
package dev.warpwright.model.weights;
