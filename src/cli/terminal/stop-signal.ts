/** How servers of the command line end. */

/** Resolves at the first signal to stop; a second signal ends the process as usual. */
export function stopSignal(): Promise<void> {
  return new Promise((done) => {
    process.once('SIGINT', () => done());
    process.once('SIGTERM', () => done());
  });
}
