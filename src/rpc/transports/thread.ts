/** Starts a thread of this package, from the built files or from the sources. */
// The default export is used, because built files begin with an import of `createRequire`.
import modules from 'node:module';
import { Worker } from 'node:worker_threads';

/**
 * Starts a thread. Built files have the thread's file beside them; TypeScript sources need a loader in each thread.
 *
 * @param source - URL of the TypeScript file of the thread
 * @param caller - `import.meta.url` of the caller
 * @param megabytes - limit on the memory of its objects; the limit of Node.js if absent
 */
export function startThread(source: string, caller: string, workerData: unknown, megabytes?: number): Worker {
  const options = {
    workerData,
    // A thread gets the options of its process, and the option for programs given as text (`node -e`) refuses a file.
    ...(process.execArgv.some((one) => one.startsWith('--input-type')) ? { execArgv: [] } : {}),
    ...(megabytes === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: megabytes } }),
  };
  if (!caller.endsWith('.ts')) {
    const name = source.slice(source.lastIndexOf('/') + 1, -'.ts'.length);
    return new Worker(new URL(`./${name}${caller.slice(caller.lastIndexOf('.'))}`, caller), options);
  }
  // `require` finds the CommonJS file, which has no loader; the ES module beside it has one.
  const tsx = modules
    .createRequire(caller)
    .resolve('tsx/esm/api')
    .replace(/\.cjs$/, '.mjs');
  const entry = new URL(source, caller).href;
  const begin = `import(${JSON.stringify(tsx)}).then(({ register }) => (register(), import(${JSON.stringify(entry)})))`;
  return new Worker(begin, { ...options, eval: true });
}
