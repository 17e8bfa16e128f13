/** The other end of a connection, as the server sees it. */

/** Outgoing side of a connection, provided by its transport. */
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

/** A connection as its transport uses it. */
export interface Served {
  /** Takes bytes; settles when their lines are answered and the answers have room. Give no more before. */
  receive(bytes: Uint8Array): Promise<void>;
  /** The input has ended: what came is answered, and then nothing is subscribed any more. */
  finish(): Promise<void>;
  /** Settles when the lines that were received are answered, and the answers are written to the link. */
  settled(): Promise<void>;
  /** The link is gone. */
  close(): void;
}
