/** What the receiver takes, and how long it waits. */
export const receiverLimits = {
  headersMs: 10_000,
  wholeMs: 30_000,
  bodyBytes: 1024 * 1024,
  // The service gives a receiver 10 seconds (service.md#delivery-1) and counts more as a failed connection.
  stallMs: 12_000,
  /** The most bytes of all bodies that are being received or held: a flood must not use up the machine's memory. */
  heldBytes: 128 * 1024 * 1024,
};

export type Limits = Readonly<typeof receiverLimits>;
