import type { OpenConsole } from '#agent/site/console/open.ts';
import type { ConsoleOutput } from '#console/session.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';

export const node: SiteNode = {
  nodeId: 'node-1',
  macs: ['52:54:00:00:00:01'],
  bmc: { driver: 'redfish', address: 'https://192.0.2.1', credentialRef: 'secret://bmc' },
};

interface OpenedSession {
  output: ConsoleOutput;
  takeOver: boolean;
  typed: string;
  isClosed: boolean;
  end(why: string): void;
}

/** Sessions that a test prints on and breaks. `refuse` may fail the next opening; after `hang` none comes to an end before what it returns is called. */
export function fakeSessions() {
  const sessions: OpenedSession[] = [];
  const refusals: Error[] = [];
  const asked: SiteNode[] = [];
  let hangs: PromiseWithResolvers<void> | undefined;
  const open: OpenConsole = async (node, { output, takeOver = false }) => {
    asked.push(node);
    if (hangs !== undefined) await hangs.promise;
    const refusal = refusals.shift();
    if (refusal !== undefined) throw refusal;
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const session: OpenedSession = { output, takeOver, typed: '', isClosed: false, end };
    sessions.push(session);
    return {
      by: 'ssh',
      ended,
      write: (keys) => {
        session.typed += keys.toString();
      },
      close: async () => {
        session.isClosed = true;
        end('closed');
      },
    };
  };
  const hang = () => {
    hangs = Promise.withResolvers<void>();
    return hangs.resolve;
  };
  return { open, asked, sessions, hang, refuse: (error: Error) => void refusals.push(error) };
}
