/** The folders of `rollflex new`: a copy of an example, with what makes it a project of its own. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { refuse } from '../../errors.ts';
import { packageRoot, packageVersion } from '../../logs/index/package.ts';

/** What can be made: the example that it is a copy of, and its language. */
export const kinds = Object.freeze({
  host: { example: '15-own-host', language: 'typescript' },
  policy: { example: '16-own-policy', language: 'typescript' },
  trainer: { example: '17-own-trainer', language: 'python' },
} as const);

/** What a new folder begins with. */
export type NewKind = keyof typeof kinds;

const commands = {
  typescript: ['npm install', 'npm start', 'npm test'],
  python: ['pip install pytest mypy', 'python trainer.py', 'pytest'],
} as const;

/**
 * Makes a folder below the working directory.
 *
 * @returns its files, and the commands that come next, as one line
 * @throws PolicyError `invalid_input` for a name that is no plain name, or a folder that has something in it
 */
export function makeFolder(kind: NewKind, name: string): { readonly files: readonly string[]; readonly next: string } {
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name)) {
    refuse('invalid_input', 'name', 'small letters, digits, ., _ and -, such as my-host', name);
  }
  const folder = resolve(name);
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    refuse('invalid_input', 'name', 'a folder that is empty or not there', folder);
  }
  const { example, language } = kinds[kind];
  const from = join(packageRoot(), 'examples', example);
  mkdirSync(folder, { recursive: true });
  cpSync(from, folder, { recursive: true });
  if (kind === 'policy') rename(folder, name);
  writeFileSync(join(folder, 'README.md'), readme(name, folder, commands[language]));
  if (language === 'typescript') {
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(name, folder), null, 2)}\n`);
    writeFileSync(join(folder, 'tsconfig.json'), `${JSON.stringify(typescript, null, 2)}\n`);
    // A copy of the package, with what it needs, and no link into its folder.
    writeFileSync(join(folder, '.npmrc'), 'install-links=true\n');
  }
  return { files: readdirSync(folder).sort(), next: commands[language].join(' && ') };
}

/** The page of the example, with the commands of the folder in place of those of the example, and without links that lead out. */
function readme(name: string, folder: string, lines: readonly string[]): string {
  return readFileSync(join(folder, 'README.md'), 'utf8')
    .replace(/^# .*$/m, `# ${name}`)
    .replace(/^```sh\n[\s\S]*?\n```$/m, ['```sh', ...lines, '```'].join('\n'))
    .replace(/\s?`(?:python -m )?rollflex new [\s\S]*?(?<=\.)(?=\n\n)/, '')
    .replace(/\[([^\]]+)\]\(\.\.[^)]*\)/g, '$1');
}

const typescript = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
  },
};

function manifest(name: string, folder: string): object {
  return {
    name,
    private: true,
    type: 'module',
    // Files by name: Node 20 takes those with other endings for no tests, and no test at all for a success.
    scripts: { start: 'tsx main.ts', test: `tsc && tsx --test ${testsIn(folder).join(' ')}` },
    dependencies: { rollflex: rollflexFor(folder) },
    devDependencies: { '@types/node': '^20.0.0', 'fast-check': '^4.0.0', tsx: '^4.0.0', typescript: '^5.9.0' },
  };
}

const testsIn = (folder: string): string[] => readdirSync(folder).filter((one) => one.endsWith('.test.ts'));

/** Policies have the name of their folder: in an id, in a file, and in an identifier that nothing else has. */
function renamed(text: string, name: string): string {
  const kebab = name
    .replace(/[._]+/g, '-')
    .replace(/^(?=\d)/, 'p')
    .replace(/-+$/, '');
  const stem = kebab.replace(/-policy$/, '').replace(/-+(.)/g, (_, letter: string) => letter.toUpperCase());
  return text.replaceAll('longest-first', kebab).replaceAll('longestFirst', `${stem}Policy`);
}

/** Gives the files of a folder its name, in their names and in what they say. */
function rename(folder: string, name: string): void {
  for (const file of readdirSync(folder)) {
    const text = renamed(readFileSync(join(folder, file), 'utf8'), name);
    rmSync(join(folder, file));
    writeFileSync(join(folder, renamed(file, name)), text);
  }
}

/** The package that this command is of: from a checkout or an installed package by its path, as no registry has it yet. */
const rollflexFor = (folder: string): string =>
  existsSync(join(packageRoot(), 'dist')) ? `file:${relative(folder, packageRoot())}` : `^${packageVersion()}`;
