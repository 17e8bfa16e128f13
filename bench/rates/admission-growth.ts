/**
 * Shows nanoseconds of an event, against other numbers of prompts a round: run by `bench/rates/admission.ts`, in a
 * process for each number. `npx tsx bench/rates/admission-growth.ts PROMPTS`
 */

import { median } from '../support.ts';
import { completionsPerSecond } from './admission-rounds.ts';

const promptsPerRound = Number(process.argv[2]);
const pass = completionsPerSecond(false, Math.ceil(320_000 / promptsPerRound / 8), promptsPerRound);
console.log(1e9 / median(Array.from({ length: 3 }, pass)));
