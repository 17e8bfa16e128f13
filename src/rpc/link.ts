/** The other end of a connection, as the server sees it. */

/** What a transport gives for each connection. */
export interface Link {
  /** Queues text; what cannot be written any more is dropped. */
  write(text: string): void;
  /** Bytes that were queued and not taken over by the system. */
  readonly waiting: number;
  /** Settles when nothing waits any more, or when the link is closed. */
  drained(): Promise<void>;
  /** Closes at once; what waits is lost. */
  destroy(): void;
}
