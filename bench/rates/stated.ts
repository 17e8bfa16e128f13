/** Rates as benchmarks print them, and as documents state them: which are too slow, and which statements are untrue. */

/** Events a second, of events that are checked against their schemas or not. */
export interface Rate {
  readonly kind: 'trusted' | 'validated';
  readonly perSecond: number;
}

/** What every policy is to reach on one core. */
export const floors: Readonly<Record<Rate['kind'], number>> = { trusted: 600_000, validated: 300_000 };

const units: Readonly<Record<string, number>> = { million: 1e6, thousand: 1e3 };
const numberOf = (text: string): number => Number(text.replaceAll(',', ''));

/** The rates in what a benchmark has printed. */
export function measuredRates(output: string): Rate[] {
  return [...output.matchAll(/(trusted|validated) +([\d,]+) events\/s/g)].map(([, kind, number]) => {
    return { kind: kind as Rate['kind'], perSecond: numberOf(number!) };
  });
}

/** The rates that a document states, of a range the lower end: `0.8 to 1.5 million events a second trusted`. */
export function statedRates(text: string): Rate[] {
  const statement =
    /(?<![\d/.,])(\d[\d,.]*)(?:\s+to\s+\d[\d,.]*)?(?:\s+(million|thousand))?(?:\s+events(?:\/s|\s+a\s+second))?\s+(trusted|validated)/g;
  return [...text.matchAll(statement)].map(([, number, unit, kind]) => {
    return { kind: kind as Rate['kind'], perSecond: numberOf(number!) * (units[unit ?? ''] ?? 1) };
  });
}

/** Whether a document speaks of events a second at all, in whatever words. */
export function speaksOfRates(text: string): boolean {
  return /events\s*\/\s*s\b|events\s+(?:a|per)\s+second|(?:ns|nanoseconds|µs)\s+(?:an|per)\s+event/.test(text);
}

/** The rates that no measure of their kind falls short of. */
export function reached(rates: readonly Rate[], measured: readonly Rate[]): Rate[] {
  return rates.filter(({ kind, perSecond }) => {
    const own = measured.filter((one) => one.kind === kind);
    return own.length > 0 && own.every((one) => one.perSecond >= perSecond);
  });
}
