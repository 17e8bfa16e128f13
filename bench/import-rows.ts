/**
 * A million rows (step, prompt, 2 kB of completion, reward), as parquet in row groups of 100,000 and as JSON lines: `rollflex
 * import` and DuckDB reading the same columns, in one run. `PYTHON=… tsx bench/import-rows.ts [ROWS]`; Python needs duckdb and pyarrow.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const python = process.env.PYTHON ?? 'python3';
const rows = process.argv[2] ?? '1000000';
const folder = mkdtempSync(join(tmpdir(), 'rollflex-rows-'));
const run = (command: string, ...args: string[]) => spawnSync(command, args, { encoding: 'utf8' });
const write = `
import json, random, sys
import pyarrow as pa, pyarrow.parquet as pq
folder, rows = sys.argv[1], int(sys.argv[2])
random.seed(1)
words = "the sum of terms and we then check modulo even odd prime so that 12 37 = + therefore \u2264 boxed".split()
base = [" ".join(random.choices(words, k=900))[:2100] for _ in range(2000)]
schema = pa.schema([("step", pa.int64()), ("prompt", pa.string()), ("completion", pa.string()), ("reward", pa.float64())])
with pq.ParquetWriter(f"{folder}/rows.parquet", schema) as out, open(f"{folder}/rows.jsonl", "w") as lines:
    for begin in range(0, rows, 100_000):
        some = []
        for n in range(begin, min(rows, begin + 100_000)):
            at = random.randrange(1900)
            text = (random.choice(base)[at:] + random.choice(base)[:at])[: random.randrange(1900, 2100)]
            some.append({"step": n // 10_000, "prompt": f"Question {n // 8}: {base[n // 8 % 2000][:200]}", "completion": text, "reward": float(n % 2)})
            lines.write(json.dumps(some[-1]) + "\\n")
        out.write_table(pa.Table.from_pylist(some, schema=schema), row_group_size=100_000)
`;
const query = `
import sys, time, duckdb
begun = time.time()
duckdb.sql(f"select count(*), count(distinct prompt), sum(length(completion)), avg(reward), max(step) from '{sys.argv[1]}'").fetchall()
print(time.time() - begun)
`;

try {
  if (run(python, '-c', 'import duckdb, pyarrow').status !== 0)
    console.log(`skipped: ${python} has no duckdb and pyarrow`);
  else {
    const written = run(python, '-c', write, folder, rows);
    if (written.status !== 0) throw new Error(written.stderr);
    for (const name of ['rows.parquet', 'rows.jsonl']) {
      const duck = Number(run(python, '-c', query, join(folder, name)).stdout);
      const begun = performance.now();
      const args = [
        'dist/cli.js',
        'import',
        join(folder, name),
        '--tokens-per-character',
        '0.25',
        '--output',
        '/dev/null',
        '--quiet',
      ];
      const done = run(process.execPath, ...args);
      if (done.status !== 0) throw new Error(done.stderr);
      const own = (performance.now() - begun) / 1000;
      console.log(
        `${name}: rollflex ${own.toFixed(1)} s, DuckDB ${duck.toFixed(1)} s, ${(own / duck).toFixed(1)} times`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
