/** Deals out the whole items of a few devices anew, by trying all ways: what exchanges of two devices cannot mend. */
import type { Layout } from './layout.ts';
import { slop } from './problem.ts';

/** Devices with most room for work that are tried beside one that is over. */
const partners = 10;
/** With more items than this, there are too many ways. */
const mostItems = 30;
/** Items that are put somewhere in one attempt. */
const budget = 40_000;

class Dealing {
  readonly #layout: Layout;
  readonly #devices: readonly number[];
  readonly #items: readonly number[];
  readonly #work: Float64Array;
  readonly #memory: Float64Array;
  readonly #to: Int32Array;
  readonly #budget: number;
  taken = 0;

  constructor(layout: Layout, devices: readonly number[], items: readonly number[], budget: number) {
    this.#layout = layout;
    this.#budget = budget;
    this.#devices = devices;
    this.#items = items;
    this.#to = new Int32Array(items.length);
    // What is spread stays.
    this.#work = Float64Array.from(devices, (device) => layout.work[device]!);
    this.#memory = Float64Array.from(devices, (device) => layout.memory[device]!);
    for (const item of items) {
      const at = devices.indexOf(layout.group[item]!);
      this.#work[at]! -= layout.problem.work[item]!;
      this.#memory[at]! -= layout.problem.memory[item]!;
    }
  }

  /** Puts the items from one on, most work first; true if no device is over in the end. */
  deal(from: number): boolean {
    if (from === this.#items.length) return true;
    this.taken += 1;
    if (this.taken > this.#budget) return false;
    const { work, memory } = this.#layout.problem;
    const item = this.#items[from]!;
    for (let at = 0; at < this.#devices.length; at += 1) {
      if (this.#work[at]! + work[item]! > 1 + slop || this.#memory[at]! + memory[item]! > 1 + slop) continue;
      this.#work[at]! += work[item]!;
      this.#memory[at]! += memory[item]!;
      this.#to[from] = at;
      if (this.deal(from + 1)) return true;
      this.#work[at]! -= work[item]!;
      this.#memory[at]! -= memory[item]!;
    }
    return false;
  }

  carryOut(): void {
    this.#items.forEach((item, at) => {
      this.#layout.put(item, 0, this.#devices[this.#to[at]!]!);
    });
  }
}

/** What is whole on each device, and how much more may be tried. */
interface Bench {
  readonly layout: Layout;
  readonly whole: number[][];
  left: number;
}

/** Deals out the items of some devices so that all keep their limits, if that can be and a way is found. */
function dealt(bench: Bench, devices: readonly number[]): boolean {
  const { layout, whole } = bench;
  const sum = (of: Float64Array): number => devices.reduce((total, device) => total + of[device]!, 0);
  if (sum(layout.work) > devices.length || sum(layout.memory) > devices.length) return false;
  const items = devices.flatMap((device) => whole[device]!).sort((a, b) => a - b);
  if (items.length > mostItems) return false;
  const dealing = new Dealing(layout, devices, items, Math.min(budget, bench.left));
  const found = dealing.deal(0);
  bench.left -= dealing.taken;
  if (!found) return false;
  dealing.carryOut();
  for (const device of devices) whole[device] = items.filter((item) => layout.group[item] === device);
  return true;
}

/** Mends a device together with two or three of those with most room for work. */
function mendDevice(bench: Bench, device: number): boolean {
  const { work, problem } = bench.layout;
  const others = Array.from({ length: problem.devices }, (_, one) => one).filter((one) => one !== device);
  others.sort((a, b) => work[a]! - work[b]! || a - b);
  const few = others.slice(0, partners);
  for (const size of [2, 3]) {
    for (const chosen of choices(few, size)) {
      if (bench.left <= 0) return false;
      if (dealt(bench, [device, ...chosen])) return true;
    }
  }
  return false;
}

/** All ways to choose so many of a list, those from its beginning first. */
function* choices(from: readonly number[], size: number): Generator<number[]> {
  if (size === 0) yield [];
  else
    for (let at = 0; at < from.length; at += 1)
      for (const rest of choices(from.slice(0, at), size - 1)) yield [...rest, from[at]!];
}

/**
 * Mends devices that are over their limits, each with two or three others.
 *
 * @param steps - items that may be put somewhere
 * @returns whether no device is over a limit
 */
export function repack(layout: Layout, steps: number): boolean {
  const { devices, items } = layout.problem;
  const whole: number[][] = Array.from({ length: devices }, () => []);
  for (let item = 0; item < items; item += 1) if (layout.level[item] === 0) whole[layout.group[item]!]!.push(item);
  const bench: Bench = { layout, whole, left: steps };
  for (let device = 0; device < devices; device += 1)
    if (layout.load(device) > 1 + slop && !mendDevice(bench, device)) return false;
  return true;
}
