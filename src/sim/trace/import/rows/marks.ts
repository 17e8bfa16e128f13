/** What engines and trainers write of the end of a response: text, an object, a list, a number or a boolean. */
import { flagOf, isEmpty, isRow, listOf } from './value.ts';

/** How a response ended. `whole`: by itself; `cut`: at a limit of its length; `unknown`: a word that is in no table. */
export type End = 'whole' | 'cut' | 'aborted' | 'failed' | 'pending' | { readonly unknown: string };

/** Words for ends, in lower case and without separators, and who writes them. */
const words: Readonly<Record<Exclude<End, object>, string>> = {
  // OpenAI, vLLM, SGLang; Anthropic; Gemini; verifiers, prime-rl; slime; OpenAI's responses.
  cut:
    'length maxtokens maxlength maxnewtokens maxoutputtokens maxcompletiontokens maxmodellen maxcontext maxcontextlength maxlen ' +
    'truncated truncate truncation cut cutoff overlong incomplete contextlength contextlengthexceeded contextwindow ' +
    'modelcontextwindowexceeded modellength tokenlimit lengthlimit lengthcapped finishreasonlength finishreasonmaxtokens ' +
    'finishlength exceededlength toolong',
  whole:
    'stop stopped endturn eos eostoken eostokenid stopsequence stopstring stopstr stoptoken completed complete finished finish ' +
    'success succeeded ok done end toolcalls toolcall tooluse functioncall normal submitted contentfilter refusal ' +
    'finishreasonstop finishmatchedtoken finishmatchedstr finisheos',
  // SGLang and vLLM; slime; verl's fully asynchronous trainer.
  aborted:
    'abort aborted cancel cancelled canceled interrupt interrupted preempted timeout timedout killed expired evicted disconnected ' +
    'finishabort partial',
  failed: 'error errored failed failure exception finisherror',
  pending: 'pending running inprogress queued waiting',
};

const ends = new Map<string, Exclude<End, object>>();
for (const end of ['cut', 'whole', 'aborted', 'failed', 'pending'] as const) {
  for (const word of words[end].split(' ')) ends.set(word, end);
}

/** How a field tells the end: by words, or as a boolean that means this if it is true, and this if it is false. */
export type MarkKind = 'words' | 'soft' | 'cut' | 'aborted' | 'whole';

const longestWord = 60;
/** `{'type': 'length', 'length': 8192}` as text, `FinishReason.LENGTH`, `<Status.TRUNCATED: 'truncated'>`. */
const inText = /^\{.*?['"](?:type|reason|finish_reason)['"]\s*:\s*['"]([\w -]+)['"]/s;
const ofEnum = /^<?\w+(?:\.\w+)*\.([A-Za-z_]+)(?::.*)?>?$/;

/**
 * Returns the end of a response, from the value of a field; undefined if it says nothing.
 *
 * @param kind - `soft`: only words for a cut and an abort count, because the field may be about something else
 */
export function endOf(value: unknown, kind: MarkKind): End | undefined {
  if (isEmpty(value)) return undefined;
  const list = listOf(value);
  // The last call of a trajectory ended it.
  if (list !== undefined)
    return endOf(
      list.findLast((one) => !isEmpty(one)),
      kind,
    );
  if (isRow(value)) return endOf(value.type ?? value.reason ?? value.finish_reason ?? value.name ?? value.value, kind);
  const end = typeof value === 'string' ? byWord(value) : undefined;
  if (kind === 'soft')
    return end === 'cut' || (end === 'aborted' && /abort|cancel/i.test(String(value))) ? end : undefined;
  if (end !== undefined) return end;
  const flag = flagOf(value);
  if (kind === 'words') {
    // vLLM writes the id of the token at which it stopped; a table may have 1 for "yes, cut".
    if (typeof value !== 'string' || /^\d+$/.test(value.trim()))
      return flag === undefined ? 'whole' : flag ? 'cut' : 'whole';
    return flag === undefined ? { unknown: String(value).slice(0, longestWord) } : flag ? 'cut' : 'whole';
  }
  if (flag === undefined) return { unknown: String(value).slice(0, longestWord) };
  if (kind === 'whole') return flag ? 'whole' : 'cut';
  return flag ? kind : kind === 'cut' ? 'whole' : undefined;
}

function byWord(text: string): Exclude<End, object> | undefined {
  const trimmed = text.trim();
  const word = inText.exec(trimmed)?.[1] ?? ofEnum.exec(trimmed)?.[1] ?? trimmed;
  return word.length > longestWord ? undefined : ends.get(word.toLowerCase().replace(/[^a-z]/g, ''));
}
