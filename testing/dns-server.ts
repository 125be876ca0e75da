import { createSocket } from "node:dgram";
import { once } from "node:events";
import packet from "dns-packet";

export interface DnsServer {
  /** As DNS_SERVERS takes it. */
  address: string;
  /** TXT records by name. Names that are not in it do not exist. */
  records: Map<string, string[]>;
  /** It answers that it failed. */
  fails: boolean;
  stop(): Promise<void>;
}

/** A name server on loopback with TXT records. */
export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    records: new Map(),
    fails: false,
    async stop() {
      socket.close();
      await once(socket, "close");
    },
  };
  socket.on("message", (bytes, { port, address }) => {
    const { id, questions = [] } = packet.decode(bytes);
    const name = questions[0]!.name;
    const texts = server.records.get(name);
    // The lowest four bits of the flags are the code: 2 failed, 3 no such name.
    const code = server.fails ? 2 : texts ? 0 : 3;
    const answers = (server.fails ? [] : (texts ?? [])).map((data) => ({ type: "TXT" as const, name, ttl: 0, data }));
    socket.send(packet.encode({ type: "response", id: id!, flags: packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | code, questions, answers }), port, address);
  });
  return server;
}
