import { systemClock } from '#base/clock.ts';
import { noteAgent } from '../siteCaches/inventory.ts';
import { now, type Queries, type Store } from '../store/store.ts';
import { type AgentIdentity, identityUri } from './identity.ts';
import { noteObserved } from './nodeSpec.ts';

/** Writes down when an agent was heard and how far it is. */
export interface Contacts {
  /** Resolves once it is in the books. */
  note(agent: AgentIdentity, observedGeneration: number): Promise<void>;
}

interface Contact {
  agent: AgentIdentity;
  observed: number;
}

/** For so long, in milliseconds, contacts are gathered into one transaction. */
const gatherMs = 10;

/**
 * Contacts that come together are one transaction: with ten thousand agents that poll, a commit for each would be more than most
 * disks can do.
 */
export function gatherContacts(store: Store): Contacts {
  const gathered = new Map<string, Contact>();
  let written: Promise<void> | undefined;

  async function write(): Promise<void> {
    await systemClock.sleep(gatherMs);
    written = undefined;
    const contacts = inOrder(gathered);
    gathered.clear();
    await store.transaction().execute(async (queries) => {
      for (const contact of contacts) await writeContact(queries, contact);
    });
  }

  return {
    note: (agent, observed) => {
      gathered.set(identityUri(agent), { agent, observed });
      written ??= write();
      return written;
    },
  };
}

/** By identity, so that two centres that write the same rows wait for each other only. */
function inOrder(contacts: ReadonlyMap<string, Contact>): Contact[] {
  return [...contacts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, contact]) => contact);
}

async function writeContact(queries: Queries, { agent, observed }: Contact): Promise<void> {
  await noteObserved(queries, agent, observed);
  if (agent.role === 'node') return;
  await queries.updateTable('sites').set({ seen_at: now() }).where('site_id', '=', agent.id).execute();
  await noteAgent(queries, { agentId: agent.id, siteId: agent.id });
}
