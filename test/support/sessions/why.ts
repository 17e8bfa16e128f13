/** Answers of `why` in brief. */
import type { Why } from '../../../src/index.ts';

/** Returns who owes which events, with the ids in them. */
export function owedBy({ owed }: Pick<Why, 'owed'>): string[] {
  return owed.map(({ who, by, event: { type, ...ids } }) =>
    [by === undefined ? `${who}:` : `${who} ${by}:`, type, ...Object.values(ids)].join(' '),
  );
}

/** Returns where a thing and all that it waits for stand, and then who owes which events. */
export function told(why: Why): string[] {
  return [...[why, ...why.through].map(({ id, stands }) => `${id} ${stands}`), ...owedBy(why)];
}
