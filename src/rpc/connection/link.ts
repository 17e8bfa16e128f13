/** Interfaces between a connection and its transport. */

/** The outgoing side of a connection, implemented by the transport. */
export interface Link {
  /** Queues text; drops it if the link is closed. */
  write(text: string): void;
  /** Queued bytes that the system has not taken yet. */
  readonly waiting: number;
  /** Resolves when the queue is empty, or when the link is closed. */
  drained(): Promise<void>;
  /** Closes at once; queued text is lost. */
  destroy(): void;
}

/** A connection from the point of view of its transport. */
export interface Served {
  /** Takes bytes. Resolves when their lines are answered and there is room for more answers; pass no bytes before that. */
  receive(bytes: Uint8Array): Promise<void>;
  /** Ends the input: the received lines are answered, and then all subscriptions end. */
  finish(): Promise<void>;
  /** Resolves when the received lines are answered, and the answers are written to the link. */
  settled(): Promise<void>;
  /** Removes the connection because its link is closed. */
  close(): void;
}
