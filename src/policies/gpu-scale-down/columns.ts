import { IndexRoom } from '../../core/string-index.ts';

/**
 * What a report is read into and worked out in. It is kept from one report to the next: to make such columns anew costs
 * as much as to fill them. After the decision only `ids`, `room`, `from`, `to` and `tokens` are needed, as long as
 * requests move; no report is read in that time, as none is asked for until the release is over. Columns are not saved.
 */
export class Columns {
  /** The place of the engine of each request and its group; −1 where the engine is not known, or the request gone. */
  cells = new Int32Array(0);
  /** Tokens that each holds in the KV cache, prompt and response. */
  kvTokens = new Float64Array(0);
  /** Tokens that each has generated, up to the cap. */
  generated = new Int32Array(0);
  /** The place where each is after the migration. */
  places = new Int32Array(0);
  /** Rows in the order in which they reach the cap. */
  order = new Int32Array(0);
  /** The same by place. */
  spare = new Int32Array(0);
  /** Requests that leave their engine, in the order of the report: where they stand in it. */
  rows = new Int32Array(0);
  /** The bin of what each of them weighs. */
  bins = new Uint16Array(0);
  /** In the order in which they are dealt out, the target of each. */
  targets = new Int32Array(0);
  /** The place of the engine that each leaves. */
  from = new Int32Array(0);
  /** That of the engine that it goes to. */
  to = new Int32Array(0);
  /** Both as one number: which of those that leave, and which target. */
  pairs = new Int32Array(0);
  /** Their ids. */
  ids: string[] = [];
  /** The hashes of these. */
  hashes = new Int32Array(0);
  /** Tokens that they have generated. */
  tokens = new Float64Array(0);
  /** The index of the ids. */
  readonly room = new IndexRoom();

  /** Makes room for so many requests. */
  reserve(requests: number): this {
    if (requests <= this.cells.length) return this;
    const size = requests + (requests >> 2);
    this.cells = new Int32Array(size);
    this.kvTokens = new Float64Array(size);
    this.generated = new Int32Array(size);
    this.places = new Int32Array(size);
    this.order = new Int32Array(size);
    this.spare = new Int32Array(size);
    this.rows = new Int32Array(size);
    this.bins = new Uint16Array(size);
    this.pairs = new Int32Array(size);
    this.targets = new Int32Array(size);
    this.ids = new Array(size).fill('');
    this.hashes = new Int32Array(size);
    this.from = new Int32Array(size);
    this.to = new Int32Array(size);
    this.tokens = new Float64Array(size);
    return this;
  }
}
