/** An offline profile as a user would measure it, computed from the cost model of each parallelism. */
import type { ProfileRow } from '../../schemas/index.ts';
import type { Hardware } from '../cluster/hardware.ts';
import { secondsOfDecodeStep, secondsOfPrefill } from '../models/cost-model.ts';

const batchSizes = [1, 8, 32, 64, 128, 256];
const sequenceLengths = [512, 2048, 8192, 32_768];

/** Returns the rows for all degrees, batch sizes and lengths. */
export function profileOf({ costs, modelBytes, kvBytesPerToken }: Hardware): ProfileRow[] {
  return costs.flatMap(({ tp, cost }) =>
    batchSizes.flatMap((batchSize) =>
      sequenceLengths.map((sequenceLength) => ({
        tp,
        batchSize,
        sequenceLength,
        decodeStepSeconds: secondsOfDecodeStep(cost, batchSize, batchSize * sequenceLength),
        prefillSeconds: batchSize * secondsOfPrefill(cost, sequenceLength),
        bytes: (modelBytes + kvBytesPerToken * batchSize * sequenceLength) / tp,
      })),
    ),
  );
}
