/** Causes of the row of RolloutPipe. */
import { figuresOf, table1 } from '../../papers/rolloutpipe.ts';
import { type CauseTest, shown } from './cause.ts';

export function* rolloutpipeCauses(): Generator<CauseTest> {
  const train = table1['sci-xw'][96][2];
  const { both } = figuresOf('sci-xw', 96, [1, 2, 3]);
  yield {
    rows: ['waiting-both-sci-xw-96'],
    cause: 'contradiction in the paper',
    changed: `the paper's own 642 s of this round, less the ${shown(train)} s of training that its Table 1 has`,
    became: `${shown(1 - train / 642)} in the paper, ${shown(both.computeWaitingRatio)} here`,
  };
}
