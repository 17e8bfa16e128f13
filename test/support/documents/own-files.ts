/** The files that command lines in the documentation read: a reader's own traces and logs. */
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, recordEvents, tailBatching } from '../../../src/index.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { pathOf } from '../../zoo/files.ts';
import { plainJob, plainWorkload, recording } from '../simulator/host.ts';

/** Response lengths in the project's format: 40 prompts with 8 responses each. */
export function ownLengths(): string {
  const prompt = (index: number) => ({
    prompt: `q${index}`,
    promptTokens: 100 + index,
    responses: Array.from({ length: 8 }, (_, k) => ({
      tokens: 200 + ((index * 37 + k * 101) % 600) + (index % 7 === 0 ? 3000 : 0),
    })),
  });
  return `${Array.from({ length: 40 }, (_, index) => JSON.stringify(prompt(index))).join('\n')}\n`;
}

/** What verl writes into `trainer.rollout_data_dir`, a file a step: 8 prompts with 8 responses each, the later the longer. */
function ownDump(step: number): string {
  const row = (prompt: number, k: number): string => {
    const words =
      150 + ((step * 211 + prompt * 367 + k * 101) % 700) + ((prompt + step) % 8 === 0 ? 700 * step + 90 * k : 0);
    const input = `user\nproblem ${step * 8 + prompt}\nassistant\n`;
    return JSON.stringify({ input, output: 'seven '.repeat(words), gts: '7', score: (prompt + k) % 2, step });
  };
  return Array.from({ length: 64 }, (_, index) => `${row(index % 8, Math.floor(index / 8))}\n`).join('');
}

/**
 * More of them: 16 steps of 8 prompts with 2 responses each, of which one prompt in eight is long. These are the fewest prompts of
 * which a search keeps a half for its confirmation, and a sixth of the responses of the run that the pages show.
 */
function longerDump(step: number): string {
  const row = (prompt: number, k: number): string => {
    const isLong = (prompt + step) % 8 === 0;
    const words = 150 + ((step * 211 + prompt * 367 + k * 101) % 500) + (isLong ? 2500 + 250 * ((step + k) % 12) : 0);
    const input = `user\nproblem ${step * 8 + prompt}\nassistant\n`;
    return JSON.stringify({ input, output: 'seven '.repeat(words), gts: '7', score: (prompt + k) % 2, step });
  };
  return Array.from({ length: 16 }, (_, index) => `${row(index % 8, Math.floor(index / 8))}\n`).join('');
}

/** Seconds of three of its steps, as a job might have taken them. */
export function ownMeasurements(): string {
  const rollouts = [
    { trace: 'mine.jsonl', step: 1, seconds: 35.9, rewardSeconds: 4, trainSeconds: 41.0, syncSeconds: 3.1 },
    { trace: 'mine.jsonl', step: 4, seconds: 62.4, rewardSeconds: 6, trainSeconds: 44.8, syncSeconds: 3.2 },
    { trace: 'mine.jsonl', step: 3, seconds: 52.0, rewardSeconds: 5, trainSeconds: 43.9, syncSeconds: 3.1 },
  ];
  return JSON.stringify({ rollouts });
}

/** Rollouts of a reader's own job, the tokenizer of its model, and what was measured. */
export function writeOwnJob(folder: string): void {
  mkdirSync(join(folder, 'rollouts'));
  for (const step of [1, 2, 3, 4]) writeFileSync(join(folder, `rollouts/${step}.jsonl`), ownDump(step));
  mkdirSync(join(folder, 'dump'));
  for (let step = 1; step <= 16; step += 1) writeFileSync(join(folder, `dump/${step}.jsonl`), longerDump(step));
  const tokenizer = new URL('../../fixtures/import/tokenizer.json', import.meta.url);
  copyFileSync(tokenizer, join(folder, 'tokenizer.json'));
  writeFileSync(join(folder, 'measured.json'), ownMeasurements());
}

/** Rewards of one group. */
export function rewardsOfOneGroup(): string {
  return '{"groups": [{"rewards": [1, 0, 0]}], "normalization": "none"}';
}

