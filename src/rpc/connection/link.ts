/** Interfaces between a connection and its transport. */

/** Outgoing side of a connection; the transport implements it. */
export interface Link {
  /** Queues text, or drops it once the link is closed. */
  write(text: string): void;
  /** Queued bytes that the system has not taken yet. */
  readonly waiting: number;
  /** Resolves when the queue is empty, or when the link is closed. */
  drained(): Promise<void>;
  /** Closes at once; queued text is lost. */
  destroy(): void;
}

/** The interface of a connection to its transport. */
export interface Served {
  /** Takes bytes. Resolves when their lines are answered and there is room for more answers; pass no bytes before that. */
  receive(bytes: Uint8Array): Promise<void>;
  /** Ends the input: the received lines are answered, and then all subscriptions end. */
  finish(): Promise<void>;
  /** Resolves when the received lines are answered, and the answers are written to the link. */
  settled(): Promise<void>;
  /** Removes the connection, because its link is closed. */
  close(): void;
}
