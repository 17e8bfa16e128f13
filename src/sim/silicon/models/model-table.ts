/** The open models that vLLM, SGLang and TensorRT-LLM are measured with, by their configs. */
import type { ModelConfig } from './config-fields.ts';
import { modelAliases } from './model-aliases.ts';
import { modelRows } from './model-rows.ts';

/** A model of the table. */
export interface ModelEntry {
  /** Name on Hugging Face, such as `Qwen/Qwen2.5-32B`. */
  readonly id: string;
  /** Fields of its `config.json`. */
  readonly config: ModelConfig;
  /** Other names with the same decoder. */
  readonly aliases: readonly string[];
  /** Where the fields are from. */
  readonly source: string;
}

type Value = ModelConfig[string];

const atom = (text: string): Value => {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
};

const blocks = (text: string): Value =>
  text.split(',').flatMap((run) => {
    const [times, group, multiple] = run.split(':');
    const attention = group === '-' ? { no_op: true } : { n_heads_in_group: Number(group) };
    return Array.from({ length: Number(times) }, () => ({ attention, ffn: { ffn_mult: Number(multiple) } }));
  });

function sparse(text: string): Value {
  const [size, chosen] = text.split(':').map(Number);
  return { use_sparse_attention: true, sparse_block_size: size, sparse_topk_blocks: chosen };
}

function list(text: string): Value {
  const [, times = '1', items = text] = /^(\d+)\*(.+)$/.exec(text) ?? [];
  const values = items.split(',').map(atom);
  return Array.from({ length: Number(times) }, () => values).flat();
}

function field(name: string, text: string): readonly [string, Value] {
  if (name === 'quantization') return ['quantization_config', { quant_method: text }];
  if (name === 'block_configs') return [name, blocks(text)];
  if (name === 'sparse_attention_config') return [name, sparse(text)];
  return [name, text.includes(',') ? list(text) : atom(text)];
}

function entries(table: string): readonly ModelEntry[] {
  const [names, ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return rows.map(([id, ...values]) => {
    const given = values.flatMap((text, index) => (text === '-' ? [] : [field(names![index + 1]!, text)]));
    return {
      id: id!,
      config: Object.fromEntries(given),
      aliases: modelAliases[id!]?.split(' ') ?? [],
      source: `config.json of ${id}`,
    };
  });
}

/** The models, by architecture. */
export const models: readonly ModelEntry[] = /* @__PURE__ */ Object.freeze(modelRows.flatMap(entries));
