/** Lines of JSON: a test file as it begins, and what became of it as soon as it is done. */
import { appendFileSync } from 'node:fs';

const write = (what) => appendFileSync(process.env.ROLLFLEX_MUTANTS_RESULTS, `${JSON.stringify(what)}\n`);

export default class {
  onTestModuleStart({ relativeModuleId: file }) {
    write({ file });
  }
  onTestModuleEnd(module) {
    const failed = [...module.children.allTests('failed')];
    const suites = [module, ...module.children.allSuites()];
    const errors = [...failed.flatMap((one) => one.result().errors ?? []), ...suites.flatMap((one) => one.errors())];
    write({
      file: module.relativeModuleId,
      ok: module.ok(),
      tests: [...module.children.allTests('passed')].length + failed.length,
      failed: failed.map(({ fullName }) => fullName),
      error: String(errors[0]?.message ?? '').slice(0, 300),
      ms: Math.round(module.diagnostic().duration),
    });
  }
}
