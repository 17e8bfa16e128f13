/** The tables of models and GPUs that a user may name. */
import { gpus } from '../../src/sim/silicon/gpus.ts';
import { shapeOf } from '../../src/sim/silicon/models/model-config.ts';
import { models } from '../../src/sim/silicon/models/model-table.ts';
import { measuredSupport } from '../../src/sim/silicon/support.ts';
import { table } from './schema-table.ts';

const short = (id: string): string => id.slice(id.indexOf('/') + 1);

/** Returns the models as a list of families, each with its other names. */
export function modelList(): string {
  const families = new Map<string, string[]>();
  for (const { id, config, aliases } of models) {
    const { family } = shapeOf(config, id);
    const names = [short(id), ...aliases].map((one) => `\`${one}\``).join(' = ');
    families.set(family, [...(families.get(family) ?? []), names]);
  }
  const lists = [...families].map(([family, names]) => `- **${family}**: ${names.join(', ')}`);
  return [`${models.length} models; \`=\` is another name, or a model with the same decoder.`, '', ...lists].join('\n');
}

/** Returns the GPUs. */
export function gpuTable(): string {
  return table(
    ['`--gpu`', 'GPU', 'Memory', 'Bandwidth', 'bf16 · fp8 · fp4', 'Link, GPUs of a domain', 'Measured'],
    gpus.map((one) => {
      const speeds = [one.tflops, one.fp8Tflops, one.fp4Tflops].map((speed) => speed?.toLocaleString('en') ?? '–');
      return [
        `\`${one.id}\``,
        one.label,
        `${one.memoryGb} GB`,
        `${one.bandwidthGbps.toLocaleString('en')} GB/s`,
        `${speeds.join(' · ')} TFLOP/s`,
        `${one.linkGbps} GB/s, ${one.gpusPerDomain}`,
        measuredSupport.gpus.includes(one.id) ? 'yes' : '',
      ];
    }),
  );
}
