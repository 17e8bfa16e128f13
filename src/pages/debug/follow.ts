/// <reference lib="dom" />
/** Goes on with a log that is being written. */
import type { Moment, WhyText } from '../../logs/job/log-view.ts';
import { ask } from '../kit/api.ts';
import { byId, refill } from '../kit/elements.ts';
import { whySection } from '../kit/held.ts';
import { standingSection } from './moment.ts';
import { failed, say } from './status.ts';
import { here, type LogAnswer, log, view } from './view.ts';

/** The actions of the page. */
export interface Pager {
  showLog(answer: LogAnswer): void;
  /** Goes where the URL says. */
  begin(): Promise<void>;
  go(seq: number): void;
  /** Is aborted when another event is shown. */
  signal(): AbortSignal;
}

/** Milliseconds between two checks of a followed log. */
const often = 1000;
/** After so many looks without news, the ages of waiting things are refreshed. */
const seldom = 10;
let looks = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows again what waits, and for how long. */
async function age(signal: AbortSignal): Promise<void> {
  const query = { session: view.session, seq: String(view.seq) };
  byId('standing').replaceChildren(standingSection(await ask<Moment>('event', query, signal)));
  const whole = byId('whole');
  const why = await ask<WhyText>('why', query, signal);
  refill(whole, () => whole.replaceChildren(whySection(why)));
}

/** Checks whether the log has grown. A reader at its end moves on with it. */
async function look(pager: Pager): Promise<void> {
  try {
    const before = here();
    const answer = await ask<LogAnswer>('log', {});
    pager.showLog(answer);
    const now = here();
    if (now === undefined) {
      say('');
      await pager.begin();
    } else if (view.seq === now.seq && now.seq === before?.seq && ++looks % seldom === 0) await age(pager.signal());
    else if (now.seq !== before?.seq || now.closed !== before?.closed) {
      if (before === undefined || view.seq === before.seq || view.seq > now.seq) pager.go(now.seq);
      else {
        byId<HTMLInputElement>('slider').max = String(now.seq);
        byId('last').textContent = `of ${now.seq.toLocaleString('en-US')}`;
      }
    }
  } catch (error) {
    failed(error);
  }
  lookSoon(pager);
}

/** Looks again in a second, if the log is followed. */
export function lookSoon(pager: Pager): void {
  clearTimeout(timer);
  if (log.follow) timer = setTimeout(() => void look(pager), often);
}
