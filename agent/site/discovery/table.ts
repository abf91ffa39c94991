import type { Sqlite } from '#base/sqlite.ts';
import type { SeenMachine } from '#contract/seenMachine.ts';

/** The machines seen, as they are kept across restarts. */
export function seenTable(database: Sqlite) {
  const all = database.prepare<[], { document: string }>(
    'SELECT document FROM seen_machines ORDER BY last_seen, machine_id',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO seen_machines (machine_id, last_seen, document) VALUES (?, ?, ?)',
  );
  const remove = database.prepare('DELETE FROM seen_machines WHERE machine_id = ?');
  return {
    /** The last seen last. */
    all: (): SeenMachine[] => all.all().map(({ document }) => JSON.parse(document)),
    /** In one transaction: of each id what `find` has now, or nothing more. */
    write: database.transaction((ids: readonly string[], find: (id: string) => SeenMachine | undefined) => {
      for (const id of ids) {
        const machine = find(id);
        if (machine === undefined) remove.run(id);
        else put.run(id, machine.lastSeen, JSON.stringify(machine));
      }
    }),
  };
}
