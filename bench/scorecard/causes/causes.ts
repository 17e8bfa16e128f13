/**
 * Shows why rows of the scorecard are off by more than a quarter, against what they are with one thing changed:
 * `npx tsx bench/scorecard/causes/causes.ts`. Keeps what docs/reproduction.md shows in causes.json.
 */
import { writeFileSync } from 'node:fs';
import { type CauseTest, causesFile } from './cause.ts';
import { flexrlCauses } from './flexrl.ts';
import { rolloutpipeCauses } from './rolloutpipe.ts';
import { rollpackerCauses } from './rollpacker.ts';

function main(): void {
  const kept: CauseTest[] = [];
  for (const causes of [rollpackerCauses, rolloutpipeCauses, flexrlCauses]) {
    for (const one of causes()) {
      kept.push(one);
      console.log(one.rows.join(', '), '|', one.cause, '|', one.changed, '|', one.became);
    }
  }
  writeFileSync(causesFile, `${JSON.stringify(kept, null, 1)}\n`);
}

main();
