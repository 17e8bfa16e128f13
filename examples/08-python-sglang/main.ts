/** Runs `main.py`: in a clone with the Python package of it and the command line of its sources, elsewhere with what is installed. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const isNewEnough = 'import sys; sys.exit(sys.version_info < (3, 10))';
const python = ['python3', 'python'].find((name) => spawnSync(name, ['-c', isNewEnough]).status === 0);

if (python === undefined) {
  console.log('skipped: there is no Python 3.10 or newer');
} else {
  const env = {
    PYTHONPATH: `${root}python/src`,
    PYTHONDONTWRITEBYTECODE: '1',
    ROLLFLEX_COMMAND: `"${process.execPath}" --import tsx "${root}src/cli/bin.ts"`,
    ...process.env,
  };
  const run = spawnSync(python, [`${root}examples/08-python-sglang/main.py`], { cwd: root, env, stdio: 'inherit' });
  process.exitCode = run.status ?? 1;
}
