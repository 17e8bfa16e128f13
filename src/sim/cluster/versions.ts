/** Which weights have generated the tokens of each response: those that it keeps over rounds come from older ones. */
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';

type Launch = Extract<VocabularyDecision, { type: 'request.launch' }>;

/** Trained tokens that are behind the weights that they train. */
export interface Behind {
  /** Tokens from older weights. */
  readonly staleTokens: number;
  /** The same, each times the number of versions by which it is behind. */
  readonly laggingTokens: number;
  /** Most versions by which a token is behind. */
  readonly lag: number;
}

/** Tokens from `fromTokens` on are of this version, up to those of the next span. */
interface VersionSpan {
  readonly weightVersion: number;
  readonly fromTokens: number;
}

/** The versions of all tokens of the prompts that are not trained yet. */
export class TokenVersions {
  readonly #spans = new Map<string, Map<number, VersionSpan[]>>();

  /** Records that a request has begun, or goes on from tokens that were kept. */
  launched({ promptId, index, weightVersion, resumeFrom }: Launch): void {
    let ofPrompt = this.#spans.get(promptId);
    if (ofPrompt === undefined) {
      ofPrompt = new Map();
      this.#spans.set(promptId, ofPrompt);
    }
    if (resumeFrom === undefined) ofPrompt.set(index, [{ weightVersion, fromTokens: 0 }]);
    else this.goesOn(promptId, index, { weightVersion, fromTokens: resumeFrom.tokens });
  }

  /** Records that a response goes on with other weights. */
  goesOn(promptId: string, index: number, span: VersionSpan): void {
    this.#spans.get(promptId)!.get(index)!.push(span);
  }

  /** Counts the tokens of a prompt that is trained into weights of this version, and forgets it. */
  trained(
    promptId: string,
    responses: readonly { readonly index: number; readonly tokens: number }[],
    weightVersion: number,
  ): Behind {
    const ofPrompt = this.#spans.get(promptId);
    this.#spans.delete(promptId);
    let [staleTokens, laggingTokens, lag] = [0, 0, 0];
    for (const { index, tokens } of responses) {
      const spans = ofPrompt?.get(index) ?? [];
      spans.forEach((span, at) => {
        const count = (spans[at + 1]?.fromTokens ?? tokens) - span.fromTokens;
        const behind = weightVersion - span.weightVersion;
        if (count <= 0 || behind <= 0) return;
        staleTokens += count;
        laggingTokens += count * behind;
        lag = Math.max(lag, behind);
      });
    }
    return { staleTokens, laggingTokens, lag };
  }
}
