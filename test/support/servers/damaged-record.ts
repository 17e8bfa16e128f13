/** Records of a session that are not as they were written. */

/** How a record may be damaged. */
export const damagesOfRecords = ['seal', 'flipped', 'truncated', 'garbage'] as const;
export type DamageOfRecord = (typeof damagesOfRecords)[number];

/** Digits of the seal before each record. */
const digits = 16;

function damaged(record: string, damage: DamageOfRecord, choice: number): string {
  const place = damage === 'seal' ? choice % digits : digits + (choice % (record.length - digits));
  switch (damage) {
    case 'truncated':
      return record.slice(0, place);
    case 'garbage':
      return '\u0000garbage';
    default:
      return `${record.slice(0, place)}${record[place] === '1' ? '2' : '1'}${record.slice(place + 1)}`;
  }
}

/** Returns the records of a store in which one of a session is damaged: `choice` says which, and where. */
export function damagedRecord(
  data: ReadonlyMap<string, string>,
  session: string,
  damage: DamageOfRecord,
  choice: number,
): Map<string, string> {
  const first = [...data].find(([, value]) =>
    value.slice(digits).startsWith(`{"session":${JSON.stringify(session)},`),
  )!;
  const prefix = first[0].slice(0, first[0].lastIndexOf('/'));
  const keys = [...data.keys()].filter((key) => key.startsWith(prefix)).sort();
  const key = keys[choice % keys.length]!;
  return new Map(data).set(key, damaged(data.get(key)!, damage, choice));
}
