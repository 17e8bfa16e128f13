/** System calls of a server on its directory and its output, as `strace` has recorded them. */
import { basename, dirname } from 'node:path';

/** A change of a file, of a name, or what forces changes to the disk; begin and end count lines of all traces. */
export type Op = { readonly begin: number; readonly end: number } & (
  | { readonly kind: 'data'; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'cut'; readonly file: number; readonly size: number }
  | { readonly kind: 'name'; readonly name: string; readonly file: number }
  | { readonly kind: 'rename'; readonly from: string; readonly name: string; readonly file: number }
  | { readonly kind: 'unlink'; readonly name: string }
  | { readonly kind: 'sync'; readonly file: number | 'directory' }
  | { readonly kind: 'said'; readonly text: string }
);

/** What is recorded: everything that changes files, and that none of it is by other means, such as shared memory. */
export const recorded = [
  'openat,open,creat,close,dup,dup2,dup3,mmap,io_uring_setup',
  'write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,ftruncate,truncate,fallocate',
  'fsync,fdatasync,sync_file_range,rename,renameat,renameat2,link,linkat,unlink,unlinkat',
].join(',');

interface Call {
  readonly name: string;
  readonly args: string;
  readonly result: number;
  readonly begin: number;
  readonly end: number;
}

/** Yields the calls in the order in which they began; one that the kill has interrupted has no end. */
function callsIn(trace: string, base: number): Call[] {
  const calls: Call[] = [];
  const waiting = new Map<string, { name: string; args: string; begin: number }>();
  const ended = (one: { name: string; args: string; begin: number }, rest: string, end: number): void => {
    const [, args = '', result = ''] = /^(.*)\)\s+= (-?\d+|\?)/.exec(one.args + rest) ?? [];
    if (result !== '?') calls.push({ ...one, args, result: Number(result), end });
  };
  for (const [index, line] of trace.split('\n').entries()) {
    const at = base + index;
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const [, resumed] = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest) ?? [];
    if (resumed !== undefined) {
      ended(waiting.get(thread)!, resumed, at);
      waiting.delete(thread);
      continue;
    }
    const [, name, text] = /^(\w+)\((.*)$/.exec(rest) ?? [];
    if (name === undefined) continue;
    const begun = { name, args: text!, begin: at };
    if (text!.endsWith('<unfinished ...>')) waiting.set(thread, { ...begun, args: text!.slice(0, -16).trimEnd() });
    else ended(begun, '', at);
  }
  for (const one of waiting.values()) calls.push({ ...one, result: Number.NaN, end: Number.POSITIVE_INFINITY });
  return calls.sort((a, b) => a.begin - b.begin);
}

const bytesIn = (args: string): Buffer[] =>
  [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex]) => Buffer.from(hex!.replaceAll('\\x', ''), 'hex'));

/** Files of a directory, from one trace to the next. */
export class Recording {
  readonly ops: Op[] = [];
  readonly #directory: string;
  readonly #names = new Map<string, number>();
  readonly #sizes: number[] = [];
  #lines = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Adds the trace of one process. Throws where it does something that is not understood. */
  add(trace: string): void {
    const open = new Map<number, { file: number | 'directory'; at: number }>();
    for (const call of callsIn(trace, this.#lines)) this.#call(call, open);
    this.#lines += trace.split('\n').length;
  }

  #call({ name, args, result, begin, end }: Call, open: Map<number, { file: number | 'directory'; at: number }>): void {
    if (result < 0) return;
    const span = { begin, end };
    const handle = Number(/^\d+/.exec(args)?.[0] ?? Number.NaN);
    const opened = open.get(handle);
    if (name === 'close') return void open.delete(handle);
    if (name === 'openat' || name === 'open' || name === 'creat') {
      const path = String(bytesIn(args)[0]);
      const isIn = dirname(path) === this.#directory;
      if (isIn) this.#open(basename(path), args, span, (file) => open.set(result, { file, at: 0 }));
      else if (path === this.#directory) open.set(result, { file: 'directory', at: 0 });
      else open.delete(result);
      return;
    }
    if (/^(rename|unlink)/.test(name)) {
      const [from, to] = bytesIn(args).map(String);
      if (dirname(from!) !== this.#directory) return;
      const file = this.#names.get(basename(from!))!;
      this.#names.delete(basename(from!));
      if (to === undefined) return void this.ops.push({ ...span, kind: 'unlink', name: basename(from!) });
      this.#names.set(basename(to), file);
      return void this.ops.push({ ...span, kind: 'rename', from: basename(from!), name: basename(to), file });
    }
    if (handle === 1 && name.startsWith('write')) {
      return void this.ops.push({ ...span, kind: 'said', text: Buffer.concat(bytesIn(args)).toString() });
    }
    if (opened === undefined) return;
    const { file } = opened;
    if (name === 'fsync' || name === 'fdatasync') {
      if (end !== Number.POSITIVE_INFINITY) this.ops.push({ ...span, kind: 'sync', file });
      return;
    }
    if (file === 'directory') return;
    if (name === 'mmap') {
      if (args.includes('MAP_SHARED') && args.includes('PROT_WRITE'))
        throw new Error(`memory is shared with a file: ${args}`);
      return;
    }
    if (name === 'ftruncate') return void this.#cut(file, Number(args.split(', ').at(-1)), span);
    if (name !== 'write' && name !== 'writev' && name !== 'pwrite64')
      throw new Error(`not understood: ${name}(${args})`);
    const whole = Buffer.concat(bytesIn(args));
    const bytes = Number.isNaN(result) ? whole : whole.subarray(0, result);
    const at = name === 'pwrite64' ? Number(args.split(', ').at(-1)) : opened.at;
    if (name !== 'pwrite64') opened.at += bytes.length;
    this.#sizes[file] = Math.max(this.#sizes[file]!, at + bytes.length);
    this.ops.push({ ...span, kind: 'data', file, at, bytes });
  }

  #open(name: string, args: string, span: { begin: number; end: number }, as: (file: number) => void): void {
    let file = this.#names.get(name);
    if (file === undefined) {
      file = this.#sizes.push(0) - 1;
      this.#names.set(name, file);
      this.ops.push({ ...span, kind: 'name', name, file });
    } else if (args.includes('O_TRUNC')) this.#cut(file, 0, span);
    if (args.includes('O_APPEND')) throw new Error(`not understood: ${args}`);
    as(file);
  }

  #cut(file: number, size: number, span: { begin: number; end: number }): void {
    this.#sizes[file] = size;
    this.ops.push({ ...span, kind: 'cut', file, size });
  }
}
