// What the page opens on, and other GEMMs that people ask about. GPUs are named as the catalogue of devices finds them.

const A100 = {gpu: 'a100', cache: 41.943, sms: 108};

/** Each: a shape, a GPU, the order that it begins with. */
export const PRESETS = {
  'llama3-8b-ffn': {name: 'Llama-3-8B FFN, up, 2048 tokens', ...A100, shape: {m: 2048, n: 14336, k: 4096, n2: 0, tm: 128, tn: 256, tk: 128}, order: 'row'},
  'llama3-8b-down': {name: 'Llama-3-8B FFN, down, 2048 tokens', ...A100, shape: {m: 2048, n: 4096, k: 14336, n2: 0, tm: 128, tn: 128, tk: 512}, order: 'row'},
  'llama3-8b-pair': {name: 'Llama-3-8B FFN, up and down in one kernel', ...A100, shape: {m: 2048, n: 14336, k: 4096, n2: 4096, tm: 128, tn: 256, tk: 512}, order: 'rows:4', cached: true},
  'llama3-8b-decode': {name: 'Llama-3-8B FFN, up, 64 sequences decode', ...A100, shape: {m: 64, n: 14336, k: 4096, n2: 0, tm: 64, tn: 128, tk: 128}, order: 'row'},
  'llama2-13b-ffn': {name: '13B model FFN, up, 64 tokens', ...A100, shape: {m: 64, n: 13824, k: 5120, n2: 0, tm: 64, tn: 128, tk: 128}, order: 'row'},
  'llama3-70b-ffn': {name: 'Llama-3-70B FFN, up, 2048 tokens', ...A100, shape: {m: 2048, n: 28672, k: 8192, n2: 0, tm: 128, tn: 256, tk: 256}, order: 'row'},
  'gpt3-ffn': {name: 'GPT-3 FFN, up, 2048 tokens', ...A100, shape: {m: 2048, n: 49152, k: 12288, n2: 0, tm: 256, tn: 512, tk: 512}, order: 'row'},
  'square-8192': {name: '8192 × 8192 × 8192', ...A100, shape: {m: 8192, n: 8192, k: 8192, n2: 0, tm: 256, tn: 256, tk: 512}, order: 'row'},
};

export const FIRST = 'llama3-8b-ffn';

/** A small board of equal blocks, to draw on by hand. */
export const BLOCKS = 'blocks';
