/** Nanoseconds of an event with `tsx bench/growth.ts <prompts a round>`, for bench/admission.ts. */
import { completionsPerSecond } from './rounds.ts';
import { median } from './support.ts';

const promptsPerRound = Number(process.argv[2]);
const pass = completionsPerSecond(false, Math.ceil(320_000 / promptsPerRound / 8), promptsPerRound);
console.log(1e9 / median(Array.from({ length: 3 }, pass)));
