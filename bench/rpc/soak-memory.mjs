/** Loaded into the server under load (`node --import`): says what memory is in use, garbage left out, when it is asked. */
process.on('message', () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, external });
});
// It is no reason to go on.
process.channel?.unref();
