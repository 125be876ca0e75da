/** Kafka's error codes that a Produce request meets (protocol guide, "Error codes"), with what to tell of them. */
const ERRORS = new Map<number, { name: string; again: boolean }>([
  [-1, { name: "the broker failed in a way that it does not name", again: true }],
  [2, { name: "the record was damaged on its way", again: true }],
  [3, { name: "the partition is not known to the broker", again: true }],
  [5, { name: "the partition has no leader just now", again: true }],
  [6, { name: "the partition's leader is another broker", again: true }],
  [7, { name: "the replicas did not confirm in time", again: true }],
  [8, { name: "the broker is not available", again: true }],
  [10, { name: "the record is larger than the topic takes (max.message.bytes)", again: false }],
  [13, { name: "the broker lost a connection of its own", again: true }],
  [17, { name: "the topic's name is not allowed", again: false }],
  [18, { name: "the request is larger than the broker takes", again: false }],
  [19, { name: "fewer replicas are in sync than min.insync.replicas asks for", again: true }],
  [20, { name: "fewer replicas are in sync than min.insync.replicas asks for", again: true }],
  [21, { name: "the broker does not take this kind of acknowledgement", again: false }],
  [29, { name: "writing to the topic is not allowed", again: false }],
  [31, { name: "writing to the cluster is not allowed", again: false }],
  [32, { name: "the record's time is too far from the broker's (set message.timestamp.type=LogAppendTime on the topic)", again: false }],
  [35, { name: "the broker does not speak this version of the request", again: false }],
  [42, { name: "the broker does not understand the request", again: false }],
  [43, { name: "the topic's message format is too old", again: false }],
  [44, { name: "a policy of the cluster forbids it", again: false }],
  [56, { name: "the broker's disk failed", again: true }],
  [76, { name: "the broker does not take this compression", again: false }],
  [87, { name: "the broker refused the record as invalid", again: false }],
  [89, { name: "the cluster's quota is used up", again: true }],
]);

/** A Produce request that failed. `again`: the same may work in a moment, with this leader or another. */
export class ProduceFault extends Error {
  readonly again: boolean;

  constructor(reason: string, again: boolean) {
    super(reason);
    this.name = "ProduceFault";
    this.again = again;
  }
}

export function faultOfCode(code: number): ProduceFault {
  const { name, again } = ERRORS.get(code) ?? { name: `Kafka answered with error ${code}`, again: false };
  return new ProduceFault(name, again);
}
