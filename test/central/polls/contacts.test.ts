import { expect, onTestFinished, test } from 'vitest';
import { gatherContacts } from '#central/agents/contacts.ts';
import { findSpec } from '#central/agents/nodeSpec.ts';
import { onHost } from '#central/host.ts';
import { createSite } from '#central/sites.ts';
import type { Store } from '#central/store/store.ts';
import { startTestCentre } from '../centre.ts';

/** Counts the transactions that begin. */
function counted(store: Store): { store: Store; begun: () => number } {
  let begun = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      if (name === 'transaction') begun++;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store: counting, begun: () => begun };
}

test('contacts that come together are one transaction, and in the books when each is told to be', async () => {
  const centre = await startTestCentre();
  onTestFinished(() => centre.close());
  await onHost(centre.directory, async ({ store }) => {
    const rows = await Promise.all(
      Array.from({ length: 20 }, (_, number) => createSite(store, `site-${number}`)),
    );
    const { store: counting, begun } = counted(store);
    const contacts = gatherContacts(counting);
    const agents = rows.map(({ site_id: id }) => ({ role: 'site', id }) as const);
    await Promise.all(agents.map((agent, number) => contacts.note(agent, number)));
    expect(begun()).toBe(1);
    for (const [number, agent] of agents.entries())
      expect(await findSpec(store, agent)).toMatchObject({ observed_generation: number });
    const unseen = store.selectFrom('sites').select('site_id').where('seen_at', 'is', null);
    expect(await unseen.execute()).toEqual([]);
    await contacts.note({ role: 'site', id: agents[0]?.id ?? '' }, 99);
    expect(begun()).toBe(2);
    expect(await findSpec(store, agents[0] as never)).toMatchObject({ observed_generation: 99 });
  });
});
