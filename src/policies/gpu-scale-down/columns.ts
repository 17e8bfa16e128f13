/**
 * What a report is read into and worked out in. It is kept from one report to the next: to make such columns anew costs
 * as much as to fill them. After the decision only `from`, `to` and `tokens` are needed, as long as requests move; no
 * report is read in that time, as none is asked for until the release is over. Columns are not saved.
 */
export class Columns {
  /** Place of the engine of each request; −1 where it is not known, or the request is gone. */
  places = new Int32Array(0);
  /** The group of each request. */
  groups = new Uint16Array(0);
  /** Tokens that each holds in the KV cache, prompt and response. */
  kvTokens = new Float64Array(0);
  /** Requests that leave their engine, in the order of the report: where they stand in it. */
  rows = new Int32Array(0);
  /** The bin of what each of them weighs. */
  bins = new Uint16Array(0);
  /** Where each of them stands in the order in which they move. */
  positions = new Int32Array(0);
  /** In that order, the place of the engine that each goes to. */
  targets = new Int32Array(0);
  /** Of those that move, in the order of the report: the place of the engine that each request leaves. */
  from = new Int32Array(0);
  /** That of the engine that it goes to. */
  to = new Int32Array(0);
  /** Tokens that it has generated. */
  tokens = new Float64Array(0);

  /** Makes room for so many requests. */
  reserve(requests: number): this {
    if (requests <= this.places.length) return this;
    const size = requests + (requests >> 2);
    this.places = new Int32Array(size);
    this.groups = new Uint16Array(size);
    this.kvTokens = new Float64Array(size);
    this.rows = new Int32Array(size);
    this.bins = new Uint16Array(size);
    this.positions = new Int32Array(size);
    this.targets = new Int32Array(size);
    this.from = new Int32Array(size);
    this.to = new Int32Array(size);
    this.tokens = new Float64Array(size);
    return this;
  }
}
