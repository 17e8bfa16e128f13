/** The tables of src/policies/sandbox-timeout/README.md: what each λ saves and costs, how one is chosen, and what exploration does. */
import { table } from '../../scripts/tables/schema-table.ts';
import { timeoutConfig } from '../../src/policies/sandbox-timeout/schema.ts';
import { killedShare, type Outcome, type Recording, recordings, replay, savedShare, type Variant } from './replay.ts';

/** The λ that are tried. */
export const factors = [1, 1.25, 1.5, 2, 3, 4, 6, 8, 16] as const;
const paperFactor = 1.5;
const defaults = timeoutConfig.parse({});
/** λ is chosen on these test cases, and reported on the others. */
const choosingHalf = 0;
const reportedHalf = 1;
/** The variant in which λ is chosen: no minimum that hides it, and a process that has to be started. */
const bare: Variant = { minTimeoutSeconds: 0, startSeconds: 0.05 };
const variants: readonly Variant[] = [{}, { minTimeoutSeconds: 0 }, bare];

const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;
const markdown = ([head, ...rows]: readonly (readonly string[])[]): string => table(head!, rows);

const made = new Map<string, Outcome>();
/** A replay: tables share some of them. */
function replayed(recording: Recording, half: 0 | 1, variant: Variant): Outcome {
  const key = JSON.stringify([recording.name, half, variant]);
  const outcome = made.get(key) ?? replay(recording, half, variant);
  made.set(key, outcome);
  return outcome;
}

const cells = (one: Outcome): string[] => [percent(savedShare(one)), percent(killedShare(one), 2)];

/** Seconds saved and correct runs stopped over λ, on the half that λ was not chosen on. */
export function factorTable(recording: Recording): string {
  const note = (factor: number): string =>
    factor === defaults.timeoutFactor ? ' (default)' : factor === paperFactor ? ' (paper)' : '';
  return markdown([
    ['λ', 'Tmin 2 s: saved', 'killed', 'Tmin 0: saved', 'killed', 'Tmin 0, +50 ms: saved', 'killed'],
    ['fixed 30 s', ...variants.flatMap(() => ['0.0 %', '0.00 %'])],
    ...factors.map((timeoutFactor) => [
      `${timeoutFactor}${note(timeoutFactor)}`,
      ...variants.flatMap((variant) => cells(replayed(recording, reportedHalf, { ...variant, timeoutFactor }))),
    ]),
  ]);
}

/** What the sets are, on the half that is reported. */
export function sizeTable(): string {
  const rows = recordings.map((recording) => {
    const draws = recording.seeds * (recording.bothOrders ? 2 : 1);
    const one = replayed(recording, reportedHalf, { timeoutFactor: paperFactor });
    const each = (value: number): string => (value / draws).toFixed(0);
    const runs = recording.bothOrders ? `${each(2 * one.anchoredRuns)}, each order counted` : each(one.anchoredRuns);
    const seconds = `${each(one.secondsUnderFixed)} s`;
    return [recording.name, each(one.correctRuns), runs, percent(one.overFixed / one.correctRuns, 2), seconds];
  });
  return markdown([
    ['set', 'correct runs', 'with an anchor', 'longer than 30 s', 'seconds under the fixed 30 s'],
    ...rows,
  ]);
}

/** Share of correct runs stopped, the mean over the sets, for each λ. */
export function meanKilled(which: 0 | 1): Map<number, number> {
  return new Map(
    factors.map((timeoutFactor) => {
      const shares = recordings.map((one) => killedShare(replayed(one, which, { ...bare, timeoutFactor })));
      return [timeoutFactor, shares.reduce((sum, share) => sum + share, 0) / shares.length];
    }),
  );
}

/** The smallest λ that stops no more than this share of correct runs. */
export function chosenFactor(killed: ReadonlyMap<number, number>, limit: number): number | undefined {
  return factors.find((factor) => killed.get(factor)! <= limit);
}

/** Which λ is chosen with which limit, on one half, and what it does on the other. */
export function choiceTable(): string {
  const halves = [choosingHalf, reportedHalf] as const;
  const killed = halves.map(meanKilled);
  return markdown([
    ['most that may be killed', 'λ chosen', 'killed on the other half', 'λ if the halves are swapped'],
    ...[0.02, 0.01, 0.005].map((limit) => {
      const [chosen, swapped] = halves.map((which) => chosenFactor(killed[which]!, limit));
      const there = chosen === undefined ? '' : percent(killed[reportedHalf]!.get(chosen)!, 2);
      return [percent(limit), String(chosen ?? 'none'), there, String(swapped ?? 'none')];
    }),
  ]);
}

/** What exploration costs, and what it gives back where machines become slower. */
export function explorationTable(): string {
  const pytest = recordings.find((one) => one.name === 'pytest-langflow')!;
  const slow = { slowFrom: 8, slowdown: 6 };
  return markdown([
    ['exploreEvery', 'as recorded: saved', 'killed', '6 times slower from the 9th run on: saved', 'killed'],
    ...[0, 32, 16, 8, 4].map((exploreEvery) => [
      `${exploreEvery}${exploreEvery === defaults.exploreEvery ? ' (default)' : ''}`,
      ...[{}, slow].flatMap((more) => cells(replayed(pytest, reportedHalf, { ...bare, ...more, exploreEvery }))),
    ]),
  ]);
}

const parts: Readonly<Record<string, () => string>> = {
  sizes: sizeTable,
  livecodebench: () => factorTable(recordings[0]!),
  'pytest-langflow': () => factorTable(recordings[1]!),
  choice: choiceTable,
  exploration: explorationTable,
};
const marked = /<!-- measured: (\S+) -->\n[\s\S]*?<!-- \/measured -->/g;

/** The page with its tables made anew. */
export function measure(page: string): string {
  return page.replace(marked, (_, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`no table is called ${name}`);
    return `<!-- measured: ${name} -->\n\n${part()}\n\n<!-- /measured -->`;
  });
}
