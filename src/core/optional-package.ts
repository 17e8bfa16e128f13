/** Loads packages that few users need; these users install them. */
import { refuse } from '../errors.ts';

/**
 * Loads an optional package.
 *
 * @param name - name of the package in the registry
 * @param path - the setting that needs the package, for the error
 * @throws PolicyError `invalid_input`, with the command that installs it
 */
export async function optionalPackage<T>(name: string, path: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    // `ERR_MODULE_NOT_FOUND` of `import`, `MODULE_NOT_FOUND` of `require`.
    const isAbsent = /MODULE_NOT_FOUND$/.test(String((error as { code?: unknown }).code));
    const got = isAbsent ? undefined : (error as Error).message;
    refuse(
      'invalid_input',
      path,
      `the package ${name} beside the npm package rollflex (npm install ${name})`,
      got,
      error,
    );
  }
}
