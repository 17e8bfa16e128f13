/** The other end of a connection, as the server sees it. */

/** Outgoing side of a connection, provided by its transport. */
export interface Link {
  /** Queues text, or drops it once the link is closed. */
  write(text: string): void;
  /** Queued bytes that the system has not taken yet. */
  readonly waiting: number;
  /** Settles when the queue is empty, or when the link is closed. */
  drained(): Promise<void>;
  /** Closes at once; queued text is lost. */
  destroy(): void;
}

/** A connection as its transport uses it. */
export interface Served {
  /** Takes bytes; settles when their lines are answered and the answers have room. Pass no more before. */
  receive(bytes: Uint8Array): Promise<void>;
  /** Ends the input: the received lines are answered, then all subscriptions end. */
  finish(): Promise<void>;
  /** Settles when the lines that were received are answered, and the answers are written to the link. */
  settled(): Promise<void>;
  /** Forgets the connection, whose link is gone. */
  close(): void;
}