/** An event log of ten rounds on two engines; in the last one a response does not come, while an engine goes on reporting. */
export function logOfAStuckRound(): string {
  const lines: string[] = [];
  const settings = { promptsPerRound: 2, responsesPerPrompt: 2, promptSpeculation: 1, responseSpeculation: 1 };
  const tail = create(tailBatching, { ...settings, placement: 'policy' });
  recordEvents(tail, (line) => lines.push(line));
  for (const engineId of ['vllm-0', 'vllm-1']) tail.send({ type: 'engine.added', at: 0, engineId });
  let at = 10;
  for (let round = 1; round <= 10; round += 1) {
    const roundId = `step-${round}`;
    tail.send({ type: 'round.requested', at, roundId, weightVersion: round });
    const prompts = [0, 1].map((index) => ({ promptId: `q${2 * round + index}` }));
    const launched = tail.send({ type: 'prompts.supplied', at: at + 1, roundId, prompts });
    const requests = launched.flatMap((one) => (one.type === 'request.launch' ? [one.requestId] : []));
    for (const [index, requestId] of requests.entries()) {
      if (round === 10 && index === 3) continue;
      tail.send({ type: 'response.completed', at: at + 20 + 7 * index + round, requestId, tokens: 400 + 50 * index });
    }
    at += 90;
  }
  for (let time = at; time < at + 3000; time += 300) tail.send({ type: 'engine.added', at: time, engineId: 'vllm-0' });
  return `${lines.join('\n')}\n`;
}

/** An event log of one short round. */
export function logOfOneRound(): string {
  const lines: string[] = [];
  const tail = create(tailBatching, { promptsPerRound: 2, responsesPerPrompt: 2 });
  recordEvents(tail, (line) => lines.push(line));
  tail.send({ type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 });
  const prompts = ['a', 'b', 'c'].map((promptId) => ({ promptId }));
  tail.send({ type: 'prompts.supplied', at: 0, roundId: 'r1', prompts });
  for (const [index, requestId] of ['a/0#0', 'a/1#0', 'b/0#0', 'b/1#0'].entries()) {
    tail.send({ type: 'response.completed', at: 10 + index, requestId, tokens: 400 + 10 * index });
  }
  for (const requestId of ['a/2#0', 'b/2#0', 'c/0#0', 'c/1#0', 'c/2#0']) {
    tail.send({ type: 'request.aborted', at: 14, requestId, tokens: 300 });
  }
  return `${lines.join('\n')}\n`;
}

/** An event log of six rounds of tail batching, with responses of which one in sixteen is long. */
function logOfAJob(): string {
  const lines: string[] = [];
  const job = plainJob({ engines: 2, promptsPerRound: 8, responsesPerPrompt: 4 }, { trainBaseSeconds: 5 });
  const workload = plainWorkload(
    (prompt, k) => 80 + ((prompt * 37 + k * 101) % 300) + ((prompt * 5 + k) % 16 ? 0 : 1500),
    2000,
  );
  simulate(job, recording(tailBatchingScheduler(job), lines), workload, {
    prompts: 1000,
    until: 48,
    seed: 1,
    timeline: false,
  });
  return `${lines.join('\n')}\n`;
}

/** `my-sequences.jsonl`: text, images, and videos of 8 to 120 frames, one sequence a line. */
export function ownSequences(): string {
  return Array.from({ length: 32 }, (_, index) => {
    const prompt = { promptTokens: 60 + 5 * index, responseTokens: 100 + ((index * 37) % 400) };
    const images = { images: 1 + (index % 3), visualTokens: 400 * (1 + (index % 3)) };
    const seen = [{}, images, { frames: 8 + 16 * (index % 8), width: 1280, height: 720 }][index % 3];
    return `${JSON.stringify({ ...prompt, ...seen })}\n`;
  }).join('');
}

/** Logs of the zoo, under the names of a reader's own. */
function writeStuckLogs(folder: string): void {
  const logs = {
    'nemo-rl': 'nemo-rl-3938',
    slime: 'slime-2176',
    trl: 'trl-6796',
    'prime-rl': 'prime-rl-2912',
    slow: 'slow-5',
  };
  for (const [name, log] of Object.entries(logs)) copyFileSync(pathOf(log), join(folder, `${name}.jsonl`));
  cpSync(pathOf('skyrl-1691'), join(folder, 'skyrl-log'), { recursive: true });
}

/** All of them, under the names that the documentation gives them. */
export function writeOwnFiles(folder: string): void {
  writeFileSync(join(folder, 'my-lengths.jsonl'), ownLengths());
  writeFileSync(join(folder, 'my-sequences.jsonl'), ownSequences());
  writeFileSync(join(folder, 'run.jsonl'), logOfOneRound());
  writeFileSync(join(folder, 'job.jsonl'), logOfAJob());
  writeFileSync(join(folder, 'stuck.jsonl'), logOfAStuckRound());
  writeFileSync(join(folder, 'rewards.json'), rewardsOfOneGroup());
  writeOwnJob(folder);
  writeStuckLogs(folder);
}
