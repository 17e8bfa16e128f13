/** The starts of annealings and their schedules, chosen by trials on batches of video, images and text. */

import type { FlexUlyssesSettings } from '../../../generated/settings/flex-ulysses.ts';
import { isCrowded } from './effort.ts';
import type { Problem } from './problem.ts';
import type { Schedule } from './schedule.ts';

/** The start and the schedule of an annealing. */
export interface Start {
  /** The kind of moves: items move between devices, at any degree; or between top groups, spread or whole. */
  readonly over: 'devices' | 'groups';
  /**
   * `items`, `layers`: see `construct`, `constructGroups` and `constructLayers`; `flat`: everything is spread; `layout`: the
   * current layout, for moves between groups only.
   */
  readonly from: 'items' | 'layers' | 'flat' | 'layout';
  /** Fill of groups of spread items; `best` and `second` are the two best fills in the ranking. */
  readonly fill: number | 'best' | 'second';
  /** Extra weight of excess that sharding cannot mend, see `GroupLayout`. */
  readonly surplusWeight: number;
  readonly temperature: Schedule['temperature'];
  readonly price: Schedule['price'];
  /** Factor of the usual steps. */
  readonly patience: number;
}

const devices: Start = {
  over: 'devices',
  from: 'items',
  fill: 'best',
  surplusWeight: 0,
  temperature: [4.5, 0.03],
  price: [90, 300],
  patience: 1,
};
const evenPrice: Start = { ...devices, temperature: [4.5, 0.009], price: [90, 90] };
const cheap: Start = { ...devices, temperature: [0.9, 0.009], price: [9, 45] };
const costly: Start = { ...devices, temperature: [9, 0.009], price: [90, 90] };
/** Excess stays cheap until the end, which suits tight limits if many items can fill the gaps. */
const pressed: Start = { ...devices, fill: 0, temperature: [1, 0.003], price: [90, 540], patience: 6 };
const hardPressed: Start = { ...pressed, temperature: [3, 0.01], price: [1000, 5000] };
const groups: Start = {
  over: 'groups',
  from: 'layers',
  fill: 0.6,
  surplusWeight: 3,
  temperature: [0.3, 0.02],
  price: [90, 300],
  patience: 1,
};
const coldGroups: Start = { ...groups, fill: 0, surplusWeight: 10, temperature: [0.15, 0.01], price: [90, 180] };
const hotGroups: Start = {
  ...groups,
  from: 'items',
  fill: 0,
  surplusWeight: 0.5,
  temperature: [1.8, 0.01],
  price: [90, 90],
};
const coolGroups: Start = {
  ...groups,
  from: 'items',
  fill: 'best',
  surplusWeight: 0,
  temperature: [0.45, 0.01],
  price: [9, 45],
};
const hotTogether: Start = { ...hotGroups, fill: 0.6, surplusWeight: 0 };
const flatGroups: Start = { ...hotGroups, from: 'flat', surplusWeight: 2 };
const flatDevices: Start = { ...devices, from: 'flat', temperature: [2.7, 0.009], price: [27, 135] };

/** With so few items, steps are cheap, and more starts are tried. */
const few = 128;
export const isFew = ({ items }: Problem): boolean => items <= few;

const forCrowded: readonly Start[] = [
  pressed,
  hardPressed,
  cheap,
  { ...coolGroups, fill: 0.6 },
  { ...cheap, fill: 1 },
  { ...cheap, fill: 'second' },
  coolGroups,
  hotGroups,
  evenPrice,
  flatGroups,
  hotTogether,
];
/** One long annealing finds more than several short ones. */
const patient: Start = { ...groups, temperature: [0.3, 0.01], patience: 6 };
/** With few steps, layouts that cannot be mended must be left early. */
const hurried: Start = { ...patient, surplusWeight: 10 };
/** Starts from an earlier plan, at a temperature low enough to keep parts of it. */
export const again: Start = { ...hurried, from: 'layout', temperature: [0.15, 0.01], patience: 2.5 };
const forFew: readonly Start[] = [
  groups,
  devices,
  coldGroups,
  hotGroups,
  evenPrice,
  { ...evenPrice, fill: 'second' },
  flatGroups,
  cheap,
  { ...costly, fill: 0.6 },
  { ...hotGroups, fill: 'best' },
  flatDevices,
];

/**
 * Returns the starts to try, the most promising first. If there are few items, each start is tried twice, because the result
 * depends on chance.
 */
export function startsFor(problem: Problem, effort: FlexUlyssesSettings['effort']): readonly Start[] {
  if (isCrowded(problem.items, problem.devices))
    return isFew(problem) ? [...forCrowded, costly, flatDevices] : forCrowded;
  if (isFew(problem)) return [...forFew, ...forFew];
  return [effort === 'fast' ? hurried : patient];
}
